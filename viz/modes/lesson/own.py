"""A teacher's own lesson from a link, and the current view as one of its steps.

The browser keeps it (``client/lesson/store.js``); the server reads it from a link and stores nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from viz.frame import modes
from viz.frame.shared import LANG, SECTION
from viz.lessons.custom_lesson import own_lesson
from viz.lessons.lesson import Lesson, OwnLessonError
from viz.modes.lesson.parameters import LESSON, LESSON_STEP, OWN_LESSON
from viz.params.link import link
from viz.params.memory import Remembered
from viz.params.session import of_session
from viz.text import Translate, has_text, translator

LIST, MINE = "lessons", "mine"
"""The page that lists the lessons, and its section in which one's own is made."""

_ERROR: Remembered[OwnLessonError | None] = Remembered("_own_lesson_error", default=None)
_STEPS = tuple(parameter.name for parameter in (LESSON, LESSON_STEP, OWN_LESSON, SECTION, LANG))
"""Parameters of a link that are not part of a step."""


def of_link() -> tuple[Lesson, Mapping[str, str]] | None:
    """Return the teacher's lesson in the link, and the link's parameter for it; None if there is no valid one."""
    _ERROR.forget()
    code = OWN_LESSON.variant(parse=_code).read()
    if not code:
        return None
    lesson = with_places(own_lesson(code))
    titles = {language: title or translator(language)("lesson.own_title") for language, title in lesson.title.items()}
    return replace(lesson, title=titles), {OWN_LESSON.name: code}


def _code(raw: str) -> str:
    try:
        with_places(own_lesson(raw))
    except OwnLessonError as error:
        _ERROR.set(error)
        raise ValueError(raw) from None
    return raw


def with_places(lesson: Lesson) -> Lesson:
    """Return the lesson, if every step is on a page and in a section that there is.

    Raises:
        OwnLessonError: if one is not.
    """
    for number, step in enumerate(lesson.steps, 1):
        if step.page == LIST or not has_text(f"{step.page}.{step.section}.title"):
            raise OwnLessonError("place", step=number)
    return lesson


def refusal(t: Translate) -> str:
    """Return the sentence why the lesson of the link is invalid; "" if it is valid or there is none."""
    error = _ERROR.read()
    return said_of(t, error) if error else ""


def said_of(t: Translate, error: OwnLessonError) -> str:
    """Return an error of a lesson as a sentence."""
    where = {"where": t("lesson.own_step", n=number) if (number := error.values.get("step")) else t("lesson.own_whole")}
    return t(f"lesson.own_{error.code}", **error.values, **where)


def step_of_view(t: Translate, page: str, section: str) -> dict[str, Any]:
    """Return the current view as a step of a teacher's lesson, with the presets of an open step."""
    apart = (*_STEPS, *modes.parameters())
    parameters = {name: value for name, value in {**of_session().preset, **link()}.items() if name not in apart}
    step = {"page": page, "section": section, "parameters": parameters, "covers": False}
    return step | {"title": t(f"{page}.{section}.title"), "ask": {"question": ""}}
