"""The glossary: each term in one sentence, with a link to where it can be touched."""

from collections.abc import Iterable
from html import escape
from itertools import groupby

import streamlit as st

from pages.glossary.parameters import ORDER, TERM
from viz.frame.links import SHARED, heading, see
from viz.frame.page import Page, say_refused
from viz.frame.search.box import search_box
from viz.frame.shared import LANG, SECTION, Sections
from viz.frame.sidebar import path_of
from viz.params.link import retain_in_link
from viz.text import Translate, translator
from viz.text.glossary import Term, terms


class Glossary(Page):
    """A page that reads no text: a list to look things up in."""

    def draw(self) -> None:
        """Draw the search, and the matching terms."""
        t = translator(lang := LANG.value)
        SECTION.enter(Sections(self.name, ()))
        note = self.head(t)
        with st.container(key="look_up", horizontal=True, gap="small", vertical_alignment="bottom"):
            query = TERM.read()[: TERM.longest]
            search_box(lang, key="search_here", query=query)
            order = ORDER.segments(t("glossary.order"), says=lambda code: t(f"glossary.by_{code}"))
        if query:
            st.html(
                f'<a class="see" href="{path_of(self.name)}?lang={lang}&amp;term=">{escape(t("glossary.whole"))}</a>'
            )
        _terms(t, lang, query, order)
        retain_in_link(*SHARED)
        say_refused(t, note)


def _terms(t: Translate, lang: str, query: str, order: str) -> None:
    """Return the terms that match the search."""
    matches = [term for term in terms().values() if answers(term, query, lang)]
    st.caption(t("glossary.found", n=len(matches), all=len(terms())))
    if order == "theme":
        for theme, of_theme in groupby(matches, lambda term: term.theme):
            st.header(t(f"glossary.theme_{theme}"), anchor=False)
            st.html(term_list(t, lang, of_theme))
    else:
        st.html(term_list(t, lang, sorted(matches, key=lambda term: _sound(term.names[lang]))))


def answers(term: Term, query: str, lang: str) -> bool:
    """Return True if every word of the search is in a term's sentence or one of its names."""
    searched = " ".join([*term.names.values(), term.says[lang], term.letter, *term.also]).casefold()
    return all(word in searched for word in query.casefold().split())


def _sound(name: str) -> bytes:
    """The sort key of a name: its letters; Chinese by pronunciation, the order of this encoding."""
    # 熵 is a rarer sign, which sounds like 商.
    return name.casefold().replace("熵", "商").encode("gb18030")


def term_list(t: Translate, lang: str, matches: Iterable[Term]) -> str:
    """Return terms with their meanings, as an HTML definition list."""
    items = (
        f'<dt id="{term.code}">{heading(lang, term)}</dt><dd>{escape(term.says[lang])} {see(t, lang, term)}</dd>'
        for term in matches
    )
    return f'<dl class="glossary">{"".join(items)}</dl>'


PAGE = Glossary(name="glossary", sections=())
