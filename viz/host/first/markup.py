"""What stands above a page's first picture, as HTML: what Streamlit would make of the same, and nothing to press yet.

The classes are Streamlit's own, for which the app's style (``assets/style.css``) is written; ``assets/first.css`` has
what Streamlit's code would bring.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from itertools import groupby
from typing import Any

from viz import ASSETS
from viz.streamlit_internals.static import index_page
from viz.streamlit_internals.told import Drawn, PageLink
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
"""The theme that was chosen on this page before, where Streamlit keeps it: "Light", "Dark" or "System"."""

ARROW = '<svg viewBox="6 6 12 12" aria-hidden="true"><path d="M7 10l5 5 5-5"/></svg>'
_TERM = re.compile(r"<button[^>]*>(.*?)</button>")
_SENTENCE = re.compile(r'<div class="says">(<p>.*?</p>)<div role="status">', re.DOTALL)


def colours() -> str:
    """The rules that give each colour its name."""
    light, dark = (
        f"color-scheme: {scheme}; " + "".join(f"--st-{name}: {pair[at]}; " for name, pair in COLOURS.items())
        for at, scheme in enumerate(("light", "dark"))
    )
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


def markup(page: Iterable[Drawn], links: Sequence[PageLink], lang: str) -> str:
    """A page, with the navigation beside it."""
    main = f'<div class="stMainBlockContainer"><div class="stVerticalBlock">{_all(page)}</div></div>'
    return f'<div id="first" class="first">{_navigation(links, lang)}<div class="stMain">{main}</div></div>'


def _navigation(links: Sequence[PageLink], lang: str) -> str:
    """Links to all pages, in their groups, and to this one in other languages."""

    def link(page: PageLink) -> str:
        current = ' aria-current="page"' * page.is_open
        return f'<a href="./{escape(page.path)}?lang={lang}"{current}>{escape(page.title)}</a>'

    groups = "".join(
        f"<h2>{escape(group)}</h2>{''.join(map(link, pages))}"
        for group, pages in groupby(links, lambda page: page.group)
    )
    languages = "".join(
        f'<a href="?lang={code}"{" aria-current=true" * (code == lang)}>{name}</a>' for code, name in LANGUAGES.items()
    )
    return f'<nav class="pages">{groups}<div class="languages">{languages}</div></nav>'


def _all(page: Iterable[Drawn]) -> str:
    return "".join(map(_one, page))


def _one(drawn: Drawn) -> str:
    if drawn.kind == "popover":
        return f"<button inert>{escape(drawn.says['text'])}{ARROW}</button>"
    key = f" st-key-{drawn.key}" * bool(drawn.key)
    if drawn.kind in ("row", "column"):
        inside = "" if drawn.key in UNSEEN else _all(drawn.inside)
        kind = "stHorizontalBlock" if drawn.kind == "row" else "stVerticalBlock"
        return f'<div class="{kind}{key}">{inside}</div>' * bool(inside)
    inside = ELEMENTS[drawn.kind](drawn.says) if drawn.kind in ELEMENTS else ""
    view = f' data-view="{drawn.key}"' * (drawn.kind == "bidi_component")
    return f'<div class="stElementContainer{key}"{view}>{inside}</div>' * bool(inside or view)


def _html(says: Mapping[str, Any]) -> str:
    """A sentence without what opens at its terms; or what is written by hand, as it is."""
    sentence = _SENTENCE.match(says["html"])
    inside = f'<div class="says">{_TERM.sub(_marked, sentence[1])}</div>' if sentence else says["html"]
    return f'<div class="stHtml">{inside}</div>'


def _marked(term: re.Match[str]) -> str:
    return f"<u>{term[1]}</u>"


def _bar(says: Mapping[str, Any]) -> str:
    buttons = "".join(
        f'<button role="radio" aria-checked="{str(is_chosen).lower()}"><span>{escape(name)}</span></button>'
        for name, is_chosen in says["options"]
    )
    return f'<div class="stButtonGroup" inert><div><div role="radiogroup">{buttons}</div></div></div>'


ELEMENTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "heading": lambda says: f"<{says['tag']}>{escape(says['text'])}</{says['tag']}>",
    "html": _html,
    "text_area": lambda says: f'<div class="box" inert>{escape(says["text"])}</div>',
    "selectbox": lambda says: f'<div class="box list" inert>{escape(says["text"])}{ARROW}</div>',
    "button_group": _bar,
}
"""How each kind of element is drawn, but for views; others stand below the picture."""
