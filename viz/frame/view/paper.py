"""A page made for paper: on the screen it stands as it will be printed, and there is room to write."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import streamlit as st

from viz import ASSETS
from viz.frame import lesson, view
from viz.frame.view.assets import style
from viz.text import Translate

_PRINTED = re.compile(r"@media print \{\n(.*?)\n\}", re.DOTALL)


@cache
def _style() -> str:
    """What style.css has for any page that is printed, and what is for pages made for that, as rules for every medium.

    What is measured on the screen, such as the height of a lesson's step, then holds on paper.
    """
    printed = "\n".join(_PRINTED.findall((ASSETS / "style.css").read_text("utf8")))
    return f"<style>{printed}\n{(ASSETS / 'paper.css').read_text('utf8')}</style>"


def begin(t: Translate) -> None:
    """Make the page one for paper, if its link says so; before all is drawn it prints a sentence that says so."""
    looked_at = view.current()
    if looked_at.is_paper:
        st.html(_style())
        st.html(f"<style>.stApp {{ --paper-not-yet: {json.dumps(t('paper.not_yet'), ensure_ascii=False)}; }}</style>")
        if looked_at.embed:  # a step of a lesson: the sheet around it makes it as small as it has to be
            st.html(style("paper_step.css"))
            if looked_at.print == "worksheet":
                st.html("<style>.stApp { --paper-lines: 3; }</style>")


def around_sheets() -> None:
    """Have the page itself as wide as the paper: what is on it is made smaller already."""
    st.html("<style>.stApp { --paper-zoom: 1; --paper-width: 680px; }</style>")


@contextmanager
def room_to_write(t: Translate, section: str) -> Iterator[None]:
    """Around what a section draws: on a sheet to be filled in there are lines below, and what they are for."""
    if view.current().print != "worksheet":
        yield
        return
    with st.container(key=f"paper_asks_{section}"):  # its sentences are answers, and not shown: paper.css
        yield
    if lesson.asks_question():  # the lines are below the question: paper_step.css
        return
    st.html(f'<p class="paper-asks">{t("paper.asks")}</p><div class="paper-room"></div>')
