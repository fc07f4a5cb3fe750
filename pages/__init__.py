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

LOOK_UP = ("glossary", "about")
"""Where something is looked up: pages with no text and no sections, the last of the navigation."""

LESSONS = "lessons"
"""The list of lessons: a page with no text and no sections either, the first of the navigation."""

_FOLDERS = {file.parent.name for file in Path(__file__).parent.glob("*/page.py")}
_NEW = sorted(_FOLDERS.difference(*_PLACED.values(), LOOK_UP, (LESSONS,)))
"""Folders that have no place above yet stand at the end."""

_GROUPS = _PLACED | {"deeper": (*_PLACED["deeper"], *_NEW)}
PAGES = tuple(name for group in _GROUPS.values() for name in group)
EVERY = (*PAGES, LESSONS, *LOOK_UP)
NAVIGATION = _GROUPS | {"basics": (LESSONS, *_GROUPS["basics"]), "look_up": LOOK_UP}
