"""Shared declaration of the two live views: client module, texts and the range of alpha."""

from viz.components.kinds import Kind, Real
from viz.components.view import View

HIGHEST_ALPHA = 100.0
ALPHA = Real(0, HIGHEST_ALPHA)


def live_view(choice: Kind) -> View:
    """Declare a live view by the kind of its choice."""
    return View("convolution/quadratic_heads", words="convolution.view.", sends={"choice": choice}, colours=True)
