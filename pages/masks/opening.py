"""The Masks page: opens on the causal mask."""

from viz.frame.connection.openings import name_in_link, open_with
from viz.frame.inputs import MASK
from viz.frame.page import Page


class CausalFirst(Page):
    """A page whose default mask is causal."""

    def draw(self) -> None:
        """Draw the page with the causal mask as its default."""
        open_with(MASK.name, "causal")
        super().draw()

    def finish(self) -> None:
        """Name the mask in the link unless it is the page's default."""
        super().finish()
        name_in_link(MASK.name)
