"""Links from the app to its own pages and sections; they carry the user's choices."""

from functools import lru_cache
from html import escape
from urllib.parse import urlencode

from viz.components.view import View
from viz.frame import modes, view
from viz.frame.sidebar import path_of

SHARED = (
    *("text", "source", "model", "layer", "head", "n_heads", "n_kv_heads", "d_model", "seed"),
    *("mask", "width", "gap", "pad", "pad_left", "painted"),
)
"""Parameters with the same meaning on every page; links between pages carry them."""

SEE = View("frame/see")


def open_links() -> None:
    """Have the glossary's links carry the user's choices."""
    SEE.mount(key="see", data={"shared": [*SHARED, *modes.parameters()]})


def link_to(lang: str, place: tuple[str, str, str], title: str) -> str:
    """A link to a page, a section and what else it shows, as HTML; in somebody else's page it opens Headlight."""
    return _anchor(lang, place, title, is_beyond=view.current().embed)


@lru_cache(maxsize=512)
def _anchor(lang: str, place: tuple[str, str, str], title: str, *, is_beyond: bool) -> str:
    page, section, parameters = place
    link = escape(
        f"{path_of(page)}?{urlencode({'lang': lang, 'section': section})}{'&' * bool(parameters)}{parameters}"
    )
    beyond = ' target="_blank"' if is_beyond else ""
    return f'<a class="see" href="{link}"{beyond}>{escape(title)}</a>'
