"""The transformer as a diagram whose boxes are the pages: from words and their positions to the next word."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from viz.frame.sidebar import path_of
from viz.text import Translate

HIGH = 32
"""Height of every box, in pixels."""

Line = tuple[int, int, int, int]
"""A line as (x, y, x, y), or a frame as (x, y, width, height)."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Layout of the diagram on one kind of screen, in pixels.

    Args:
        name: of the screen: "wide" or "tall".
        size: width and height.
        boxes: each page's box, as (x, y, width).
        stack: the frame around the repeated layer, as (x, y, width, height); its name is a link too.
        attention: the frame around attention, likewise.
        arrows: lines from one box to the next.
    """

    name: str
    size: tuple[int, int]
    boxes: Mapping[str, tuple[int, int, int]]
    stack: Line
    attention: Line
    arrows: tuple[Line, ...]


STACKING = "stacking"
WIDE = Plan(
    name="wide",
    size=(888, 146),
    stack=(134, 1, 613, 144),
    attention=(142, 27, 483, 110),
    boxes={
        "positions": (1, 50, 118),
        "two_sequences": (1, 92, 118),
        "step_by_step": (150, 50, 109),
        "heads": (267, 50, 110),
        "many_heads": (385, 50, 143),
        "masks": (536, 50, 81),
        "share_kv": (150, 92, 150),
        "attention_today": (308, 92, 98),
        "convolution": (414, 92, 203),
        "block": (643, 50, 96),
        "atlas": (643, 92, 96),
        "next_word": (763, 20, 124),
        "long_text": (763, 62, 124),
        "cost": (763, 104, 124),
    },
    arrows=((119, 66, 134, 66), (119, 108, 134, 108), (625, 66, 643, 66), (747, 36, 763, 36)),
)
TALL = Plan(
    name="tall",
    size=(358, 452),
    stack=(1, 58, 356, 284),
    attention=(11, 86, 336, 192),
    boxes={
        "positions": (11, 1, 164),
        "two_sequences": (183, 1, 164),
        "step_by_step": (21, 110, 154),
        "heads": (183, 110, 154),
        "many_heads": (21, 150, 154),
        "masks": (183, 150, 154),
        "share_kv": (21, 190, 154),
        "attention_today": (183, 190, 154),
        "convolution": (21, 230, 316),
        "block": (21, 300, 154),
        "atlas": (183, 300, 154),
        "next_word": (11, 366, 164),
        "long_text": (183, 366, 164),
        "cost": (97, 410, 164),
    },
    arrows=((93, 33, 93, 58), (265, 33, 265, 58), (98, 278, 98, 300), (93, 342, 93, 366)),
)


def diagram(t: Translate, link: Mapping[str, str]) -> dict[str, Any]:
    """Return the diagram's data for the browser: both plans, of which the one that fits is shown, and the links.

    Args:
        t: the texts.
        link: query parameters that every box's link carries.
    """
    pages = {STACKING, *WIDE.boxes}
    return {
        "label": t("start.diagram"),
        "attention": t("start.attention"),
        "plans": [asdict(plan) for plan in (WIDE, TALL)],
        "high": HIGH,
        "repeated": STACKING,
        "names": {page: t(f"{page}.title") for page in sorted(pages)},
        "links": {page: f"{path_of(page)}?{urlencode(link)}" for page in sorted(pages)},
    }
