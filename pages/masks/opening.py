"""The Masks page: opens on the causal mask."""

from viz.frame.inputs import MASK
from viz.frame.page import Page
from viz.params.session import open_with


class CausalFirst(Page):
    """A page whose default mask is causal."""

    def draw(self) -> None:
        """Draw the page with the causal mask as its default."""
        open_with(MASK.name, "causal")
        super().draw()
