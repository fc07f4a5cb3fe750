"""Mistakes in what is said of maps: the atlas, two texts, long texts."""

import math
from dataclasses import replace

import torch

from pages.long_text import compute as long_compute
from tests.pages.faults.fault import Fault
from viz.components import comparison as packed_comparison
from viz.core.analysis import (
    map_statistics,
    saturation,
    score_parts,
)
from viz.core.analysis.atlas import evidence, summary
from viz.core.comparison import alignment
from viz.core.comparison import maps as two_texts
from viz.core.long import rows, shapes, streamed
from viz.models import stream
from viz.models.atlas import passes
from viz.models.long import capture as long_capture
from viz.models.long import packed

LONG = ("long map", "long map, a model", "along the text")

FAULTS = {
    # Reasons of a score
    "a score without the bias of its query": Fault(
        function=score_parts.split_score,
        wrong=lambda right, head, *a: right(replace(head, b_q=0 * head.b_q), *a),
        places=("why there",),
    ),
    "a change of scores that are not scaled": Fault(
        function=score_parts.split_change,
        wrong=lambda right, heads, *a: right([replace(head, scale=1.0) for head in heads], *a),
        places=("what changed",),
    ),
    # Head atlas
    "an interval that is twice as sure": Fault(
        function=evidence.gather,
        wrong=lambda right, values: replace(found := right(values), half=found.half / 2),
        places=("atlas, own lines",),
    ),
    "values of another text": Fault(
        function=summary._at,
        wrong=lambda right, values, texts: right(values.roll(1, 0), texts),
        places=("atlas, own lines",),
    ),
    "a correlation without its sign": Fault(
        function=summary.correlation, wrong=lambda right, *a: right(*a).abs() - 0.01, places=("atlas, two scores",)
    ),
    "heads counted one step lower": Fault(
        function=summary.histogram,
        wrong=lambda right, *a: (right(*a)[0], [counts.roll(-1) for counts in right(*a)[1]]),
        places=("atlas, spread",),
    ),
    "scores of the texts in another order": Fault(
        function=passes._run, wrong=lambda right, *a: right(*a).flip(2), places=("atlas, own lines",)
    ),
    # Statistics of maps
    "entropy in bits": Fault(
        function=map_statistics.entropy,
        wrong=lambda right, weights: right(weights) / math.log(2),
        places=("numbers", "locality", "ablation"),
    ),
    "the previous token for the next": Fault(
        function=map_statistics.weight_at_offset,
        wrong=lambda right, weights, offset: right(weights, -offset),
        places=("numbers", "real head", "atlas", "atlas, own lines"),
    ),
    "distance with a sign": Fault(
        function=map_statistics.distance,
        wrong=lambda _, w: (w * (torch.arange(w.shape[-1]) - torch.arange(w.shape[-2])[:, None])).sum(-1),
        places=("numbers", "locality"),
    ),
    "an even spread over everything": Fault(
        function=map_statistics.uniform,
        wrong=lambda _, allowed: torch.full(allowed.shape, 1 / allowed.shape[-1]),
        places=("locality",),
    ),
    "messages without W_O": Fault(
        function=map_statistics.message_norms,
        wrong=lambda _, v, w_o: v.norm(dim=-1),
        places=("arrivals", "compared, what arrives"),
    ),
    # Two texts
    "tokens paired by their place": Fault(
        function=alignment.align,
        wrong=lambda right, a, b, kinds=None: alignment.Alignment(
            tuple(alignment.Slot("same" if x == y else "replaced", i, i) for i, (x, y) in enumerate(zip(a, b)))  # noqa: B905
        ),
        places=("compared", "compared, what arrives", "one row compared"),
    ),
    "a word removed and put in for one that is replaced": Fault(
        function=alignment._equal,
        wrong=lambda right, a, b: right(a, b) if isinstance(a[0], str) else right(a, b) & False,
        places=("compared",),
    ),
    "the maps of two texts laid out in another order": Fault(
        function=two_texts.place_on_slots,
        wrong=lambda right, maps, places: right(maps.flip(-1), places),
        places=("compared", "compared, what arrives"),
    ),
    "rows of two texts as they are": Fault(
        function=two_texts.row_change,
        wrong=lambda _, a, b: (a - b).abs().nansum(-1) / 2,
        places=("compared", "compared, what arrives"),
    ),
    "the next words of sharper logits": Fault(
        function=stream.unembed, wrong=lambda right, *a: 2 * right(*a), places=("compared, a decoder",)
    ),
    "first less second": Fault(
        function=packed_comparison.difference_codes,
        wrong=lambda right, differences: right(-differences),
        places=("compared",),
    ),
    "the Jacobian with another sign": Fault(
        function=map_statistics.jacobian_norm,
        wrong=lambda _, w: (w.square().sum(-1) + 2 * w.pow(3).sum(-1) + w.square().sum(-1).square()).sqrt(),
        places=("saturation", "ablation"),
    ),
    "random scores that do not grow": Fault(
        function=saturation.random_scores,
        wrong=lambda right, widths, **o: right(widths, **o) / torch.tensor(widths).sqrt()[:, None, None],
        places=("saturation",),
    ),
    # A long text
    "a long map of other scores": Fault(
        function=streamed.long_map,
        wrong=lambda right, q, k, **options: right(q * 1.2, k, **options),
        places=LONG,
    ),
    "a long map of weights that later words see": Fault(
        function=streamed.long_map,
        wrong=lambda right, q, k, **options: right(q, k, **options | {"causal": True}),
        places=LONG,
    ),
    "a window one row too low": Fault(
        function=rows.window,
        wrong=lambda right, q, k, **options: right(q.roll(-1, 0), k, **options),
        places=LONG[:2],
    ),
    "a row of a long text without its scale": Fault(
        function=rows.weights_of_rows,
        wrong=lambda right, q, k, at, **options: right(q, k, at, **options | {"scale": 1.3}),
        places=LONG[:2],
    ),
    "q and k of a long text in half precision": Fault(
        function=packed.pack,
        wrong=lambda right, values: right(values.half().float()),
        places=LONG[1:2],
    ),
    "seeded heads of a long text exchanged": Fault(
        function=long_capture.long_seeded,
        wrong=lambda right, tokens, x, weights: right(tokens, x.flip(0), weights),
        places=LONG[:1],
    ),
    "a shape's blocks taken from the wrong end": Fault(
        function=shapes._blocks,
        wrong=lambda right, weights, at, budget: right(weights.flip(1), at, 2 * budget),
        places=("long wall",),
    ),
    "columns and diagonals with twice the keys": Fault(
        function=shapes._lines, wrong=lambda right, w, at, budget: right(w, at, 2 * budget), places=("long wall",)
    ),
    "small maps of rows that are not theirs": Fault(
        function=long_compute._cells,
        wrong=lambda right, weights, at: right(weights.flip(0), at),
        places=("long wall",),
    ),
}
