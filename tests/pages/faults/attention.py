"""Mistakes in a head, in how heads are joined, and in masks."""

from dataclasses import replace

import torch

from tests.faults import Wrong
from tests.pages.faults.fault import Fault
from viz.core import attention, heads, masks
from viz.core.analysis import (
    grouped_module,
)
from viz.core.mistakes import kv_sharing as mistaken_sharing
from viz.frame import mask_code


def _with_w_o(change) -> Wrong:
    """``merge_heads`` with other weights at its end than the layer has."""

    def merge(right, q, k, v, weights, **options):
        return replace(right(q, k, v, replace(weights, **change(weights)), **options), projections=weights)

    return merge


def _exchanged(right, x, memory, weights, **options):
    """q is made by W_K, k by W_Q."""
    return replace(right(x, memory, replace(weights, w_q=weights.w_k, w_k=weights.w_q), **options), projections=weights)


def _unblocked(right, q, k, v, **options):
    """The mask is noted, and not used."""
    return replace(right(q, k, v, **options | {"allowed": None}), allowed=options.get("allowed"))


MASKED = (
    "all heads",
    "compared",
    "one row compared",
    "three words",
    "own numbers",
    "own Q, K, V",
    "row",
    "steps",
    "worked example",
    "weighted sum",
    "ablation",
    "editor, causal",
    "who shares",
    "sharing in code",
    "diagram",
    "encoder and decoder",
    "rollout",
    "locality",
)
"""Places with a mask that show what attention makes of it."""
ATTENTION = (
    *MASKED,
    "puzzle, one word",
    "puzzle, previous",
    "every mask",
    "decoding",
    "encodings",
    "who shares, MHA",
    "who shares, MQA",
    "growing cache",
    "cross-attention",
    "widths",
    "windows, causal",
    "rollout",
)
"""Places that show what attention makes of queries and keys."""


def _one_nan(right, masked):
    weights = right(masked).clone()
    weights[..., -1, 0] = torch.nan
    return weights


