"""Headlight: every idea of multi-head attention, touchable. Start reading at ``viz/core/attention.py``.

``viz.show``, ``viz.why`` and ``viz.watch`` (``viz/notebook/``) are imported when they are called.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz.notebook.show import show as show
    from viz.notebook.watch import watch as watch
    from viz.notebook.why import why as why

PACKAGE = Path(__file__).parent
IS_CHECKOUT = __name__ == "viz"
# A wheel has the pages inside the package, and assets/ is a distribution of its own.
PAGES = (PACKAGE.parent if IS_CHECKOUT else PACKAGE) / "pages"
ROOT = PACKAGE.parent if IS_CHECKOUT else PACKAGE.with_name("headlight_viz_data")
ASSETS = ROOT / "assets"


def __getattr__(name: str) -> Any:
    """``show``, ``why`` or ``watch`` when it is first asked for."""
    if name not in ("show", "why", "watch"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.notebook.{name}"), name)
