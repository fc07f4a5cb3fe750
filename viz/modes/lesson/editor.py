"""The editor of one's own lesson. It stands in the browser, and so does the lesson."""

from typing import Any
from urllib.parse import urlencode

from viz import limits
from viz.components.view import View
from viz.frame.sidebar import path_of
from viz.lessons.custom_lesson import checked, unpacked
from viz.modes.lesson.own import of_link
from viz.modes.lesson.parameters import LESSON_STEP, OWN_LESSON

VIEW = View("lesson/my_lesson", words="my_lesson.")
LONGEST = {
    "title": limits.OWN_LESSON_TITLE,
    "question": limits.OWN_LESSON_QUESTION,
    "link": limits.OWN_LESSON_LINK,
}


def editor(lang: str) -> None:
    """Draw it, with the lesson of the link beside it, if there is one."""
    VIEW.mount(key="my_lesson", data={"lang": lang, "longest": LONGEST, "given": _lesson_of_link(lang)})


def _lesson_of_link(lang: str) -> dict[str, Any] | None:
    """The lesson of the link: to begin it, and to take it over."""
    if not OWN_LESSON.is_known or (lesson_and_link := of_link()) is None:
        return None
    lesson, opens = lesson_and_link
    start = f"{path_of(lesson.steps[0].page)}?{urlencode({**opens, LESSON_STEP.name: 1, 'lang': lang})}"
    return {"title": lesson.title[lang], "start": start, "lesson": checked(unpacked(opens[OWN_LESSON.name]))}
