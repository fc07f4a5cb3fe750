"""The source line in the menu of a picture: the model and the text. The browser reads caption and link off the page.

Every picture has the same menu, put there by the browser (``client/frame/figures.js``), which loads what it does when
it is opened for the first time.
"""

from typing import Any

from viz import limits
from viz.components.view import address
from viz.frame import modes
from viz.frame.modes.figure_facts import Facts, facts
from viz.params import Parameter
from viz.params.memory import Remembered
from viz.text import words_of

MENU = "figure/menu"
BESIDE = 30_000
"""Bytes for what a message holds beside the tables of a large figure: their caption, and the states of views."""
LIMITS = {
    "most": limits.LARGE_BYTES,
    "room": limits.MESSAGE_STATES - BESIDE,
    "free": limits.MESSAGE_BYTES - limits.MESSAGE_STATES,
}
"""Bytes of the message for a large figure: of its numbers, of all its tables, and of the link beside it."""
_SENT_FACTS: Remembered[Facts | None] = Remembered("_figure_facts_told", default=None)


def is_out_of_date() -> bool:
    """Return True if the browser was told something else of the pictures than holds now."""
    return facts() != _SENT_FACTS.read()


def tell(lang: str) -> dict[str, Any] | None:
    """Return the menu's message for all pictures of this run; None without a menu: presented or on paper."""
    lines, apart = current_facts = facts()
    _SENT_FACTS.set(current_facts)
    if not modes.shows("figure_menu"):
        return None
    image = Parameter[str]("image")
    return {
        "words": words_of(lang, "figure_menu"),
        "menu": address(MENU),
        "facts": lines,
        "apart": apart,
        "first": image.value if image.has_value else "png",
        "limits": LIMITS,
    }
