"""Links from the app to its own pages and sections, and terms with one; they carry the user's choices."""

from functools import lru_cache
from html import escape
from urllib.parse import urlencode

from viz.components.view import View
from viz.frame import modes, view
from viz.frame.shared import open_section
from viz.frame.sidebar import path_of
from viz.text import LANGUAGES, Translate
from viz.text.glossary import Term

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


def see(t: Translate, lang: str, term: Term) -> str:
    """A link to where a term can be touched, as HTML."""
    page, section, parameters = term.place
    if not parameters and open_section(page) == section:
        return ""
    title = t("term.see", page=t(f"{page}.title"), section=t(f"{page}.{section}.title"))
    return link_to(lang, term.place, title)


def heading(lang: str, term: Term) -> str:
    """A term's names, in this language and in the others, and what formulas call it, as HTML."""
    other_names = {
        code: term.names[code] for code in LANGUAGES if code != lang and term.names[code] != term.names[lang]
    }
    parts = [f'<span lang="{code}">{escape(name)}</span>' for code, name in other_names.items()]
    parts += [escape(" : ".join(filter(None, (term.letter, term.shape))))] * bool(term.letter or term.shape)
    return " · ".join([f"<strong>{escape(term.names[lang])}</strong>", *parts])
