"""What a session knows of its parameters beside their values: what its link asks for, and what its run declares."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

_NAME: Final = "_parameters"
_REMEMBERED: Final = 4
"""Values of a parameter that the browser may still hold."""

PAGE: Final = "page"
"""The fragment that holds all others."""


@dataclass(slots=True)
class Parameters:
    """One entry of the session's state for all of it; a dict's keys are names of parameters."""

    link: dict[str, str] = field(default_factory=dict)  # what it asks for of parameters not declared since
    believed: set[str] | None = None  # of a link that Back or Forward led to: what it was asked for already
    refused: list[str] = field(default_factory=list)  # of the link, where its values were not allowed
    usual: dict[str, Any] = field(default_factory=dict)  # defaults that nobody chose
    longest: dict[str, int] = field(default_factory=dict)  # characters of a text that the link carries at most
    set_values: dict[str, list[Any]] = field(
        default_factory=dict
    )  # that the browser may still hold, the last sent last
    scopes: dict[str, Any] = field(default_factory=dict)  # the owner of a value, or the words that it counts
    elsewhere: dict[str, dict[Hashable, Any]] = field(default_factory=dict)  # what was chosen for other owners
    ranges: dict[str, Hashable] = field(default_factory=dict)  # the range, or the labels, a control was sent with
    declared: dict[str, Any] = field(default_factory=dict)  # defaults of what this run has declared
    part: tuple[str, ...] = ()  # the fragment that is being drawn, behind the names of those around it
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the fragment that declared a parameter first
    drawn_with: dict[str, Any] = field(default_factory=dict)  # the values that the screen was drawn with
    kept: Sequence[str] = ()  # what this run has no control of, and its link holds
    preset: Mapping[str, str] = field(default_factory=dict)  # the defaults of this run, as a link says them
    always: frozenset[str] = frozenset()  # what the link names even where it is at its default
    path: str = ""  # the address of the open page, below the app's own
    page: str | None = None  # the address of the page whose run came to its end last
    history_note: str = ""  # the browser's, of the last Back or Forward
    is_back: bool = False  # in a run that Back or Forward asked for
    written: dict[str, str] | None = None  # the link that was last written into the address bar

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
        """Return whether a value is older than the last Back or Forward, whose link was not asked for it yet."""
        return self.believed is not None and name not in self.believed

    def is_chosen(self, name: str) -> bool:
        """Return whether a parameter has another value than the default that was put there for want of a choice."""
        state = st.session_state
        return name in state and not (name in self.usual and state[name] == self.usual[name])

    def is_known(self, name: str) -> bool:
        """Return whether a parameter has a value already, or the link gives it one, or it is preset."""
        has_value = name in st.session_state and not self.is_of_before(name)
        return has_value or name in self.link or name in self.preset

    @property
    def is_moved(self) -> bool:
        """Whether this is the first run of a page, or none before it came to its end."""
        return self.page != self.path

    def send(self, name: str, value: Any) -> None:
        """Set a parameter, and remember what the browser may still hold."""
        earlier = self.set_values.setdefault(name, [])
        if name in st.session_state:
            earlier.append(st.session_state[name])
        earlier.append(value)
        del earlier[:-_REMEMBERED]
        st.session_state[name] = value

    def has_crossed(self, name: str) -> bool:
        """Return whether the browser has sent an earlier value than the one that it is sent; asked once in a run.

        The page is then drawn with the browser's value, and the control shows the server's as soon as that has come.
        So the value that the page was drawn with is sent once more. Otherwise it is not: it would replace what is
        being typed. Once the browser has sent the last value, or a new one, it no longer holds those before.
        """
        value = st.session_state[name]
        if not (values := self.set_values.get(name)) or value == values[-1]:
            return False
        if value in values:
            return True
        del self.set_values[name]
        return False


def exist() -> bool:
    """Return whether this session has had a run."""
    return _NAME in st.session_state


def make() -> None:
    """Begin a session, in its first run."""
    st.session_state[_NAME] = Parameters()


def of_session() -> Parameters:
    """Return this session's."""
    found: Parameters = st.session_state[_NAME]
    return found


def begin_page() -> None:
    """Start to draw the page: nothing is preset, kept or always named until the page says so."""
    known = of_session()
    known.preset, known.kept, known.always = {}, (), frozenset()


def redraw_page() -> None:
    """In a callback: have the page drawn again, and not a section alone."""
    st.rerun(PAGE)
