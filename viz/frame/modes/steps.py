"""The steps that a presentation goes through, where a mode such as a lesson says them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from viz.text import Translate


@dataclass(frozen=True, kw_only=True)
class Place:
    """One step of a presentation.

    Args:
        at: which it is, from 1.
        of: how many there are.
        title: what it is called.
        note: what the teacher should know.
        minutes: how long it takes; 0 if nobody says.
        previous: the link to the step before; "" if there is none.
        next: to the step after.
        next_page: the page it is on.
        following: what that is called.
        asks: whether a question is open: then the next key answers it.
        why: a model answer to "say why", once the question is over.
        lesson: whether it is a step of a lesson.
    """

    at: int
    of: int
    title: str
    note: str
    minutes: float
    previous: str
    next: str
    next_page: str
    following: str
    asks: bool
    why: str = ""
    lesson: bool = False


@dataclass(frozen=True, kw_only=True)
class Walk:
    """The position in a mode with steps of its own.

    Args:
        place: the step.
        shown_next: parameters that the next step's link leaves to the mode.
        closing: what the last slide says; see :func:`viz.modes.present.presenter.closing_slide`.
        reveal: answers the open question, in a callback.
    """

    place: Place
    shown_next: Mapping[str, str]
    closing: Callable[[], Mapping[str, Any]]
    reveal: Callable[[], None]


def title_of(t: Translate, page: str, section: str) -> str:
    """Return a section's title, with its page."""
    title = t(f"{page}.title")
    return t("present.place", page=title, section=t(f"{page}.{section}.title")) if section else title
