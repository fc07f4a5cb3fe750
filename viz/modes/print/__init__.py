"""A page made for paper: on the screen it stands as it will be printed, and there is room to write."""

import json
import re
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import streamlit as st

from viz import ASSETS
from viz.frame import modes, view
from viz.frame.modes import Draw, Mode, PagePart
from viz.frame.view import PRINTS
from viz.frame.view.assets import style
from viz.params import Choice
from viz.text import Translate

if TYPE_CHECKING:
    from viz.frame.section import Section

_PRINT_RULES = re.compile(r"@media print \{\n(.*?)\n\}", re.DOTALL)


def _kind(raw: str) -> str:
    return PRINTS[1] if raw == "1" else raw


PRINT = Choice("print", among=PRINTS, parse=_kind)


@cache
def _style() -> str:
    """Return style.css's print rules and paper.css as rules for every medium.

    What is measured on the screen, such as the height of a lesson's step, then holds on paper.
    """
    rules = "\n".join(_PRINT_RULES.findall((ASSETS / "style.css").read_text("utf8")))
    return f"<style>{rules}\n{(ASSETS / 'paper.css').read_text('utf8')}</style>"


class PrintMode(Mode):
    """Paper, with room to write (``print=worksheet``, or ``print=1``) or with answers (``print=answers``)."""

    reads = MappingProxyType({"print": PRINT.read})
    parameters = (PRINT.name,)
    hides = frozenset[PagePart](("views", "buttons", "figure_menu"))

    def before(self, t: Translate) -> None:
        """Lay the page out for paper; until it is complete, printing gives a sentence that says so."""
        st.html(_style())
        not_yet = json.dumps(t("paper.not_yet"), ensure_ascii=False)
        st.html(f"<style>.stApp {{ --paper-not-yet: {not_yet}; }}</style>")
        view_options = view.current()
        if view_options.embed:
            st.html(style("paper_step.css"))
            if view_options.print == "worksheet":
                st.html('<style>.stApp { --paper-lines: ""; }</style>')

    def around_picture(self, t: Translate, section: "Section", draw: Draw) -> None:
        """Draw a frame around the picture on paper, and on a worksheet labelled lines to write on below it."""
        asks = view.current().print == "worksheet"
        with st.container(key=f"paper_{'asks' if asks else 'answers'}_{section.texts}"):
            draw()
        if asks and modes.shows("room_to_write"):
            st.html(f'<p class="paper-asks">{t("paper.asks")}</p><div class="paper-room"></div>')


MODE = PrintMode()
