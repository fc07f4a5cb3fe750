"""A page in front of a class: large, one section at a time, driven by keys, with the notes in a window of their own.

Without ``present=1`` or ``notes=1`` in the link nothing of it is imported, computed or sent.
"""

from dataclasses import replace

import streamlit as st

from viz.frame import view
from viz.frame.modes import Draw, Mode, PagePart, PageRun
from viz.frame.view import View
from viz.frame.view.assets import style
from viz.params import Flag
from viz.text import Translate, has_text

_BARE: frozenset[PagePart] = frozenset(
    ("navigation", "title", "page_lead", "views", "all_sections", "fragments", "figure_menu")
)
_PRESENTED: frozenset[PagePart] = frozenset(("section_bar", "buttons"))


def _on(raw: str) -> bool:
    if raw not in ("0", "1"):
        raise ValueError(raw)
    return raw == "1"


PRESENT, NOTES = Flag("present", parse=_on), Flag("notes", parse=_on)


class PresentMode(Mode):
    """A presentation, and the window with its notes."""

    parameters = (PRESENT.name, NOTES.name)

    def read(self, view_options: View) -> View:
        """Return the view with ``present`` and ``notes``; nothing is presented in somebody else's page."""
        return replace(
            view_options,
            present=PRESENT.read() and not view_options.embed,
            notes=NOTES.read(),
        )

    def is_on(self, view_options: View) -> bool:
        """Return True in a presentation and its notes."""
        return view_options.present or view_options.notes

    def before(self, t: Translate) -> None:
        """Make the page large."""
        if view.current().present:
            st.html(style("present.css"))

    @property
    def hides(self) -> frozenset[PagePart]:
        """Return the parts hidden from a class."""
        return _BARE | _PRESENTED if view.current().present else _BARE

    def lead(self, t: Translate, page: str, section: str) -> str:
        """Return the section's sentence for a class: there the arrow keys are not the section's."""
        presented = f"{page}.{section}.lead_present"
        return t(presented) if view.current().present and has_text(presented) else ""

    def around_page(self, run: PageRun, draw: Draw) -> None:
        """Draw the notes alone; or the page, and below it the keys and the buttons, which need its link."""
        view_options = view.current()
        if view_options.notes:
            from viz.modes.present.presenter import NOTES

            st.html(style("notes.css"))
            NOTES.mount(key="notes", data={})
            return
        draw()
        if view_options.present:
            from viz.modes.present.presenter import draw as draw_keys

            draw_keys(run.t, run.page, run.pages, run.sections_of)


MODE = PresentMode()
