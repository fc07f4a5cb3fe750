"""The session's record of its parameters: the link, the defaults in use, the declarations of the run, and its end."""

from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st

from viz.params.memory import VALUES, Remembered

PAGE: Final = "page"
"""The name of the outermost fragment."""
SCENE: Final = "scene"
"""The name of the fragment inside it that depends on the text."""


@dataclass(slots=True)
class Fragments:
    """The fragments of a page by the parameters that they declare, the path of the present one, and values drawn."""

    part: tuple[str, ...] = ()
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    drawn_values: dict[str, Any] = field(default_factory=dict)

    def declared_inside(self, part: tuple[str, ...]) -> list[str]:
        """Return the parameters of a fragment and of its inner fragments."""
        return [name for name, owner in self.owners.items() if owner[: len(part)] == part]

    def note_drawn(self, part: tuple[str, ...]) -> None:
        """Record the values that a fragment was drawn with."""
        values = VALUES.get() or st.session_state
        self.drawn_values |= {name: values[name] for name in self.declared_inside(part) if name in values}

    def outermost_changed(self, part: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return the outermost fragment that has a parameter outside ``part`` that has changed since the last draw."""
        values, around = VALUES.get() or st.session_state, self.drawn_values.keys() - self.declared_inside(part)
        names = (name for name in around if name not in values or values[name] != self.drawn_values[name])
        return min((self.owners.get(name, ()) for name in names), key=len, default=None)


@dataclass(slots=True)
class Parameters:
    """The one entry of the session state for all of this; the keys of its dicts are names of parameters.

    States of a value, and what leads from one to the next::

        in the link -- read, valid --> chosen <-- choose, or the user -- default
             |                         |    |                               ^  |
             |                         |    +-- forget, or set to it -------+  |
             |                         +-- another owner --> elsewhere         +-- the data change --> new default
             +-- read, invalid --> refused, and at its default

    After Back or Forward every value is in the link again, until it is read (``believed``); what the browser sends
    meanwhile of the time before (``overruled``) is replaced.

    Args:
        link: values of parameters not declared yet.
        is_back: True in a run that Back or Forward started, and in the next one if that was interrupted.
        believed: names already read from its link then.
        overruled: values that the last Back or Forward has replaced.
        replacements: values that it has put in their place, if any.
        refused: names whose values in the link were invalid.
        current_defaults: defaults that are the current value.
        longest: maximal characters of a text in the link.
        set_values: values that the browser may still send.
        last_set: the newest of these.
        scopes: the owner of a value, or the words of a TokenIndex.
        elsewhere: chosen values of inactive owners.
        ranges: the range or the labels that a widget was sent with.
        declared: defaults of the parameters declared in this run.
        kept: names without a widget in this run, but in its link.
        preset: defaults of this run, set before the parameters are declared.
        always: names in the link even at their defaults.
        path: the address of the open page, below the app's own.
        page: the address of the page of the last complete run.
        is_new_page: True until a run of this page is complete.
        history_note: of the last Back or Forward.
        written: the link that was last written into the address bar.
        fragments: the fragments of the page.
    """

    link: dict[str, str] = field(default_factory=dict)
    is_back: bool = False
    believed: set[str] = field(default_factory=set)
    overruled: dict[str, Any] = field(default_factory=dict)
    replacements: dict[str, Any] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    current_defaults: dict[str, Any] = field(default_factory=dict)
    longest: dict[str, int] = field(default_factory=dict)
    set_values: dict[str, list[Any]] = field(default_factory=dict)
    last_set: dict[str, Any] = field(default_factory=dict)
    scopes: dict[str, Any] = field(default_factory=dict)
    elsewhere: dict[str, dict[Hashable, Any]] = field(default_factory=dict)
    ranges: dict[str, Hashable] = field(default_factory=dict)
    declared: dict[str, Any] = field(default_factory=dict)
    kept: dict[str, None] = field(default_factory=dict)
    preset: Mapping[str, str] = field(default_factory=dict)
    always: frozenset[str] = frozenset()
    path: str = ""
    page: str | None = None
    is_new_page: bool = True
    history_note: str = ""
    written: dict[str, str] | None = None
    fragments: Fragments = field(default_factory=Fragments)

    def is_chosen(self, name: str, value: Any) -> bool:
        """Return True if a parameter's value is not the default that was set last."""
        return name not in self.current_defaults or value != self.current_defaults[name]

    def is_stale(self, name: str, value: Any) -> bool:
        """Return True if a value that is not the server's last one is an older one. Call it once in a run.

        The page is then drawn with the browser's value while the widget is about to show the server's, so the value of
        the page has to be sent again. In all other cases it must not be: it would overwrite what is being typed. Older
        values are dropped once the browser has sent the last one, or a new one.
        """
        if value in self.set_values[name]:
            return True
        del self.set_values[name], self.last_set[name]
        return False

    def open_page(self, path: str) -> None:
        """Note the address of the page that this run draws."""
        self.path, self.is_new_page = path, self.page != path


RECORD: Remembered[Parameters] = Remembered("_parameters")
of_session = RECORD.read
"""Return this session's parameters."""

_is_run: ContextVar[bool | None] = ContextVar("is_run", default=None)


def mark_background() -> None:
    """Detach this thread from any script run; Streamlit's own getter would log a warning."""
    _is_run.set(False)


def is_run() -> bool:
    """Return True if this thread runs the script, or one of its callbacks, for a user."""
    cached = _is_run.get()
    if cached is None:
        cached = RECORD.name in st.session_state
        _is_run.set(cached)
    return cached


def raise_if_disconnected() -> None:
    """End this run if its user has left or clicked elsewhere: Streamlit does so where the session's state is read."""
    if _is_run.get() is not False:
        _is_run.set(RECORD.name in st.session_state)


def sent_by_widget(key: str) -> Any:
    """Return the state of a widget that is no parameter, as the browser sent it last; None before it has."""
    return st.session_state.get(key)


def open_with(name: str, value: str) -> None:
    """Have a parameter's default be ``value``. To be called before the parameter is declared."""
    # A lesson has its own presets.
    if not of_session().preset:
        of_session().preset = {name: value}


def begin_page() -> None:
    """Reset the presets, the retained names and the names always in the link, before the page is drawn."""
    parameters = of_session()
    parameters.preset, parameters.always = {}, frozenset()
    parameters.kept.clear()


def then_redraw(callback: Callable[[], None]) -> Callable[[], None]:
    """Return a section's callback that reruns what is around it afterwards if that depends on a changed parameter."""
    part = of_session().fragments.part if RECORD.exists() else ()

    def call() -> None:
        callback()
        if (around := of_session().fragments.outermost_changed(part)) is not None:
            st.rerun(around[-1] if around else PAGE)

    return call if part[1:] else callback
