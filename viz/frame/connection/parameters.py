"""What a session knows of its parameters beside their values: what the link asked for, and what a run declares."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

_NAME = "_parameters"

PAGE = "page"
"""The fragment that holds all others."""


@dataclass(slots=True)
class Parameters:
    """One entry of the session's state for all of it: a run declares twenty parameters, and asks again and again."""

    link: dict[str, str] = field(default_factory=dict)
    """What the link asks for, by name, of parameters that have not been declared since."""
    believed: set[str] | None = None
    """What the link that Back or Forward led to was asked for already; None: there was no such link."""
    refused: list[str] = field(default_factory=list)
    """Names in the link whose values were not allowed."""
    usual: dict[str, Any] = field(default_factory=dict)
    """Defaults that nobody chose, by name."""
    longest: dict[str, int] = field(default_factory=dict)
    """How many characters of a text the link carries at most."""
    set_values: dict[str, list[Any]] = field(default_factory=dict)
    """Values that the browser may still hold, the one that it was sent last at the end; by the parameter's name."""
    declared: dict[str, Any] = field(default_factory=dict)
    """Defaults of what this run has declared, by name."""
    part: tuple[str, ...] = ()
    """The fragment that is being drawn, by its name behind those of the fragments around it."""
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The fragment that declared a parameter first, by the parameter's name."""
    drawn_with: dict[str, Any] = field(default_factory=dict)
    """The values that the screen was drawn with, by the parameter's name."""
    kept: Sequence[str] = ()
    """What this run has no control of, and its link holds."""
    preset: Mapping[str, str] = field(default_factory=dict)
    """The defaults of this run, as a link says them."""
    always: frozenset[str] = frozenset()
    """What the link names even where it is at its default."""
    path: str = ""
    """The address of the open page, below the app's own."""
    page: str | None = None
    """The address of the page whose run came to its end last."""
    history_note: str = ""
    """The browser's note of the last Back or Forward."""
    is_back: bool = False
    """True in a run that Back or Forward asked for."""
    written: dict[str, str] | None = None
    """The link that was last written into the address bar."""

    def declare(self, name: str, default: Any) -> None:
        """Note a parameter's default, and the fragment that it belongs to."""
        self.declared[name] = default
        self.owners.setdefault(name, self.part)

    def omit(self, names: Iterable[str]) -> None:
        """Leave parameters that this run has declared out of its link."""
        for name in names:
            self.declared.pop(name, None)

    def declared_in(self, part: tuple[str, ...]) -> list[str]:
        """Return the parameters of a fragment and of those in it."""
        return [name for name, owner in self.owners.items() if owner[: len(part)] == part]

    def note_drawn(self, names: Iterable[str]) -> None:
        """Note the values that the screen was drawn with."""
        self.drawn_with |= {name: st.session_state[name] for name in names if name in st.session_state}

    def is_out_of_date(self, part: tuple[str, ...]) -> bool:
        """Return whether what stands around a fragment was drawn with other values than there are now."""
        state, around = st.session_state, self.drawn_with.keys() - self.declared_in(part)
        return any(name not in state or state[name] != self.drawn_with[name] for name in around)

    def note_history(self, note: str, *, is_first: bool) -> None:
        """Note whether the browser asks for this run because of Back or Forward: each has a note of its own."""
        self.is_back = not is_first and note not in ("", self.history_note)
        self.history_note = note or self.history_note

    def is_of_before(self, name: str) -> bool:
        """Whether a value is of before Back or Forward, which led to a link that has not been asked for it."""
        return self.believed is not None and name not in self.believed


def exist() -> bool:
    """Whether this session has had a run."""
    return _NAME in st.session_state


def make() -> None:
    """For a session's first run."""
    st.session_state[_NAME] = Parameters()


def of_session() -> Parameters:
    """The session's own."""
    found: Parameters = st.session_state[_NAME]
    return found


def begin_page() -> None:
    """Start to draw the page: nothing is preset, kept or always named until the page says so."""
    known = of_session()
    known.preset, known.kept, known.always = {}, (), frozenset()


def redraw_page() -> None:
    """In a callback: have the page drawn again, and not a section alone."""
    st.rerun(PAGE)
