"""The steps that a presentation goes through, where a mode such as a lesson says them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from viz.text import Translate


@dataclass(frozen=True, kw_only=True)
class Place:
    """One step of a presentation: which it is of how many, from 1, and the links around it, "" where there is none.

    ``following`` is what the next step is called. Where a question ``asks``, the next key answers it; ``why`` is a
    model answer to "say why", once it is over. ``minutes`` are 0 if nobody says.
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

    ``shown_next`` are parameters that the next step's link leaves to the mode, ``closing`` gives the last slide
    (:func:`viz.modes.present.presenter.closing_slide`), and ``reveal``, a callback, answers the open question.
    """

    place: Place
    shown_next: Mapping[str, str]
    closing: Callable[[], Mapping[str, Any]]
    reveal: Callable[[], None]


def title_of(t: Translate, page: str, section: str) -> str:
    """Return a section's title, with its page."""
    title = t(f"{page}.title")
    return t("present.place", page=title, section=t(f"{page}.{section}.title")) if section else title
