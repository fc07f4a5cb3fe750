"""The Masks page: opens on the causal mask."""

from viz.frame.connection.openings import open_with
from viz.frame.inputs import MASK
from viz.frame.page import Page


class CausalFirst(Page):
    """A page whose default mask is causal."""

    def draw(self) -> None:
        """Draw the page with the causal mask as its default."""
        open_with(MASK.name, "causal")
        super().draw()
