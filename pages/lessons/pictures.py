"""A small picture of each lesson's subject: shapes that the browser draws (``client/lesson/lesson_path.js``).

Rectangles are (x, y, width, height, opacity), lines an SVG path and its width, dots (x, y, radius).
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import torch
from torch import Tensor

from viz import ASSETS
from viz.core.attention import attend, row_softmax
from viz.core.cost.attention import kv_cache_bytes
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.core.variants.relative import quadratic_scores

SIDE = 96
"""Of a picture, in its own units."""
ROWS = 6
"""Of a map that is no model's."""
PALEST = 0.08
"""Opacity of a cell of weight 0."""


@cache
def pictures() -> Mapping[str, Mapping[str, Any]]:
    """Return the picture of each lesson by its name."""
    weights, it = _real_head()
    mask = causal(ROWS, ROWS).float()
    newest = torch.full((ROWS, 1), 0.3).index_fill(0, torch.tensor(ROWS - 1), 1.0)
    spec = AttentionSpec(d_model=64, n_heads=8, n_kv_heads=2)
    cache_bytes = [float(kv_cache_bytes(spec, n_tokens=n, n_layers=1)) for n in range(1, ROWS + 1)]
    window = row_softmax(quadratic_scores(torch.zeros(1, 2), torch.tensor([0.4]), (7, 7)))[0, 24].reshape(7, 7)
    return {
        "attention_from_nothing": _arcs([it], range(len(weights)), weights),
        "ten_minutes": _cells(weights),
        "one_head": _cells(_by_hand()),
        "many_heads": _links(4, 1),
        "masks_and_order": _cells(mask),
        "training_and_writing": _cells(newest * mask),
        "cache": _bars(torch.tensor(cache_bytes) / cache_bytes[-1]),
        "sharing": _links(spec.H, spec.G),
        "feed_forward": _bars(torch.tensor([1.0, 4.0, 1.0]) / 4),
        "probability": _bars(row_softmax(-0.7 * torch.arange(float(ROWS))[None])[0]),
        "does_it_explain": _bars(weights[it]),
        "why_there": _links(4, 4),
        "first_word": _arcs(range(len(weights)), [0], weights),
        "looks_at_everything": _cells(mask.flip(0) * mask.roll(2, 1)),
        "convolution": _cells(window / window.max()),
    }


def _real_head() -> tuple[Tensor, int]:
    """Return the map of the start page's head, and the place of the word that it begins with."""
    record = json.loads((ASSETS / "start.json").read_text("utf8"))[0]
    sentence = record["sentences"][0]
    words = [at for at, is_special in enumerate(sentence["special"]) if not is_special]
    weights = torch.tensor(sentence["weights"])[words][:, words].float()
    return weights / weights.max(), words.index(sentence["labels"].index(record["query"]))


def _by_hand() -> Tensor:
    """Return the weights of the head that the lessons compute by hand."""
    numbers = tomllib.loads((ASSETS / "by_hand.toml").read_text("utf8"))
    x, *matrices = (torch.tensor(numbers[name]).float() for name in ("x", "w_q", "w_k", "w_v"))
    return attend(*(x @ matrix for matrix in matrices)).weights


def _cells(weights: Tensor) -> Mapping[str, Any]:
    side = SIDE / len(weights)
    cells = [(x, y, float(weight)) for y, row in enumerate(weights) for x, weight in enumerate(row)]
    opacity = [PALEST + (1 - PALEST) * weight for *_, weight in cells]
    rects = [(x * side, y * side, side - 2, side - 2, o) for (x, y, _), o in zip(cells, opacity, strict=True)]
    return {"rects": [[round(number, 2) for number in rect] for rect in rects]}


def _bars(heights: Tensor) -> Mapping[str, Any]:
    width, pixels = SIDE / len(heights), (SIDE * heights).round().int().tolist()
    return {
        "rects": [[round(x * width, 1), SIDE - high, round(width - 2, 1), high, 1] for x, high in enumerate(pixels)]
    }


def _arcs(queries: Iterable[int], keys: Iterable[int], weights: Tensor) -> Mapping[str, Any]:
    """Return arcs from words to the words that they look at."""
    places = [round((at + 0.5) * SIDE / len(weights), 1) for at in range(len(weights))]
    ends = [(query, key) for query in queries for key in keys if query != key]
    lines = [
        [
            f"M{places[q]} 80A{abs(places[q] - places[k]) / 2:.1f} 60 0 0 {int(q < k)} {places[k]} 80",
            round(1 + 7 * float(weights[q, k]), 1),
        ]
        for q, k in ends
    ]
    return {"lines": lines, "dots": [[x, 86, 2.5] for x in places]}


def _links(n_heads: int, n_groups: int) -> Mapping[str, Any]:
    """Return heads above, what they share below, and a line from each to its own."""
    above, below = ([(at + 0.5) * SIDE / n for at in range(n)] for n in (n_heads, n_groups))
    lines = [[f"M{x} 16L{below[head * n_groups // n_heads]} 80", 2.4] for head, x in enumerate(above)]
    return {"lines": lines, "dots": [[x, 16, 4] for x in above] + [[x, 80, 8] for x in below]}
