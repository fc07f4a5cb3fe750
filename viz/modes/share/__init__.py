"""Passing on what a page shows: its address, a code for a phone's camera, a frame for somebody else's page."""

from collections.abc import Mapping
from typing import Any

from viz.frame import modes
from viz.frame.modes import Mode, PageRun
from viz.modes.share import figure_menu, panel
from viz.text import Translate


class ShareMode(Mode):
    """A folded button on every page, and the menu of every picture."""

    def before_page(self, t: Translate) -> None:
        """Keep the button's place."""
        if modes.shows("navigation"):
            panel.keep_place()

    def after_page(self, run: PageRun) -> None:
        """Draw the button, which says what the whole page has declared."""
        if modes.shows("navigation"):
            panel.offer(run.t, run.page)

    def document(self, lang: str) -> Mapping[str, Any]:
        """Return what the menus of all pictures say."""
        return {"figures": figure_menu.tell(lang)}

    def is_out_of_date(self) -> bool:
        """Return True if a section says something else of its pictures now."""
        return figure_menu.is_out_of_date()


MODE = ShareMode()
