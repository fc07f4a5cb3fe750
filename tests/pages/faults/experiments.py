"""Mistakes in experiments: several heads, puzzles, the next word, trained models."""

import math
from dataclasses import replace

from tests.pages.faults.fault import Fault
from viz.core import heads
from viz.core.analysis import (
    attribution,
    lens,
    puzzles,
    several_heads,
    torch_module,
)
from viz.models import interventions, stream
from viz.models.trained import digits, twins

FAULTS = {
    # Why many heads
    "previous for next": Fault(
        function=several_heads.offset_scores,
        wrong=lambda right, n, shares: right(n, {-offset: share for offset, share in shares.items()}),
        places=("two places",),
    ),
    "distances of heads, squared": Fault(
        function=several_heads.head_distances,
        wrong=lambda right, weights: right(weights).square(),
        places=("heads that differ",),
    ),
    "a pattern turned over its diagonal": Fault(
        function=several_heads.pattern_share,
        wrong=lambda right, weights, target: right(weights, target.T),
        places=("experts",),
    ),
    "a pattern that counts each word's first key alone": Fault(
        function=several_heads.pattern_share,
        wrong=lambda right, weights, target: right(weights, target & (target.cumsum(-1) == 1)) / 2,
        places=("experts", "experts, logic"),
    ),
    "heads cut in the other order": Fault(
        function=heads.split_heads, wrong=lambda right, x, n: right(x, n).flip(-3), places=("inputs of a head", "split")
    ),
    "a batch's heads laid side by side in the other order": Fault(
        function=torch_module.MultiHeadAttention.split,
        wrong=lambda right, module, x: right(module, x).flip(-1),
        places=("split",),
    ),
    "a direction left out": Fault(
        function=several_heads.score_form,
        wrong=lambda right, w_q, w_k: right(w_q[:, 1:], w_k[:, 1:]),
        places=("rank",),
    ),
    # Puzzles
    "a weight read down the column": Fault(
        function=puzzles.check_weight,
        wrong=lambda right, weights, *a, **o: right(weights.T, *a, **o),
        places=("puzzle, one word, solved",),
    ),
    "a verdict that is easily pleased": Fault(
        function=puzzles.check_weight,
        wrong=lambda right, *a, least: right(*a, least=least / 10),
        places=("puzzle, one word",),
    ),
    "the next word for the one before": Fault(
        function=puzzles.check_copies_previous,
        wrong=lambda right, weights, *a, **o: right(weights.T, *a, **o),
        places=("puzzle, previous, solved",),
    ),
    "a copy that is easily pleased": Fault(
        function=puzzles.check_copies_previous,
        wrong=lambda right, *a, least, off: right(*a, least=least / 10, off=off),
        places=("puzzle, previous",),
    ),
    "a copy of the word itself": Fault(
        function=puzzles.check_copies_previous,
        wrong=lambda right, weights, written, words, **o: right(weights, written, words.roll(-1, 0), **o),
        places=("puzzle, previous, solved",),
    ),
    "heads that are added up without their signs": Fault(
        function=puzzles.check_cancellation,
        wrong=lambda right, contributions, **o: right(contributions.abs(), **o),
        places=("puzzle, cancel, solved",),
    ),
    "one head that is left out of the sum": Fault(
        function=puzzles.check_cancellation,
        wrong=lambda right, contributions, **o: right(contributions[1:], **o),
        places=("puzzle, cancel", "puzzle, cancel, solved"),
    ),
    # The next word
    "a surprise in nats": Fault(
        function=lens.surprise, wrong=lambda right, *a: right(*a) * math.log(2), places=("next word",)
    ),
    "a lens without the final norm": Fault(
        function=lens.logit_lens, wrong=lambda _, stream, __, unembed: unembed(stream), places=("layer by layer",)
    ),
    "a rank from 0": Fault(function=lens.rank, wrong=lambda right, *a: right(*a) - 1, places=("layer by layer",)),
    "a norm that is not held": Fault(
        function=attribution.final_norm_direction,
        wrong=lambda right, read, x, weights, **o: right(read, x, replace(weights, gain=weights.gain**0), **o),
        places=("who wrote it", "who wrote it, one word"),
    ),
    "parts without the feed-forward networks": Fault(
        function=attribution.attribute,
        wrong=lambda right, written, *a, **o: replace(
            found := right(written, *a, **o), feed_forward=found.heads[:, 0] * 0
        ),
        places=("who wrote it", "who wrote it, one word"),
    ),
    "the next head instead": Fault(
        function=interventions.replaced,
        wrong=lambda right, heads, values: right([(head + 1) % 8 for head in heads], values),
        places=("heads off", "heads at their mean"),
    ),
    "zero for the mean": Fault(
        function=interventions.without,
        wrong=lambda right, *a, mean: right(*a, mean=False),
        places=("heads at their mean",),
    ),
    "edits that nobody makes": Fault(
        function=stream._by_module, wrong=lambda *_: {}, places=("heads off", "heads at their mean")
    ),
    "another head's output": Fault(
        function=interventions.one_in_each, wrong=lambda right, values: right(values.roll(1, 1)), places=("swap",)
    ),
    "the layer above": Fault(
        function=interventions.patch_layer,
        wrong=lambda right, model, reading, other, layer, at: right(model, reading, other, 1 - layer, at),
        places=("swap",),
    ),
    # Trained models
    "digits read with the ink as paper": Fault(
        function=digits.pixels,
        wrong=lambda right, levels: -right(levels),
        places=("vision, its training",),
    ),
    "an accuracy of all words": Fault(
        function=twins.measure, wrong=lambda right, *a, **o: (right(*a, **o)[0], 0.9), places=("copying",)
    ),
}
