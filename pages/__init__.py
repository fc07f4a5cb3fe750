"""One folder for each page; no page imports a neighbour. This is their order, and the groups they stand in."""

from pathlib import Path

FIRST = "heads"
"""The page that opens at ``/``."""

_PLACED = {
    "basics": ("step_by_step", "heads", "many_heads", "masks", "positions"),
    "whole": ("block", "stacking", "two_sequences", "next_word"),
    "deeper": ("share_kv", "convolution", "cost"),
}
"""The names of the pages, which are their folders, by group, in an order one can learn in."""

_NEW = sorted({file.parent.name for file in Path(__file__).parent.glob("*/page.py")}.difference(*_PLACED.values()))
"""Folders that have no place above yet stand at the end."""

NAVIGATION = _PLACED | {"deeper": (*_PLACED["deeper"], *_NEW)}
PAGES = tuple(name for group in NAVIGATION.values() for name in group)
