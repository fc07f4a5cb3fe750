"""What stands above a page's first picture, as HTML: what Streamlit would make of the same, and nothing to press yet.

The classes are Streamlit's own, for which the app's style (``assets/style.css``) is written; ``assets/first.css`` has
what Streamlit's code would bring.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any, NamedTuple

from streamlit.proto.AppPage_pb2 import AppPage
from streamlit.proto.Block_pb2 import Block
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.Navigation_pb2 import Navigation

from viz import ASSETS
from viz.streamlit_internals import index_page, key_of
from viz.text import LANGUAGES

UNSEEN = ("title_unseen", "share_view", "waiting", "note")
"""Containers that take no place, or one of their own beside the others."""

COLOURS = {
    "background-color": ("#FFFFFF", "#171614"),
    "secondary-background-color": ("#F8F8F7", "#2D2B27"),
    "text-color": ("#2F2D2B", "#EDEBE8"),
    "border-color": ("rgba(47, 45, 43, 0.2)", "rgba(237, 235, 232, 0.2)"),
    "primary-color": ("#1a5cc8", "#5a97f7"),
    "link-color": ("#1a5cc8", "#6ba2fa"),
    "sidebar-color": ("#F8F8F7", "#21201D"),
}
"""On a light page and on a dark one: Streamlit's, and those of ``.streamlit/config.toml``."""

THEME = """try {
  const chosen = JSON.parse(localStorage.getItem(`stActiveTheme-${location.pathname}-v2`));
  document.documentElement.dataset.theme = chosen ?? "";
} catch {}"""
"""The theme that was chosen here before, where Streamlit keeps it: "Light", "Dark" or "System"."""

ARROW = '<svg viewBox="6 6 12 12" aria-hidden="true"><path d="M7 10l5 5 5-5"/></svg>'
_TERM = re.compile(r"<button[^>]*>(.*?)</button>")
_SAID = re.compile(r'<div class="says">(<p>.*?</p>)<div role="status">', re.DOTALL)


class Place(NamedTuple):
    """Something on the page: where it is told to stand, and what it is."""

    path: tuple[int, ...]
    delta: Delta


def colours() -> str:
    """The rules that give each colour its name."""
    light, dark = ("".join(f"--st-{name}: {pair[at]}; " for name, pair in COLOURS.items()) for at in (0, 1))
    return (
        f".first {{ {light}}}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=Light]) .first {{ {dark}}} }}\n"
        f":root[data-theme=Dark] .first {{ {dark}}}\n"
    )


def font() -> str:
    """Streamlit's font under a name of its own: what Streamlit calls it is told once more when its code has come."""
    file = re.search(r'href="(\./static/media/SourceSansVF-Upright[^"]*)"', index_page())
    source = f"url({file[1]}) format('woff2')" if file else "local('Source Sans')"
    return f"@font-face {{ font-family: 'First Sans'; font-weight: 200 900; font-display: swap; src: {source}; }}\n"


@cache
def style() -> str:
    """The style of all of it, but for what the app's own has."""
    return f"<style>{font()}{colours()}{(ASSETS / 'first.css').read_text('utf8')}</style>"


def markup_of(places: Sequence[Place], part: tuple[int, ...], pages: Navigation, lang: str) -> str:
    """All that stands in a part of the page, with the navigation beside it."""
    inside = f'<div class="stMainBlockContainer"><div class="stVerticalBlock">{_inside(places, part)}</div></div>'
    return f'<div id="first" class="first">{_navigation(pages, lang)}<div class="stMain">{inside}</div></div>'


def _navigation(pages: Navigation, lang: str) -> str:
    """Links to all pages, in their groups, and to this one in other languages."""

    def link(page: AppPage) -> str:
        here = ' aria-current="page"' * (page.page_script_hash == pages.page_script_hash)
        return f'<a href="./{escape(page.url_pathname)}?lang={lang}"{here}>{escape(page.page_name)}</a>'

    groups = "".join(
        f"<h2>{escape(group)}</h2>"
        + "".join(link(page) for page in pages.app_pages if page.section_header == group and not page.is_hidden)
        for group in pages.sections
    )
    languages = "".join(
        f'<a href="?lang={code}"{" aria-current=true" * (code == lang)}>{name}</a>' for code, name in LANGUAGES.items()
    )
    return f'<nav class="pages">{groups}<div class="languages">{languages}</div></nav>'


def _inside(places: Sequence[Place], path: tuple[int, ...]) -> str:
    depth = len(path)
    there = sorted(
        (place for place in places if len(place.path) == depth + 1 and place.path[:depth] == path),
        key=lambda place: place.path,
    )
    return "".join(
        _block(places, path, delta.add_block) if delta.HasField("add_block") else _element(delta.new_element)
        for path, delta in there
    )


def _block(places: Sequence[Place], path: tuple[int, ...], block: Block) -> str:
    if block.HasField("popover"):
        return f"<button inert>{escape(block.popover.label)}{ARROW}</button>"
    key = key_of(block.id)
    inside = "" if key in UNSEEN else _inside(places, path)
    if not inside:
        return ""
    is_row = block.flex_container.direction == Block.FlexContainer.HORIZONTAL
    return f'<div class="{"stHorizontalBlock" if is_row else "stVerticalBlock"} st-key-{key}">{inside}</div>'


def _element(element: Element) -> str:
    kind = str(element.WhichOneof("type"))
    if kind not in DRAWN:
        return ""
    told = getattr(element, kind)
    key = key_of(getattr(told, "id", ""))
    return f'<div class="stElementContainer {f"st-key-{key}" if key else ""}">{DRAWN[kind](told)}</div>'


def _html(told: Any) -> str:
    """A sentence without what opens at its terms; or what is written by hand, as it is."""
    said = _SAID.match(told.body)
    inside = '<div class="says">' + _TERM.sub(r"<u>\1</u>", said[1]) + "</div>" if said else told.body
    return f'<div class="stHtml">{inside}</div>'


def _bar(told: ButtonGroup) -> str:
    chosen = set(told.raw_values) or {told.options[at].content for at in told.default}
    buttons = "".join(
        f'<button role="radio" aria-checked="{str(option.content in chosen).lower()}">'
        f"<span>{escape(option.content)}</span></button>"
        for option in told.options
    )
    return f'<div class="stButtonGroup" inert><div><div role="radiogroup">{buttons}</div></div></div>'


DRAWN: Mapping[str, Callable[[Any], str]] = {
    "heading": lambda told: f"<{told.tag}>{escape(told.body)}</{told.tag}>",
    "html": _html,
    "text_area": lambda told: f'<div class="box" inert>{escape(told.value)}</div>',
    "selectbox": lambda told: f'<div class="box list" inert>{escape(told.placeholder)}{ARROW}</div>',
    "button_group": _bar,
    "bidi_component": lambda told: f'<div class="stBidiComponent" data-view="{key_of(told.id)}"></div>',
}
"""How each kind of element is drawn; others stand below the picture."""
