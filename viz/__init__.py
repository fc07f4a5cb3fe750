"""Headlight: every idea of multi-head attention, touchable. Start reading at ``viz/core/attention.py``.

``viz.show(model, tokenizer, text)`` and ``viz.show(attentions, tokens)`` are for notebooks (``viz/notebook/show.py``);
nothing is imported for them before they are called.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viz.notebook.show import show as show

ROOT = Path(__file__).parents[1]
ASSETS = ROOT / "assets"


def __getattr__(name: str) -> Any:
    """``show`` when it is first asked for."""
    if name != "show":
        raise AttributeError(f"module 'viz' has no attribute {name!r}")
    from viz.notebook.show import show

    return show
