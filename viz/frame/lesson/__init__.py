"""A lesson over the pages: its bar below the title, and what it keeps covered until a question is answered.

Without a lesson in the link nothing of it is imported, computed or sent.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from viz.frame import view
from viz.frame.lesson.parameters import LESSON, LESSON_STEP, OWN
from viz.params.memory import Remembered

if TYPE_CHECKING:
    from viz.frame.header.section import Section
    from viz.frame.lesson.running import Running
    from viz.frame.scene import Scene
    from viz.text import Translate

_ON: "Remembered[Running | None]" = Remembered("_lesson_on", default=None)


def begin(page: str) -> None:
    """Open the lesson of the link, if there is one: before anything of the page declares a parameter."""
    _ON.set(None)
    for parameter in (LESSON, OWN, LESSON_STEP):
        if not parameter.is_known:  # a link without it, after Back or Forward, ends the lesson
            parameter.forget()
    if LESSON.is_known or OWN.is_known:
        from viz.frame.lesson.running import open_lesson

        _ON.set(open_lesson(page))


def current() -> "Running | None":
    """The lesson that is on, at its step."""
    return _ON.read()


def keep_place() -> bool:
    """Keep a place for the bar, here, if a lesson is on; say whether the page is the one of its step."""
    if lesson := current():
        lesson.keep_place()
        return lesson.page == lesson.step.page
    return False


def asks_question() -> bool:
    """Return whether the step of the lesson that is on has a question."""
    lesson = current()
    return lesson is not None and any(lesson.step.ask.question.values())


def is_asking() -> bool:
    """Whether the bar says what to look at in the section that is open."""
    lesson = current()
    return lesson is not None and lesson.is_drawn


def ask(scene: "Scene", opened: "Sequence[Section]", context: Any) -> bool:
    """Ask what the step asks, if this is what it shows; say whether the sections are covered until it is answered."""
    lesson = current()
    if lesson is None or not lesson.is_here([section.name for section in opened]):
        return False
    from viz.frame.lesson.asked import ask_here

    return ask_here(lesson, scene, opened, context)


@contextmanager
def covered() -> Iterator[None]:
    """Around what a section draws: what the open question asks is covered there."""
    lesson = current()
    if lesson is None or lesson.cover is None:
        yield
        return
    from viz.frame.lesson.covers import covered as cover_parts

    with cover_parts(lesson.cover):
        yield


def hides_footer() -> bool:
    """Whether formula, checks, code and downloads are left out: a question is open, or nobody explores."""
    lesson = current()
    return lesson is not None and not view.current().is_paper and (lesson.asks or not lesson.explores)


def print_whole(t: "Translate") -> bool:
    """Draw the lesson that is on as sheets of paper, if that is asked for; each is a page in a frame of its own."""
    lesson, looked_at = current(), view.current()
    if lesson is None or not looked_at.is_paper or looked_at.embed:
        return False
    from viz.frame.lesson.sheet import sheets

    sheets(t, lesson)
    return True


def refusal(t: "Translate") -> str:
    """Why a teacher's own lesson in the link cannot be had, in a sentence; "" where there is none, or it can."""
    if not OWN.is_known:
        return ""
    from viz.frame.lesson.own import refusal as of_link

    return of_link(t)


def cover() -> None:
    """What stands in the place of a section that is covered."""
    if lesson := current():
        from viz.frame.lesson.bar import covered as draw_covered

        draw_covered(lesson.t, lesson.t(f"{lesson.page}.{lesson.step.section}.title"))


def end() -> None:
    """Where the step's question was not asked in this run, the bar says how to go on."""
    if (lesson := current()) and not lesson.is_drawn:
        from viz.frame.lesson.bar import elsewhere

        elsewhere(lesson)
