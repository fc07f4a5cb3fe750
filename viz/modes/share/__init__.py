"""Sharing a page: its address, a QR code, and HTML to embed it in another site."""

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
        """Draw the button; its link has the parameters that the whole page has declared."""
        if modes.shows("navigation"):
            panel.offer(run.t, run.page)

    def document(self, lang: str) -> Mapping[str, Any]:
        """Return the lines in the menus of all pictures."""
        return {"figures": figure_menu.tell(lang)}

    def is_out_of_date(self) -> bool:
        """Return True if a section has changed the lines of its pictures."""
        return figure_menu.is_out_of_date()


MODE = ShareMode()
