"""Order and groups of the pages, one folder each; no page imports another."""

from pathlib import Path

from viz import PACKAGE

FIRST = "start"
"""The page that opens at ``/``: what this is, and the ways in. It has no text and no sections."""

HEADS = "heads"
"""The page that is embedded where a link to ``/`` is."""

_PAGES_BY_GROUP = {
    "basics": ("step_by_step", "heads", "many_heads", "masks", "positions"),
    "whole": ("block", "stacking", "two_sequences", "next_word", "long_text"),
    "deeper": ("share_kv", "attention_today", "convolution", "cost", "atlas"),
}
"""The names of the pages, which are their folders, by group, in an order one can learn in."""

LOOK_UP = ("glossary", "about")
"""Reference pages without text and sections, last in the navigation."""

LESSONS = "lessons"
"""The list of lessons: a page with no text and no sections either, the first of the navigation but for ``FIRST``."""

_OF_MODES = (LESSONS,) if (PACKAGE / "modes" / "lesson").is_dir() else ()
"""Pages that are there with their mode alone."""

_FOLDERS = {file.parent.name for file in Path(__file__).parent.glob("*/page.py")}
_NEW = sorted(_FOLDERS.difference(*_PAGES_BY_GROUP.values(), LOOK_UP, (FIRST, LESSONS)))
"""Folders that have no place above yet stand at the end."""

_GROUPS = _PAGES_BY_GROUP | {"deeper": (*_PAGES_BY_GROUP["deeper"], *_NEW)}
PAGES = tuple(name for group in _GROUPS.values() for name in group)
EVERY = (FIRST, *PAGES, *_OF_MODES, *LOOK_UP)
NAVIGATION = (
    {"basics": (FIRST, *_OF_MODES, *_GROUPS["basics"])}
    | {group: names for group, names in _GROUPS.items() if group != "basics"}
    | {"look_up": LOOK_UP}
)
