"""A view in the browser, declared once: what it may send, its words, its colours, and how it is mounted.

A view is a Streamlit component (v2) of an installed package, served by URL as one file (``bundle.py``). A checkout is
such a package: ``headlight-1.dist-info`` lies in the folder from which the app is run, and names the manifest in
``package/``. By URL, and not as text, because text is sent again with each change, and needs a content policy that
allows scripts from elsewhere than the server (``blob:``). The files that Streamlit knows have to lie on disk. Only a
loader does: it imports the view's own file, which ``viz/host/files.py`` sends from memory, by the name in the
component's HTML.

Every message of a view is ``{"value": ..., "sent": n}``, the state of one name: n counts the view's messages, and the
answer says which of them Python has seen, so that a view knows an answer to an older one (``client/lib/view.js``).
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import streamlit as st

from viz.components import bundle
from viz.components.kinds import Integer, Kind
from viz.params import Parameter
from viz.params.session import sent_by_widget, then_redraw
from viz.text import sentences

LOADER = next(Path(__file__).parent.glob("package/loader/load-*.js"))
"""The file that loads a view's code; its name holds a hash of its content, as all that a browser may keep for good."""
PACKAGE = str(tomllib.loads((LOADER.parents[1] / "pyproject.toml").read_text("utf8"))["project"]["name"])


@cache
def palette() -> Mapping[str, Any]:
    """The colours of views as ``client/lib/colour.js`` takes them: of numbers above and below 0, and of heads."""
    # The first page has no figure.
    from viz.figures.palette import BLUE, GREY, HEADS, ORANGE

    return MappingProxyType({"positive": BLUE, "negative": ORANGE, "grey": GREY, "heads": HEADS})


_COUNT = Integer()


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message that fits its kind, and its number among those of its view."""

    sent: int
    value: Any


class View:
    """A view ``client/<name>.js``; the pages that show it declare it at the top of a module.

    Args:
        name: its folder and name, as in "masks/mask_painter"; names differ, whatever their folder.
        words: what the keys of its texts begin with, as in "masks.painter."; "" if it has none of its own.
        sends: the kind of each message by its name; one that does not fit is ignored.
        colours: send it the palette, as ``hues``.
    """

    def __init__(
        self,
        name: str,
        *,
        words: str = "",
        sends: Mapping[str, Kind] | None = None,
        colours: bool = False,
    ) -> None:
        self.name, self.prefix, self.sends, self.has_colours = name, words, dict(sends or {}), colours
        VIEWS.append(self)

    def mount(
        self,
        *,
        key: str,
        data: Any,
        words: Mapping[str, str] | None = None,
        on: Mapping[str, Callable[[Any], None]] | None = None,
    ) -> None:
        """Show the view, or give it new data.

        Args:
            key: of this place on the page; the view's own state lives as long as the key stays.
            data: bytes as :func:`viz.components.head_grid.pack` makes them, or a mapping that JSON can hold.
            words: more words, and others in place of its own.
            on: what a message is handed to, by its name. A session keeps these functions: none may hold a scene.
        """
        on = on or {}
        added: dict[str, Any] = {"hues": dict(palette())} if self.has_colours else {}
        if self.prefix or words:
            added["words"] = {**self.words(), **(words or {})}
        if on:
            added["sent"] = self.count(key)
        calls: dict[str, Callable[[], None]] = {
            f"on_{name}_change": partial(_receive, key, name, self.sends[name], act) for name, act in on.items()
        }
        _mount(self.name, key=key, data=_add(added, data) if added else data, **calls)

    def words(self) -> dict[str, str]:
        """Return the view's own words in the user's language, by the rest of their keys."""
        if not self.prefix:
            return {}
        lang = Parameter[str]("lang").value
        return {name: sentences(lang)[self.prefix + name] for name in _names(lang, self.prefix)}

    def last(self, key: str, name: str) -> Message | None:
        """Return the last message of this name from the view of this key, if it is one."""
        return _read(key, name, self.sends[name])

    def count(self, key: str) -> int:
        """Return the number of the last message that the view of this key sent; 0 if there is none."""
        return max((message.sent for name in self.sends if (message := self.last(key, name))), default=0)


VIEWS: list[View] = []
"""Every view that has been declared."""

Change = Callable[[str, Any], Any]

_change: ContextVar[Change | None] = ContextVar("change", default=None)


@contextmanager
def changing(change: Change) -> Iterator[None]:
    """Change what views and tables are sent inside the ``with``, by their keys on the page; a table's is ""."""
    token = _change.set(change)
    try:
        yield
    finally:
        _change.reset(token)


def apply_change(key: str, data: Any) -> Any:
    """Return the data of a view or a table as it is sent."""
    change = _change.get()
    return change(key, data) if change else data


def component_name(view: str) -> str:
    """Return the name under which Streamlit knows a view."""
    return f"{PACKAGE}.{Path(view).name}"


def address(view: str) -> str:
    """Return the address of the code of a view that is not mounted yet, relative to any page of the app."""
    return f"_stcore/bidi-components/{component_name(view)}/{bundle.bundle(view)[0]}"


def _mount(view: str, *, key: str, data: Any, **callbacks: Callable[[], None]) -> None:
    """Mount the component of a view."""
    wrapped = {name: then_redraw(callback) for name, callback in callbacks.items()}
    data = apply_change(key, data)
    # In a list, because in a dict Streamlit looks for tables, and imports pandas for that: a third of a second.
    _component(view)(key=key, data=data if isinstance(data, bytes) else [data], **wrapped)


@cache
def _component(view: str) -> Callable[..., Any]:
    html = f'<data value="{bundle.bundle(view)[0]}"></data>'
    return st.components.v2.component(component_name(view), html=html, js=LOADER.name, isolate_styles=False)


def _receive(key: str, name: str, kind: Kind, act: Callable[[Any], None]) -> None:
    """Hand a message on if it is one."""
    if message := _read(key, name, kind):
        act(message.value)


def _read(key: str, name: str, kind: Kind) -> Message | None:
    state = sent_by_widget(key)
    message = state.get(name) if isinstance(state, Mapping) else None
    if not isinstance(message, Mapping):
        return None
    try:
        return Message(sent=_COUNT(message.get("sent")), value=kind(message.get("value")))
    except ValueError:
        return None


def _add(added: Mapping[str, Any], data: Any) -> Any:
    """Return data with more names.

    Raises:
        ValueError: if the data has one of these names already: an answer called "sent" would be taken for the count.
    """
    if not isinstance(data, bytes):
        if clash := added.keys() & data.keys():
            raise ValueError(f"a view's data cannot have a name of its own for {sorted(clash)}")
        return {**added, **data}
    end = 4 + int.from_bytes(data[:4], "little")
    # Of a name that comes again JSON takes the last value.
    header = json.dumps(added).encode()[:-1] + b", " + data[5:end]
    header += b" " * (-len(header) % 4)
    return len(header).to_bytes(4, "little") + header + data[end:]


@cache
def _names(lang: str, prefix: str) -> tuple[str, ...]:
    return tuple(key.removeprefix(prefix) for key in sentences(lang) if key.startswith(prefix))
