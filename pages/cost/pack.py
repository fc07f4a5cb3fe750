"""Data of the picture of paths: the words, and the steps of each architecture between them."""

from collections.abc import Callable, Sequence
from typing import Any

from viz.core.cost.architectures import ARCHITECTURES, Sizes
from viz.figures.palette import BLUE, GREY, ORANGE

STRIDE_STYLES = {
    "self_attention": "direct",
    "window": "even",
    "convolution": "even",
    "dilated": "gaps",
    "recurrence": "chain",
}
"""Styles of paths in ``client/cost/paths.js``: direct, even strides, growing gaps, step by step."""


def paths_data(sizes: Sizes, tokens: Sequence[str], t: Callable[..., str]) -> dict[str, Any]:
    """Everything the picture needs; the numbers of steps are the core's, by distance."""
    panels = [
        {
            "name": architecture.name,
            "label": t(f"cost.{architecture.name}"),
            "draw": STRIDE_STYLES[architecture.name],
            "reach": sizes.reach,
            "base": sizes.k,
            "steps": [architecture.steps(sizes, distance) for distance in range(len(tokens))],
        }
        for architecture in ARCHITECTURES
    ]
    words = ("path_from", "path_to", "path_says", "path_steps", "path_none", "path_never", "path_alt")
    return {
        "tokens": list(tokens),
        "panels": panels,
        "words": {name: t(f"cost.{name}") for name in words},
        "hues": {"way": ORANGE, "view": BLUE, "rest": GREY},
    }
