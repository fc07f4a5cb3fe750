"""A course's table of contents on the screen: topics part by part, each with the sections that show it."""

from collections.abc import Iterable
from html import escape

import streamlit as st

from pages.glossary.contents import Topic, parts
from viz.frame.terms.links import link_to
from viz.text import Translate


def draw_course(t: Translate, lang: str, wanted: str) -> None:
    """The topics that answer to it, part by part, each with links to its sections."""
    found = {part: [topic for topic in part.topics if _is_about(t, topic, wanted, lang)] for part in parts()}
    n, n_all = sum(map(len, found.values())), sum(len(part.topics) for part in parts())
    st.caption(t("glossary.course_found", n=n, all=n_all))
    for part, topics in found.items():
        if topics:
            st.header(part.names[lang], anchor=False)
            st.html(_topics(t, lang, topics))


def _is_about(t: Translate, topic: Topic, wanted: str, lang: str) -> bool:
    """Whether every word that is looked for stands in the topic, or in the names of its sections."""
    named = [t(f"{page}.{section}.title") for page, section, _ in topic.places]
    searched = " ".join([*topic.names.values(), *named]).casefold()
    return all(word in searched for word in wanted.casefold().split())


def _topics(t: Translate, lang: str, topics: Iterable[Topic]) -> str:
    """Topics with their links, as a list of definitions in HTML."""
    items = (
        f"<dt><strong>{escape(topic.names[lang])}</strong></dt>"
        f"<dd>{' · '.join(link_to(lang, place, _title(t, place)) for place in topic.places)}</dd>"
        for topic in topics
    )
    return f'<dl class="glossary">{"".join(items)}</dl>'


def _title(t: Translate, place: tuple[str, str, str]) -> str:
    """What a link is called: its page, its section, and the step if it has one."""
    page, section, more = place
    name, _, value = more.partition("=")
    steps = [t(f"step_by_step.short_{value}")] if name == "step" else []
    return " › ".join([t(f"{page}.title"), t(f"{page}.{section}.title"), *steps])
