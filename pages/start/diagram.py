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
    stack=(150, 1, 576, 144),
    attention=(160, 27, 434, 110),
    boxes={
        "positions": (1, 50, 126),
        "two_sequences": (1, 92, 126),
        "step_by_step": (170, 50, 96),
        "heads": (274, 50, 98),
        "many_heads": (380, 50, 130),
        "masks": (518, 50, 66),
        "share_kv": (170, 92, 180),
        "convolution": (358, 92, 226),
        "attention_today": (614, 18, 104),
        "block": (620, 58, 94),
        "atlas": (620, 100, 94),
        "next_word": (750, 20, 136),
        "long_text": (750, 62, 136),
        "cost": (750, 104, 136),
    },
    arrows=((127, 66, 150, 66), (127, 108, 150, 108), (594, 74, 620, 74), (726, 36, 750, 36)),
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
