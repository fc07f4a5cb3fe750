"""The first page: one head on one sentence, a box for another one, three ways in, and all pages as a diagram.

It has no model and no mathematics: the weights are on file, so that the picture is there before torch is.
"""

from collections.abc import Mapping
from html import escape
from urllib.parse import urlencode

import streamlit as st

from pages.start import arcs
from pages.start.diagram import diagram
from viz.components.view import View
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
"""The ways in, and where each leads."""
DIAGRAM = View("start/diagram")


class Start:
    """A page that reads no text and has no sections."""

    def draw(self) -> None:
        """Draw it; or open Heads with what was typed."""
        arcs.open_typed()
        lang = LANG.value
        t = translator(lang)
        link.hold(*SHARED)
        with st.container(key="start"):
            st.title(t("start.headline"), anchor=False)
            say(t("start.lead"))
        arcs.draw(lang)
        chosen = {"lang": lang, **link.chosen(*SHARED)}
        with st.container(key="doors"):
            st.html(doors(t, chosen))
        DIAGRAM.mount(key="diagram", data=diagram(t, chosen))


def doors(t: Translate, chosen: Mapping[str, str]) -> str:
    """The ways in as HTML; those that are no lesson take along what was chosen."""
    found = "".join(
        _door(t, door, page, {"lang": chosen["lang"], **link} if link else chosen)
        for door, (page, link) in DOORS.items()
    )
    return f'<nav class="doors" aria-label="{escape(t("start.doors"))}">{found}</nav>'


def _door(t: Translate, door: str, page: str, link: Mapping[str, str]) -> str:
    return (
        f'<a class="see alone" href="{escape(f"{path_of(page)}?{urlencode(link)}")}">'
        f"<strong>{escape(t(f'start.{door}'))}</strong><span>{escape(t(f'start.{door}_says'))}</span></a>"
    )


PAGE = Start()
