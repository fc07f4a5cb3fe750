"""The start page: one head on one sentence, a box for another one, and three entry links.

It needs no model: the weights are on file, so that the picture is there before torch is imported.
"""

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

import streamlit as st

from pages.start import arcs, story
from viz.frame import view
from viz.frame.links import SHARED
from viz.frame.modes import say
from viz.frame.shared import LANG
from viz.frame.sidebar import path_of
from viz.params import link
from viz.text import Translate, translator

DOORS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "new": ("heads", {"lesson": "attention_from_nothing", "lesson_step": "1"}),
    "teach": ("lessons", {}),
    "know": ("heads", {}),
}
"""Entry links: page and query parameters of each."""


class Start:
    """A page that reads no text and has no sections."""

    def draw(self) -> None:
        """Draw the page."""
        lang = LANG.value
        t = translator(lang)
        link.retain(*SHARED)
        with st.container(key="start"):
            st.title(t("start.headline"), anchor=False)
            say(t("start.lead"))
        pair = arcs.draw(lang)
        choices = {"lang": lang, **link.query_parameters(*SHARED)}
        with st.container(key="doors"):
            st.html(doors(t, choices))
        # In front of a class there is the sentence alone.
        if not view.current().present:
            story.draw(lang, pair)


def doors(t: Translate, choices: Mapping[str, str]) -> str:
    """Return the entry links as HTML; those outside lessons carry the user's choices."""
    links = "".join(
        _door(t, door, page, {"lang": choices["lang"], **link} if link else choices)
        for door, (page, link) in DOORS.items()
    )
    return f'<nav class="doors" aria-label="{escape(t("start.doors"))}">{links}</nav>'


def _door(t: Translate, door: str, page: str, link: Mapping[str, str]) -> str:
    return (
        f'<a class="see alone" href="{escape(f"{path_of(page)}?{urlencode(link)}")}">'
        f"<strong>{escape(t(f'start.{door}'))}</strong><span>{escape(t(f'start.{door}_says'))}</span></a>"
    )


PAGE = Start()
