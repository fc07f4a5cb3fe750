"""What a run has told a browser, taken apart: by Streamlit's private names, as all in this folder."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

MAIN = 0
"""Of the page's parts: the one beside the sidebar."""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """An element or a container, with its key ("" if it has none), what it says, and what is in it in order.

    ``kind`` is what Streamlit calls an element; a container is a "row", a "column" or a "popover".
    """

    kind: str
    key: str = ""
    says: Mapping[str, Any]
    inside: tuple["Drawn", ...] = ()


@dataclass(frozen=True, kw_only=True)
class PageLink:
    """A page in the navigation: its group, its title, its path below the app's address, and whether it is open."""

    group: str
    title: str
    path: str
    is_open: bool


def key_of(name: str) -> str:
    """The key of a control, a view or a container by the name that Streamlit gives it; "" if it has none."""
    key = name.split("-", 2)[-1] if name.startswith("$$ID-") else ""
    return "" if key == "None" else key


def _view(view: BidiComponent) -> dict[str, Any]:
    """The view's name, its file, and its data: as JSON holds it, or bytes."""
    data = view.bytes if view.WhichOneof("data") == "bytes" else json.loads(view.json)
    file = view.html_content.partition('value="')[2].partition('"')[0]  # viz/components/mount.py
    return {"name": view.component_name, "file": file, "data": data}


def _options(group: ButtonGroup) -> dict[str, Any]:
    """The options in their order, each with whether it is chosen."""
    chosen = {*group.raw_values, *(group.options[at].content for at in group.default)}
    return {"options": [(option.content, option.content in chosen) for option in group.options]}


_SAYS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "heading": lambda told: {"tag": told.tag, "text": told.body},
    "html": lambda told: {"html": told.body},
    "text_area": lambda told: {"text": told.value},
    "selectbox": lambda told: {"text": told.placeholder},
    "button_group": _options,
    "bidi_component": _view,
}
"""What is taken of each kind of element; of others, that they are there."""


def drawn(messages: Iterable[ForwardMsg], part: int = MAIN) -> tuple[Drawn, ...]:
    """All that stands in a part of the page, in the order of the places it was told to stand in."""
    told = [message for message in messages if message.WhichOneof("type") == "delta"]
    places = {tuple(message.metadata.delta_path): message.delta for message in told}
    return _inside(places, (part,))


def _inside(places: Mapping[tuple[int, ...], Delta], path: tuple[int, ...]) -> tuple[Drawn, ...]:
    there = sorted(place for place in places if place[:-1] == path)
    return tuple(_taken(places, place) for place in there)


def _taken(places: Mapping[tuple[int, ...], Delta], place: tuple[int, ...]) -> Drawn:
    delta = places[place]
    if delta.HasField("add_block"):
        block = delta.add_block
        is_row = block.flex_container.direction == Block.FlexContainer.HORIZONTAL
        kind = "popover" if block.HasField("popover") else "row" if is_row else "column"
        says = {"text": block.popover.label}
        return Drawn(kind=kind, key=key_of(block.id), says=says, inside=_inside(places, place))
    kind = str(delta.new_element.WhichOneof("type"))
    told = getattr(delta.new_element, kind, None)
    says = _SAYS[kind](told) if kind in _SAYS else {}
    return Drawn(kind=kind, key=key_of(getattr(told, "id", "")), says=says)


def page_links(messages: Sequence[ForwardMsg]) -> list[PageLink]:
    """The pages that the navigation shows, in its order."""
    navigation = next(message.navigation for message in messages if message.HasField("navigation"))
    return [
        PageLink(
            group=group,
            title=page.page_name,
            path=page.url_pathname,
            is_open=page.page_script_hash == navigation.page_script_hash,
        )
        for group in navigation.sections
        for page in navigation.app_pages
        if page.section_header == group and not page.is_hidden
    ]
