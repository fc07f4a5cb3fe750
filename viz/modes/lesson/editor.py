"""The editor of one's own lesson. It stands in the browser, and so does the lesson; the server reads files for it.

A file is read in its turn, like every computation: never in a callback, which runs before any queue.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from viz import limits
from viz.components.kinds import Text
from viz.components.view import View
from viz.errors import ModelError
from viz.frame.queue_notice import aside, stores, until
from viz.frame.sidebar import path_of
from viz.lessons.custom_lesson import checked, lesson_of, read_toml, unpacked
from viz.lessons.lesson import OwnLessonError
from viz.modes.lesson.own import of_link, said_of, with_places
from viz.modes.lesson.parameters import LESSON_STEP, OWN_LESSON
from viz.params.memory import Remembered
from viz.text import Translate

EDITOR = "my_lesson"
_HAS_FILE: Remembered[bool] = Remembered("_my_lesson_sent", default=False)
VIEW = View("lesson/my_lesson", words="my_lesson.", sends={"file": Text(limits.MESSAGE_STATES)})
LONGEST = {
    "title": limits.OWN_LESSON_TITLE,
    "question": limits.OWN_LESSON_QUESTION,
    "link": limits.OWN_LESSON_LINK,
    "file": limits.OWN_LESSON_BYTES,
}


def editor(t: Translate, lang: str) -> None:
    """Draw it, with the lesson of the link beside it, if there is one."""
    data = {
        "lang": lang,
        "longest": LONGEST,
        "given": _lesson_of_link(lang),
        "loaded": _answer(t, lang),
    }
    VIEW.mount(key=EDITOR, data=data, on={"file": _note})


def _lesson_of_link(lang: str) -> dict[str, Any] | None:
    """The lesson of the link: to begin it, and to take it over."""
    if not OWN_LESSON.is_known or (lesson_and_link := of_link()) is None:
        return None
    lesson, opens = lesson_and_link
    start = f"{path_of(lesson.steps[0].page)}?{urlencode({**opens, LESSON_STEP.name: 1, 'lang': lang})}"
    table = _in_language(checked(unpacked(opens[OWN_LESSON.name])), lang)
    return {"title": lesson.title[lang], "start": start, "lesson": table}


def _note(_: str) -> None:
    """Note that a file was sent; the run that follows reads it."""
    _HAS_FILE.set(True)


def _answer(t: Translate, lang: str) -> dict[str, Any] | None:
    """Read the file that was sent, if there is a new one; nothing of it is kept.

    The note that it was sent goes last: a run that ends while it waits for its turn leaves the file to the next one.
    """
    if not _HAS_FILE.read():
        return None
    file = VIEW.last(EDITOR, "file")
    if file is None:
        return None
    answer: dict[str, Any] = {"n": file.sent, "lesson": None, "problem": ""}
    try:
        with aside(), stores().turns.turn("sentence", until):
            answer["lesson"] = _read(file.value, lang)
    except OwnLessonError as error:
        answer["problem"] = said_of(t, error)
    except ModelError as error:  # the server is busy
        answer["problem"] = t(f"error.{error.code}", **error.values)
    _HAS_FILE.forget()
    return answer


def _read(text: str, lang: str) -> dict[str, Any]:
    table = read_toml(text)
    with_places(lesson_of(table, ""))
    return _in_language(table, lang)


def _in_language(table: Mapping[str, Any], lang: str) -> dict[str, Any]:
    """A lesson's table with its texts in one language: that is what one person edits."""

    def text(texts: str | Mapping[str, str]) -> str:
        return texts if isinstance(texts, str) else texts[lang]

    steps = [
        step | {"title": text(step["title"]), "ask": {"question": text(step["ask"]["question"])}}
        for step in table["step"]
    ]
    return {"title": text(table["title"]), "step": steps}
