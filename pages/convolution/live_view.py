"""What the two live views in the browser share: one module of client code, its words, and how sharp a head may be."""

from viz.components.kinds import Kind, Real
from viz.components.view import View

HIGHEST_ALPHA = 100.0
ALPHA = Real(0, HIGHEST_ALPHA)


def live_view(choice: Kind) -> View:
    """Declare one of them, by what is chosen in it."""
    return View("convolution/quadratic_heads", words="convolution.view.", sends={"choice": choice}, colours=True)