FAULTS = {
    # One head
    "no 1/sqrt(d_k)": Fault(
        function=attention.attend,
        wrong=lambda right, q, k, v, **o: right(q, k, v, **o | {"scale": 1.0}),
        places=(*ATTENTION, "rope"),
    ),
    "1/d_k for 1/sqrt(d_k)": Fault(
        function=attention.attend,
        wrong=lambda right, q, k, v, **o: right(q, k, v, **o | {"scale": 1 / q.shape[-1]}),
        places=(
            *ATTENTION,
            "rope",
            "all heads, a model",
            "steps, a model",
            "diagram, a model",
            "rollout, a model",
            "translation",
            "experts, logic",
            "vision",
            "vision, its training",
        ),
    ),
    "the opposite mask": Fault(
        function=attention.attend,
        wrong=lambda right, q, k, v, allowed=None, **o: right(
            q, k, v, allowed=None if allowed is None else ~allowed, **o
        ),
        places=(*MASKED, "polarity"),
    ),
    "no mask": Fault(
        function=attention.attend,
        wrong=lambda right, q, k, v, **o: right(q, k, v, **o | {"allowed": None}),
        places=(*MASKED, "polarity"),
    ),
    "a mask that is noted and not used": Fault(function=attention.attend, wrong=_unblocked, places=MASKED),
    "a bias with the other sign": Fault(
        function=attention.attend,
        wrong=lambda right, q, k, v, bias=None, **o: right(q, k, v, bias=None if bias is None else -bias, **o),
        places=("encodings", "shuffle", "windows", "picture", "difference"),
    ),
    "queries and keys exchanged": Fault(
        function=attention.attend,
        wrong=lambda right, q, k, v, **o: right(k, q, v, **o) if q.shape == k.shape else right(q, k, v, **o),
        places=("all heads", "steps", "editor, causal", "who shares, MHA", "diagram", "rollout", "locality"),
    ),
    "values of other tokens": Fault(
        function=attention.attend,
        wrong=lambda right, q, k, v, **o: right(q, k, v.flip(-2), **o),
        places=("all heads", "weighted sum", "editor, causal", "widths", "diagram"),
    ),
    "a softmax down the columns": Fault(
        function=attention.row_softmax,
        wrong=lambda right, masked: right(masked.mT).mT,
        places=("all heads", "row", "steps", "worked example", "every mask", "decoding", "shuffle", "widths"),
    ),
    "a softmax of half the scores": Fault(
        function=attention.row_softmax,
        wrong=lambda right, masked: right(masked / 2),
        places=(*ATTENTION, "arcs", "empty row", "saturation"),
    ),
    "a weight that is no number": Fault(function=attention.row_softmax, wrong=_one_nan, places=ATTENTION),
    # Many heads
    "keys shared by repeat": Fault(
        function=heads.share_kv,
        wrong=lambda _, x, n: torch.cat([x] * (n // x.shape[-3]), -3),
        places=("all heads", "steps", "who shares", "sharing in code"),
    ),
    "a module that tiles": Fault(
        function=grouped_module.load_grouped,
        wrong=lambda right, weights, version=None, **o: right(weights, mistaken_sharing.Tiled, **o),
        places=("sharing in code",),
    ),
    "a slip that runs": Fault(
        function=mistaken_sharing.FiveAxes.for_every_head,
        wrong=lambda right, module, x: mistaken_sharing.Tiled.for_every_head(module, x),
        places=("sharing in code",),
    ),
    "heads laid side by side the other way round": Fault(
        function=heads.concat_heads, wrong=lambda right, x: right(x.flip(-3)), places=("all heads", "joined")
    ),
    "heads cut across": Fault(
        function=heads.split_heads,
        wrong=lambda _, x, n: x.unflatten(-1, (-1, n)).movedim(-1, -3),
        places=("steps", "who shares", "cross-attention"),
    ),
    "W_O transposed": Fault(
        function=heads.merge_heads,
        wrong=_with_w_o(lambda w: {"w_o": w.w_o.T} if len(set(w.w_o.shape)) == 1 else {}),
        places=(
            "all heads",
            "all heads, a model",
            "joined",
            "switched off",
            "arrivals",
            "steps",
            "three words",
            "own numbers",
        ),
    ),
    "each head multiplied by another head's W_O": Fault(
        function=heads.merge_heads,
        wrong=_with_w_o(lambda w: {"w_o": w.w_o.roll(w.spec.d_v, 0)}),
        places=("all heads", "joined", "joined, a model", "switched off", "arrivals", "own numbers"),
    ),
    "no b_O": Fault(
        function=heads.merge_heads,
        wrong=_with_w_o(lambda _: {"b_o": None}),
        places=("all heads, a model", "joined, a model", "steps, a model"),
    ),
    "W_Q and W_K exchanged": Fault(
        function=heads.multi_head,
        wrong=lambda right, x, m, w, **o: (
            _exchanged(right, x, m, w, **o) if w.w_q.shape == w.w_k.shape else right(x, m, w, **o)
        ),
        places=("steps, MHA", "who shares, MHA", "own numbers"),
    ),
    # Masks
    "causal turned round": Fault(
        function=masks.causal,
        wrong=lambda right, n, m: right(n, m).flip(0, 1),
        places=(*MASKED, "windows, causal", "every mask", "too late", "polarity", "empty row"),
    ),
    "causal without the word itself": Fault(
        function=masks.causal,
        wrong=lambda right, n, m: right(n, m).tril(m - n - 1),
        places=(*MASKED, "windows, causal", "every mask", "too late", "polarity"),
    ),
    "a window one short": Fault(
        function=masks.window,
        wrong=lambda right, n, m, width: right(n, m, max(0, width - 1)),
        places=("all heads, window", "editor, window", "every mask", "receptive field"),
    ),
    "a dilated window without its gaps": Fault(
        function=masks.dilated, wrong=lambda right, n, m, width, step: right(n, m, width, 1), places=("every mask",)
    ),
    "a prefix one long": Fault(
        function=masks.prefix, wrong=lambda right, n, m, k: right(n, m, min(m, k + 1)), places=("every mask",)
    ),
    "a block one short": Fault(
        function=masks.blocks, wrong=lambda right, n, m, size: right(n, m, max(1, size - 1)), places=("every mask",)
    ),
    "one token of padding left open": Fault(
        function=masks.padding,
        wrong=lambda right, lengths, n: right([min(n, length + 1) for length in lengths], n),
        places=("all heads, both", "every mask"),
    ),
    "masks joined by or": Fault(
        function=masks.combine,
        wrong=lambda right, *given: (
            torch.stack([mask for mask in given if mask is not None]).any(0)
            if any(mask is not None for mask in given)
            else None
        ),
        places=("all heads, both", "every mask"),
    ),
    "a painted mask turned over its diagonal": Fault(
        function=mask_code.from_code, wrong=lambda right, code: right(code).T, places=("editor, painted",)
    ),
}
