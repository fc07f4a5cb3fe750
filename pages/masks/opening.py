"""How the page opens: on the causal mask."""

from viz.frame.choice import MASK
from viz.frame.connection.openings import name_in_link, open_with
from viz.frame.page import Page


class CausalFirst(Page):
    """A page whose mask is causal until one is chosen."""

    def draw(self) -> None:
        """Draw the page, with the mask that it opens on as its default."""
        open_with(MASK.name, "causal")
        super().draw()
        self.finish()

    def finish(self) -> None:
        """Have the link name the mask, except as the page opens."""
        name_in_link(MASK.name)
