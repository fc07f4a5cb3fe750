"""A page in front of a class: large, one section at a time, driven by keys, with the notes in a window of their own.

Without ``present=1`` or ``notes=1`` in the link nothing of it is imported, computed or sent.
"""

from types import MappingProxyType

import streamlit as st

from viz.frame import view
from viz.frame.modes import Draw, Mode, PagePart, PageRun
from viz.frame.view.assets import style
from viz.params import Flag
from viz.text import Translate, has_text

_BARE: frozenset[PagePart] = frozenset(
    ("navigation", "title", "page_lead", "views", "all_sections", "fragments", "figure_menu")
)


def _on(raw: str) -> bool:
    if raw not in ("0", "1"):
        raise ValueError(raw)
    return raw == "1"


PRESENT, NOTES = Flag("present", parse=_on), Flag("notes", parse=_on)


class PresentMode(Mode):
    """A presentation, and the window with its notes."""

    reads = MappingProxyType({"present": PRESENT.read, "notes": NOTES.read})
    parameters = (PRESENT.name, NOTES.name)

    def before(self, t: Translate) -> None:
        """Make the page large."""
        if view.current().present:
            st.html(style("present.css"))

    @property
    def hides(self) -> frozenset[PagePart]:
        """Return the parts hidden from a class."""
        return _BARE | {"buttons"} if view.current().present else _BARE

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
