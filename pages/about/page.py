"""About Headlight: purpose, privacy, licences, citation, and versions."""

import platform
from importlib.metadata import version

import streamlit as st

from viz import limits
from viz.frame.available_models import models_here
from viz.frame.links import SHARED
from viz.frame.page import Page, say_refused
from viz.frame.shared import LANG
from viz.frame.show import show_table
from viz.models.layout import families
from viz.params.link import retain_in_link
from viz.text import Translate, translator

CITATION = """\
@software{headlight,
  title   = {Headlight: every idea of multi-head attention, touchable},
  author  = {{The authors of Headlight}},
  version = {0.3.0},
  date    = {2026-11-27},
  license = {MIT}
}"""
"""BibTeX entry of CITATION.cff; a test compares them."""

RUNNING = ("torch", "transformers", "streamlit", "plotly")


class About(Page):
    """A page that reads no text."""

    def draw(self) -> None:
        """Render every heading with its text."""
        t = translator(LANG.value)
        note = self.head(t)
        for part, draw_more in PARTS.items():
            st.header(t(f"about.{part}"), anchor=False)
            st.markdown(t(f"about.{part}_says"))
            draw_more(t)
        retain_in_link(*SHARED)
        say_refused(t, note)


def _source(t: Translate) -> None:
    if limits.SOURCE:
        st.link_button(t("about.source"), limits.SOURCE, type="tertiary")


def _licences(t: Translate) -> None:
    entries = list(models_here().values())
    show_table(
        {
            t("about.model"): [entry.id for entry in entries],
            t("about.model_licence"): [entry.licence or t("about.unknown") for entry in entries],
            t("about.from"): [entry.hub or entry.package or t("about.from_here") for entry in entries],
        },
    )
    model_families = families()
    st.caption(
        t("about.families", n=len(model_families), families=", ".join(f"`{family}`" for family in model_families))
    )


def _cite(_: Translate) -> None:
    st.code(CITATION, language=None, wrap_lines=True)


def _runs(_: Translate) -> None:
    versions = {"Python": platform.python_version()} | {name: version(name) for name in RUNNING}
    st.text(" · ".join(f"{name} {number}" for name, number in versions.items()))


PARTS = {"what": _source, "privacy": lambda _: None, "licence": _licences, "cite": _cite, "runs": _runs}
"""The headings, and the function that draws more than sentences under each."""

PAGE = About(name="about", sections=())
