"""A term of the glossary as HTML: its names, and the link to where it can be touched."""

from html import escape

from viz.frame.links import link_to
from viz.frame.shared import open_section
from viz.text import LANGUAGES, Translate
from viz.text.glossary import Term


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
