"""Mistakes put into the core on purpose: a live check of every section that shows what they change turns red.

A table: the function, what it does instead, and the places (sections, opened by a link) that must notice. The page of
costs has a table of its own, ``tests/pages/cost/test_faults.py``; its mixes of layers stand here, as they need several
links.
"""

import math
from dataclasses import replace

import pytest
import torch

from pages import PAGES
from pages.attention_today import trained as trained_today
from pages.cost.mixes.models import Model
from pages.long_text import compute as long_compute
from pages.step_by_step.own_numbers import puzzles as game
from pages.step_by_step.own_numbers.example import presets
from pages.step_by_step.own_numbers.numbers import to_code
from tests.faults import Wrong
from tests.pages.faults import Fault, failure_to_notice, open_correct
from tests.sections import views_of
from viz.components import comparison as packed_comparison
from viz.core import attention, feed_forward, heads, masks, norm, positions, stack, sublayer
from viz.core.analysis import (
    attribution,
    grouped_module,
    lens,
    map_statistics,
    plane_fit,
    puzzles,
    receptive_field,
    rollout,
    saturation,
    several_heads,
    token_similarity,
    torch_module,
    window_fit,
)
from viz.core.analysis.atlas import evidence, summary
from viz.core.comparison import alignment
from viz.core.comparison import maps as two_texts
from viz.core.cost import attention as cost
from viz.core.cost import mixed
from viz.core.long import rows, shapes, streamed
from viz.core.mistakes import kv_sharing as mistaken_sharing
from viz.core.mistakes import relative as mistaken_windows
from viz.core.variants import decoding, encodings, general_heads, kv_sharing, layer_sharing, relative, scoring
from viz.core.variants.today import (
    angles,
    bounded_scores,
    delta,
    differential,
    dilution,
    gates,
    interleaved,
    latent,
    linear,
    rolling,
    selection,
    sinks,
)
from viz.frame import mask_code
from viz.models import generation, interventions, stream
from viz.models.atlas import passes
from viz.models.long import capture as long_capture
from viz.models.long import packed
from viz.models.trained import digits, twins
from viz.models.trained.today import modules as today_modules
from viz.models.trained.today import summary as today_summary
from viz.models.trained.today import train as today_train

SEEDED = "source=words&text=one+two+three+four+five+two&n_heads=4"


LINES = "the+old+cat%0Athe+cat+sees+the+dog%0Aa+red+house+is+big"


def solved(puzzle: str) -> str:
    """A puzzle's solution, as a link has it."""
    return to_code(game.puzzles()[puzzle].solution)


PLACES = {
    # Head atlas
    "atlas": "atlas/map?atlas_score=previous",
    "atlas, two scores": "atlas/scatter",
    "atlas, spread": "atlas/spread",
    "atlas, own lines": f"atlas/map?model=twin-g1&atlas_corpus=own&text={LINES}",
    # Heads
    "all heads": f"heads/all_heads?{SEEDED}&n_kv_heads=2&mask=causal",
    "all heads, a model": "heads/all_heads",
    "all heads, window": f"heads/all_heads?{SEEDED}&mask=window&width=1",
    "all heads, both": f"heads/all_heads?{SEEDED}&mask=both&pad=2",
    "compared": f"heads/compare?{SEEDED}&n_kv_heads=2&mask=causal&text_b=one+two+and+six+four+five+two",
    "compared, what arrives": f"heads/compare?{SEEDED}&n_kv_heads=2&compared=arrives&text_b=one+six+three",
    "compared, a decoder": "heads/compare?model=twin-g8&text=red+blue+red&text_b=red+blue+blue",
    "row": f"heads/all_heads?heads_view=row&{SEEDED}&mask=causal",
    "arrivals": "heads/arrivals",
    "joined": f"heads/joined?{SEEDED}",
    "joined, a model": "heads/joined",
    "switched off": "heads/switched_off?off=1",
    "numbers": "heads/numbers",
    # Why many heads
    "two places": f"many_heads/two_places?{SEEDED}",
    "heads that differ": f"many_heads/experts?experts_view=differ&{SEEDED}&mask=causal",
    "inputs of a head": f"many_heads/inputs?{SEEDED}",
    "rank": f"many_heads/inputs?inputs_view=rank&{SEEDED}",
    "experts": f"many_heads/experts?{SEEDED}&mask=causal",
    "experts, logic": "many_heads/experts?logic=1",
    # Step by step
    "three words": "step_by_step/three_words?hand_causal=1",
    "own numbers": "step_by_step/own_numbers?own_causal=1",
    "own Q, K, V": f"step_by_step/own_numbers?own_causal=1&own={to_code(presets()['three_rows'])}",
    "puzzle, one word": "step_by_step/puzzles",
    "puzzle, one word, solved": f"step_by_step/puzzles?puzzle_only_one={solved('only_one')}",
    "puzzle, previous": "step_by_step/puzzles?puzzle=previous",
    "puzzle, previous, solved": f"step_by_step/puzzles?puzzle=previous&puzzle_previous={solved('previous')}",
    "puzzle, cancel": "step_by_step/puzzles?puzzle=cancel",
    "puzzle, cancel, solved": f"step_by_step/puzzles?puzzle=cancel&puzzle_cancel={solved('cancel')}",
    "steps": f"step_by_step/steps?{SEEDED}&n_kv_heads=2&mask=causal",
    "steps, MHA": f"step_by_step/steps?{SEEDED}",
    "steps, a model": "step_by_step/steps",
    "worked example": f"step_by_step/steps?step=7&every_term=1&{SEEDED}&mask=causal",
    "weighted sum": f"step_by_step/steps?step=8&every_term=1&{SEEDED}&mask=causal",
    "one row compared": f"heads/compare?compare_view=row&{SEEDED}&mask=causal&query=3"
    "&text_b=one+and+two+six+four+five+two",
    "split": f"step_by_step/split?{SEEDED}",
    "saturation": f"step_by_step/saturation?{SEEDED}",
    "ablation": f"step_by_step/ablation?{SEEDED}&mask=causal",
    # Masks
    "editor, causal": f"masks/editor?{SEEDED}&mask=causal",
    "editor, window": f"masks/editor?{SEEDED}&mask=window&width=1",
    "editor, painted": f"masks/editor?{SEEDED}&mask=painted&painted=3.m4A",
    "every mask": f"masks/editor?costs=1&mask=own&{SEEDED}",
    "layers with windows": f"masks/layers?{SEEDED}&pattern=none&stack=2&near_size=2",
    "layers with chunks": f"masks/layers?{SEEDED}&near=chunks&near_size=2",
    "layers, 1 to 1": f"masks/layers?{SEEDED}&pattern=one&near_size=2&stack=2",
    "the 2 largest": f"masks/top_k?{SEEDED}&mask=causal&keep=2",
    "the 2 largest of equals": "masks/top_k?source=words&text=a+b+a+a&n_heads=1&mask=own&keep=2",
    "decoding": f"masks/decoding?{SEEDED}",
    "empty row": f"masks/mistakes?mistake=empty_row&{SEEDED}&mask=causal",
    "too late": f"masks/mistakes?{SEEDED}&mask=causal",
    "polarity": f"masks/mistakes?mistake=polarity&{SEEDED}&mask=causal",
    # Positions
    "shuffle": f"positions/shuffle?{SEEDED}&need=alibi",
    "real head": "positions/real_head",
    "sinusoids": f"positions/sinusoids?{SEEDED}",
    "added": f"positions/added?{SEEDED}",
    "step": f"positions/step?{SEEDED}",
    "encodings": f"positions/encodings?{SEEDED}",
    "rope": f"positions/rope?{SEEDED}",
    "positions of today": f"positions/today?{SEEDED}&d_model=64&today_share=0.5&today_length=64",
    "positions of today, all turn": f"positions/today?{SEEDED}&d_model=64&today_factor=1",
    "without positions": f"positions/no_positions?{SEEDED}&nope_floor=64",
    "far": f"positions/far?{SEEDED}",
    # Attention today
    "to nobody": f"attention_today/nobody?{SEEDED}&mask=causal",
    "tamed scores": f"attention_today/tamed?{SEEDED}&tamed=norm",
    "output gate": f"attention_today/gate?{SEEDED}",
    "difference of two maps": f"attention_today/difference?{SEEDED}",
    "delta rule": f"attention_today/state?{SEEDED}",
    "linear attention": f"attention_today/state?{SEEDED}&state=linear&fade=0.8",
    "small decoders": f"attention_today/trained?{SEEDED}",
    "who uses what": f"attention_today/who_uses?{SEEDED}",
    # Convolution
    "windows": f"convolution/windows?{SEEDED}",
    "picture": f"convolution/picture?{SEEDED}",
    "difference": f"convolution/difference?{SEEDED}",
    "windows, causal": f"convolution/windows?{SEEDED}&mask=causal&mix=1",
    "filters": f"convolution/filters?{SEEDED}",
    "kernel in W_O": f"convolution/kernel_in_w_o?{SEEDED}&kernel=sobel",
    "slip, farthest": f"convolution/slips?{SEEDED}",
    "slip, mirrored": f"convolution/slips?{SEEDED}&slip=mirrored",
    "slip, worked pair": f"convolution/slips?{SEEDED}&slip=example",
    "slip, a head is a kernel": f"convolution/slips?{SEEDED}&slip=tap",
    "slip, too narrow": f"convolution/slips?{SEEDED}&slip=width",
    "sharpness": f"convolution/sharpness?{SEEDED}",
    "comparison": f"convolution/comparison?{SEEDED}",
    "likeness": "convolution/likeness",
    "vision": f"convolution/vision?{SEEDED}",
    "vision, its training": f"convolution/vision_training?{SEEDED}",
    # Sharing
    "who shares": f"share_kv/who_shares?{SEEDED}&n_kv_heads=2&mask=causal",
    "who shares, MHA": f"share_kv/who_shares?{SEEDED}&n_kv_heads=4",
    "who shares, MQA": f"share_kv/who_shares?{SEEDED}&n_kv_heads=1&mask=causal",
    "sharing in code": f"share_kv/in_code?{SEEDED}&n_kv_heads=2&mask=causal",
    "growing cache": f"share_kv/growing_cache?{SEEDED}&n_kv_heads=2",
    "across layers": f"share_kv/across_layers?{SEEDED}&group_size=3&reading_layer=2&mask=causal",
    "across layers, a model": "share_kv/across_layers?group_size=2",
    "windows in the cache": f"share_kv/windows?{SEEDED}&n_kv_heads=2&cache_pattern=one&cache_window=2&tokens_read=5",
    "windows in the cache, a model": "share_kv/windows?cache_pattern=three&cache_window=4&n_kv_heads=2",
    "models of today": "share_kv/recent",
    "latent vector": f"share_kv/latent?{SEEDED}&n_kv_heads=2&mask=causal",
    "latent vector, a model": "share_kv/latent?n_kv_heads=2",
    "savings": f"share_kv/savings?{SEEDED}&n_kv_heads=2",
    "published": f"share_kv/published?{SEEDED}&n_kv_heads=2",
    "speed": f"share_kv/speed?{SEEDED}&n_kv_heads=2",
    "trained": f"share_kv/trained?{SEEDED}&n_kv_heads=2",
    "converted": "share_kv/converted?n_kv_heads=6",
    "copying": f"share_kv/copying?{SEEDED}&n_kv_heads=2",
    # What it costs
    "mix with windows": "cost/mixes?cost_n=5000&mix_layers=6",
    "mix with states": "cost/mixes?mix_kind=linear&mix_pattern=three&mix_layers=9",
    "mix with MLA": "cost/mixes?mix_kind=latent&mix_pattern=one",
    "mix with selection": "cost/mixes?mix_kind=select&mix_size=64",
    # Two sequences
    "cross-attention": f"two_sequences/cross_attention?{SEEDED}&target=six+seven",
    "scoring": f"two_sequences/scoring?{SEEDED}&target=six+seven",
    "both kinds": f"two_sequences/kinds?{SEEDED}&target=six+seven&kinds_mask=padding",
    "widths": f"two_sequences/widths?{SEEDED}&target=six+seven",
    "translation": f"two_sequences/translation?{SEEDED}&target=six+seven",
    "differences": f"two_sequences/differences?{SEEDED}&target=six+seven",
    # Block
    "diagram": f"block/diagram?{SEEDED}&mask=causal",
    "diagram, a model": "block/diagram",
    "points": f"block/points?{SEEDED}",
    "norm place": f"block/norm_place?{SEEDED}",
    "encoder and decoder": f"block/encoder_decoder?{SEEDED}&target=six+seven",
    "parts off": f"block/switched_off?{SEEDED}",
    # Stacking
    "rollout": f"stacking/rollout?{SEEDED}&mask=causal",
    "rollout, a model": "stacking/rollout",
    "gradient": f"stacking/gradient?{SEEDED}&depth=3",
    "receptive field": f"stacking/receptive_field?{SEEDED}&depth=2",
    "oversmoothing": f"stacking/oversmoothing?{SEEDED}",
    "locality": f"stacking/locality?{SEEDED}&mask=causal",
    "layer sharing": f"stacking/layer_sharing?{SEEDED}",
    # The next word
    "next word": "next_word/next_word",
    "layer by layer": "next_word/logit_lens",
    "who wrote it": "next_word/attribution",
    "who wrote it, one word": "next_word/attribution?against=%E2%88%85&next_at=7",
    "heads off": "next_word/switch_off",
    "heads at their mean": "next_word/switch_off?cut_by=mean&cut=1-9",
    "swap": "next_word/swap",
    # A long text
    "long map": f"long_text/map?{SEEDED}",
    "long map, a model": "long_text/map",
    "along the text": f"long_text/rows?{SEEDED}",
    "long wall": "long_text/wall?source=words&n_heads=2&long_times=8&text=one+two+three+four+five+two+six+seven",
}


def _with_w_o(change) -> Wrong:
    """``merge_heads`` with other weights at its end than the layer has."""

    def merge(right, q, k, v, weights, **options):
        return replace(right(q, k, v, replace(weights, **change(weights)), **options), projections=weights)

    return merge


def _rope(right, x, *, base=10_000.0, pairing, positions=None):
    places = torch.arange(x.shape[-2]) if positions is None else positions
    return right(x, base=base, pairing=pairing, positions=-places)


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


MIXES = ("mix with windows", "mix with states", "mix with MLA", "mix with selection")
"""Places with a mix of layers; below each stands the table of published models."""


def _one_nan(right, masked):
    weights = right(masked).clone()
    weights[..., -1, 0] = torch.nan
    return weights


def _half_of_each(right, *sizes, **options):
    counts = right(*sizes, **options)
    return replace(counts, **{name: value // 2 for name, value in vars(counts).items()})


FAULTS = {
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
        places=(*ATTENTION, "empty row", "saturation"),
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
    # Positions
    "sine and cosine exchanged": Fault(
        function=positions.sinusoidal,
        wrong=lambda right, *a, **o: right(*a, **o).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
        places=("sinusoids", "added", "step"),
    ),
    "other frequencies": Fault(
        function=positions.frequencies,
        wrong=lambda right, width, *, base=10_000.0: 2 * right(width, base=base),
        places=("sinusoids", "added", "step", "rope", "far", "encodings"),
    ),
    "RoPE backwards": Fault(function=positions.rope, wrong=_rope, places=("rope", "encodings")),
    "RoPE with the other pairing": Fault(
        function=positions.rope,
        wrong=lambda right, x, *, pairing, **o: right(
            x, pairing="halves" if pairing == "adjacent" else "adjacent", **o
        ),
        places=("rope", "encodings"),
    ),
    "RoPE at half the speed": Fault(
        function=positions.rope,
        wrong=lambda right, x, *, base=10_000.0, pairing, positions=None: right(
            x,
            base=base,
            pairing=pairing,
            positions=(torch.arange(x.shape[-2]) if positions is None else positions) // 2,
        ),
        places=("rope", "encodings"),
    ),
    "ALiBi without its absolute value": Fault(
        function=positions.alibi,
        wrong=lambda _, h, n, m: -positions.alibi_slopes(h)[:, None, None] * positions.offsets(n, m).float(),
        places=("encodings", "far", "shuffle"),
    ),
    "ALiBi twice as steep": Fault(
        function=positions.alibi_slopes, wrong=lambda right, h: 2 * right(h), places=("encodings", "far", "shuffle")
    ),
    "T5's directions exchanged": Fault(
        function=positions.t5_buckets, wrong=lambda right, offset, **o: right(-offset, **o), places=("encodings", "far")
    ),
    "T5's last bucket begins at 64": Fault(
        function=positions.t5_buckets,
        wrong=lambda right, offset, **o: right(offset, **o | {"max_distance": 64}),
        places=("far",),
    ),
    "no scale in the table that is added": Fault(
        function=encodings.Encoding.scale_table,
        wrong=lambda right, self, gain: right(self, 2 * gain),
        places=("added",),
    ),
    "a shuffle that is not undone": Fault(
        function=encodings.restore_order, wrong=lambda _, weights, order: weights, places=("shuffle",)
    ),
    # Convolution
    "query minus key": Fault(
        function=relative.shifts,
        wrong=lambda right, *grid: -right(*grid),
        places=(
            *("windows", "filters", "picture", "difference"),
            *("slip, farthest", "slip, mirrored", "slip, a head is a kernel", "slip, too narrow", "comparison"),
        ),
    ),
    "a window without its square": Fault(
        function=relative.quadratic_scores,
        wrong=lambda right, *a: -right(*a).abs().sqrt(),
        places=("windows", "picture", "sharpness", "comparison"),
    ),
    "a head without its centre": Fault(
        function=relative.position_vectors,
        wrong=lambda right, offset, *rest: right(0 * offset, *rest),
        places=("slip, farthest", "slip, worked pair"),
    ),
    "a slip that is none": Fault(
        function=mistaken_windows.shift_for_centre,
        wrong=lambda right, *rest: -right(*rest),
        places=("slip, farthest",),
    ),
    "a sign that is not turned": Fault(
        function=mistaken_windows.query_minus_key, wrong=lambda _, heads: heads, places=("slip, mirrored",)
    ),
    "narrow heads that are one wider": Fault(
        function=mistaken_windows.narrow_heads,
        wrong=lambda right, kernel, d_v, **o: right(kernel, d_v + 1, **o),
        places=("slip, too narrow",),
    ),
    # Sharing
    "a cache that counts H for G": Fault(
        function=cost.kv_cache_bytes,
        wrong=lambda right, spec, **o: right(replace(spec, n_kv_heads=spec.H), **o),
        places=("growing cache", "savings", "published"),
    ),
    "parameters that do not share": Fault(
        function=cost.parameters,
        wrong=lambda right, spec, **o: right(replace(spec, n_kv_heads=spec.H), **o),
        places=("savings",),
    ),
    "a cache that has lost its first token": Fault(
        function=kv_sharing.decode_step,
        wrong=lambda right, q, k, v, **o: right(
            q, k[:, -max(1, k.shape[1] - 1) :], v[:, -max(1, v.shape[1] - 1) :], **o
        ),
        places=("growing cache", "decoding", "speed"),
    ),
    "a sum for the mean of a group": Fault(
        function=kv_sharing.pool_heads,
        wrong=lambda right, x, n: right(x, n) * (len(x) // n),
        places=("converted",),
    ),
    "a newcomer that takes twice": Fault(
        function=decoding.weight_taken_by_new_token, wrong=lambda right, scores: 2 * right(scores), places=("decoding",)
    ),
    # Two sequences
    "additive scoring without tanh": Fault(
        function=scoring.additive,
        wrong=lambda _, q, k, w: ((q @ w.w_q)[..., :, None, :] + (k @ w.w_k)[..., None, :, :]) @ w.w_v,
        places=("scoring", "both kinds"),
    ),
    "a scaled product that is not scaled": Fault(
        function=scoring.scaled_dot, wrong=lambda _, q, k: q @ k.mT, places=("scoring", "both kinds")
    ),
    "heads of both kinds without their mask": Fault(
        function=general_heads.general_heads,
        wrong=lambda right, *a, **o: right(*a, **o | {"allowed": None}),
        places=("both kinds",),
    ),
    "both kinds laid side by side the other way round": Fault(
        function=general_heads.general_heads,
        wrong=lambda right, q, k, v, heads, w_o, **o: right(q, k, v, heads, w_o.roll(1, 0), **o),
        places=("both kinds",),
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
    # Blocks
    "a norm with the unbiased deviation": Fault(
        function=norm.standardize,
        wrong=lambda right, x, *, eps=0.0: right(x, eps=eps) * ((x.shape[-1] - 1) / x.shape[-1]) ** 0.5,
        places=("points", "norm place", "diagram", "diagram, a model", "parts off"),
    ),
    "post for pre": Fault(
        function=sublayer.post_norm,
        wrong=lambda _, *a, **o: sublayer.pre_norm(*a, **o),
        places=("norm place", "diagram", "diagram, a model", "parts off", "rollout, a model"),
    ),
    "no residual": Fault(
        function=sublayer.post_norm,
        wrong=lambda right, *a, residual: right(*a, residual=False),
        places=("diagram", "diagram, a model", "norm place", "parts off"),
    ),
    "no bias in the feed-forward layer": Fault(
        function=feed_forward.feed_forward,
        wrong=lambda right, x, w, **o: right(x, replace(w, b_in=None), **o),
        places=("diagram, a model", "rollout, a model"),
    ),
    "no activation": Fault(
        function=feed_forward.feed_forward,
        wrong=lambda right, x, w, **o: right(x, w, activation=lambda u: u),
        places=("diagram", "diagram, a model", "norm place", "parts off"),
    ),
    "a stack whose layers all read the words": Fault(
        function=stack.stack,
        wrong=lambda right, x, weights, **o: tuple(
            right(x, weights[i : i + 1], **o | {"attentions": o["attentions"] and o["attentions"][i : i + 1]})[0]
            for i in range(len(weights))
        ),
        places=("parts off", "rollout, a model"),
    ),
    "the unbiased deviation shown": Fault(
        function=norm.moments,
        wrong=lambda right, x: replace(right(x), std=x.std(-1)),
        places=("points",),
    ),
    # Stacks
    "rollout the other way round": Fault(
        function=rollout.rollout, wrong=lambda right, mixed: right(mixed.flip(0)), places=("rollout",)
    ),
    "rollout without the residual's half": Fault(
        function=rollout.with_residual, wrong=lambda _, weights: weights.mean(-3), places=("rollout",)
    ),
    "a receptive field one layer short": Fault(
        function=receptive_field.cone,
        wrong=lambda right, steps, query: right(steps, query).roll(-1, 0),
        places=("receptive field",),
    ),
    "gradients of the next token": Fault(
        function=receptive_field.sensitivity,
        wrong=lambda right, levels, x, query: right(levels, x, query - 1),
        places=("gradient", "receptive field"),
    ),
    "tokens compared with themselves": Fault(
        function=token_similarity.mean_cosine,
        wrong=lambda _, x: torch.nn.functional.normalize(x, dim=-1).mean(-2).square().sum(-1),
        places=("oversmoothing",),
    ),
    "what is left, squared": Fault(
        function=token_similarity.residual_share, wrong=lambda right, x: right(x).square(), places=("oversmoothing",)
    ),
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
    # Others
    "1 FLOP for 2": Fault(function=cost.attention_flops, wrong=_half_of_each, places=("differences",)),
    "a kernel turned over its diagonal": Fault(
        function=relative.heads_from_kernel,
        wrong=lambda right, kernel, **o: right(kernel.transpose(-1, -2) if kernel.ndim == 4 else kernel.flip(-1), **o),
        places=("kernel in W_O", "difference", "filters"),
    ),
    "a window that explains more than it does": Fault(
        function=window_fit.fit_layers,
        wrong=lambda right, *a: tuple(replace(fit, explained_share=fit.explained_share.roll(1)) for fit in right(*a)),
        places=("likeness",),
    ),
    "a window on a picture that explains more than it does": Fault(
        function=plane_fit.fit_planes,
        wrong=lambda right, *a: replace(fit := right(*a), explained_share=(fit.explained_share + 1) / 2),
        places=("vision", "vision, its training"),
    ),
    "down for right": Fault(
        function=plane_fit.fit_planes,
        wrong=lambda right, *a: replace(fit := right(*a), offset=fit.offset.flip(-1)),
        places=("vision",),
    ),
    "digits read with the ink as paper": Fault(
        function=digits.pixels,
        wrong=lambda right, levels: -right(levels),
        places=("vision, its training",),
    ),
    "rows that were written without the last key": Fault(
        function=generation._stitch,
        wrong=lambda right, rows: right([row.roll(1, -1) for row in rows]),
        places=("translation",),
    ),
    "a head credited with what its token itself gets": Fault(
        function=kv_sharing.induction,
        wrong=lambda _, w, ids: w.diagonal(0, -2, -1).mean(-1),
        places=("copying", "small decoders"),
    ),
    "weights that are shared counted once for each layer": Fault(
        function=stack.stack_parameters,
        wrong=lambda _, weights: sum(layer.n_parameters() for layer in weights),
        places=("layer sharing",),
    ),
    "an accuracy of all words": Fault(
        function=twins.measure, wrong=lambda right, *a, **o: (right(*a, **o)[0], 0.9), places=("trained",)
    ),
}


LONG = ("long map", "long map, a model", "along the text")
FAULTS |= {
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

FAULTS |= {
    "a sink twice as strong": Fault(
        function=attention.softmax_with_sink,
        wrong=lambda right, masked, sink: right(masked, sink + 0.7),
        places=("to nobody",),
    ),
    "a sink's gate with the wrong sign": Fault(
        function=sinks.word_share,
        wrong=lambda right, masked, sink: 1 - right(masked, sink),
        places=("to nobody", "who uses what"),
    ),
    "off by two": Fault(
        function=sinks.softmax_off_by_one,
        wrong=lambda right, masked: right(masked - 0.7),
        places=("to nobody",),
    ),
    "a norm without its root": Fault(
        function=bounded_scores.norm_queries_and_keys,
        wrong=lambda right, q, k, norm, **options: tuple(3 * x for x in right(q, k, norm, **options)),
        places=("tamed scores", "who uses what"),
    ),
    "a cap that is twice as high": Fault(
        function=bounded_scores.soft_cap, wrong=lambda right, cap: right(2 * cap), places=("tamed scores",)
    ),
    "a gate that never opens fully": Fault(
        function=gates.output_gate,
        wrong=lambda right, *args, **options: 0.9 * right(*args, **options),
        places=("output gate", "who uses what"),
    ),
    "a gate after W_O": Fault(
        function=heads.merge_heads,
        wrong=lambda right, *args, gate=None, **options: right(*args, **options),
        places=("output gate",),
    ),
    "a difference with the wrong sign of λ": Fault(
        function=differential.attend_differential,
        wrong=lambda right, *args, share, **options: right(*args, share=-share, **options),
        places=("difference of two maps",),
    ),
    "the second map in place of the first": Fault(
        function=differential.attend_differential,
        wrong=lambda right, a, b, c, d, v, **options: right(c, d, a, b, v, **options),
        places=("difference of two maps", "who uses what"),
    ),
    "a map that fades too fast": Fault(
        function=linear.linear_map,
        wrong=lambda right, q, k, steps: right(q, k, 2 * steps - 0.1),
        places=("linear attention", "who uses what"),
    ),
    "a delta rule that corrects nothing": Fault(
        function=delta.delta_states,
        wrong=lambda right, *args, corrects=True, **options: right(*args, corrects=False, **options),
        places=("delta rule",),
    ),
    "a delta rule with keys that are too long": Fault(
        function=delta.to_unit_length,
        wrong=lambda right, x, **options: 1.5 * right(x, **options),
        places=("delta rule", "linear attention"),
    ),
    "an absorbed form that scales by the longer key": Fault(
        function=latent.attend_absorbed,
        wrong=lambda right, x, weights, **options: right(x, replace(weights, w_q=0.9 * weights.w_q), **options),
        places=("latent vector", "latent vector, a model"),
    ),
    "a latent vector's W_UV where W_UK belongs": Fault(
        function=latent.attend_absorbed,
        wrong=lambda right, x, weights, **options: right(
            x, replace(weights, w_up_k=weights.w_up_v, w_up_v=weights.w_up_k), **options
        ),
        places=("latent vector", "latent vector, a model"),
    ),
    "a latent vector without the mask": Fault(
        function=latent.attend_latent,
        wrong=lambda right, x, weights, *, allowed=None, **options: right(x, weights, **options),
        places=("latent vector",),
    ),
    "a latent cache a tenth too small": Fault(
        function=latent.latent_cache,
        wrong=lambda right, x, weights, **options: tuple(0.9 * part for part in right(x, weights, **options)),
        places=("latent vector", "latent vector, a model"),
    ),
    "a group that reads its last layer": Fault(
        function=layer_sharing.grouped_sources,
        wrong=lambda right, n_layers, size: tuple(min(source + size, n_layers) - 1 for source in right(n_layers, size)),
        places=("across layers", "across layers, a model"),
    ),
    "another layer's keys with values of its own": Fault(
        function=layer_sharing.attend_to_source,
        wrong=lambda right, q, k, v, sources, layer, **options: right(
            q, k, [v[layer]] * len(v), sources, layer, **options
        ),
        places=("across layers", "across layers, a model"),
    ),
    "a layer that shares without its mask": Fault(
        function=layer_sharing.attend_to_source,
        wrong=lambda right, q, k, v, sources, layer, **options: right(
            q, k, v, sources, layer, **(options | {"allowed": None})
        ),
        places=("across layers",),
    ),
    "a layer that reads and keeps all the same": Fault(
        function=mixed.SharedKVCost.cache_numbers,
        wrong=lambda right, cost, n: cost.layer.cache_numbers(n),
        places=("across layers", "across layers, a model", "models of today"),
    ),
    "queries of the layer whose keys are read": Fault(
        function=layer_sharing.attend_to_source,
        wrong=lambda right, q, k, v, sources, layer, **options: right(
            [q[source] for source in sources], k, v, sources, layer, **options
        ),
        places=("across layers", "across layers, a model"),
    ),
    "a cache that drops one token too many": Fault(
        function=rolling.decode_in_window,
        wrong=lambda right, q, k, v, *, size, **options: right(q, k, v, size=max(1, size - 1), **options),
        places=("windows in the cache", "windows in the cache, a model"),
    ),
    "a cache that drops the newest": Fault(
        function=rolling.cached_tokens,
        wrong=lambda right, n_read, n_tokens, full, *, size: right(max(0, n_read - 1), n_tokens, full, size=size),
        places=("windows in the cache", "windows in the cache, a model"),
    ),
    "a window that is counted one token too wide": Fault(
        function=mixed.WindowCost.cache_numbers,
        wrong=lambda right, cost, n: mixed.FullCost(spec=cost.spec).cache_numbers(min(n, cost.size + 1)),
        places=("windows in the cache", "windows in the cache, a model", "models of today"),
    ),
    "decoding in a window without the scale": Fault(
        function=rolling.decode_in_window,
        wrong=lambda right, q, k, v, **options: right(q, k, v, **(options | {"scale": 1.0})),
        places=("windows in the cache", "windows in the cache, a model"),
    ),
    "a latent cache without its key for RoPE": Fault(
        function=mixed.LatentCost.cache_numbers,
        wrong=lambda right, cost, n: n * cost.spec.d_latent,
        places=("models of today",),
    ),
    "a state that grows with the text": Fault(
        function=mixed.LinearCost.cache_numbers,
        wrong=lambda right, cost, n: n * cost.n_heads * cost.d_k,
        places=("models of today",),
    ),
    "a window one token too wide": Fault(
        function=masks.look_back,
        wrong=lambda right, n_queries, n_keys, size: right(n_queries, n_keys, size + 1),
        places=("layers with windows",),
    ),
    "chunks that are windows": Fault(
        function=masks.chunks,
        wrong=lambda right, n_queries, n_keys, size: masks.look_back(n_queries, n_keys, size),
        places=("layers with chunks",),
    ),
    "the first layer full in place of the last": Fault(
        function=interleaved.full_layers,
        wrong=lambda right, n_layers, *, period, starts_full=False: right(n_layers, period=period + 1),
        places=("layers, 1 to 1", "windows in the cache", "windows in the cache, a model", "models of today"),
    ),
    "a reach of w tokens a layer": Fault(
        function=interleaved.earliest_token,
        wrong=lambda right, query, full, *, size, near: right(query, full, size=size + 1, near=near),
        places=("layers with windows", "layers with chunks"),
    ),
    "small decoders without their sinks": Fault(
        function=today_modules.SinkAttention.attend,
        wrong=lambda right, self, q, k, v: today_modules.StandardAttention.attend(self, q, k, v),
        places=("small decoders",),
    ),
    "small decoders whose layers know no position": Fault(
        function=today_modules.turn, wrong=lambda right, x: x, places=("small decoders",)
    ),
    "a mean over seeds that is the lowest": Fault(
        function=today_summary.summarise,
        wrong=lambda right, runs: {name: replace(spread, mean=spread.low) for name, spread in right(runs).items()},
        places=("small decoders",),
    ),
    "a record by another recipe": Fault(
        function=today_train.digest,
        wrong=lambda right, recipe: right(replace(recipe, learning_rate=1e-3)),
        places=("small decoders",),
    ),
    "small decoders counted without a head's numbers": Fault(
        function=trained_today.parameters_by_formula,
        wrong=lambda right, code: right(code) - 1,
        places=("small decoders",),
    ),
    "the last numbers turn": Fault(
        function=angles.partial_rope,
        wrong=lambda right, x, rotary_dim, **options: right(x.flip(-1), rotary_dim, **options).flip(-1),
        places=("positions of today",),
    ),
    "all numbers turn but two": Fault(
        function=angles.partial_rope,
        wrong=lambda right, x, rotary_dim, *, omega, **options: right(
            x, max(0, rotary_dim - 2), omega=omega[:-1], **options
        ),
        places=("positions of today", "positions of today, all turn"),
    ),
    "YaRN's ramp turned round": Fault(
        function=angles.yarn_ramp,
        wrong=lambda right, *args, **options: 1 - right(*args, **options),
        places=("positions of today",),
    ),
    "a ramp that ends where a pair turns twice": Fault(
        function=angles.yarn_ramp,
        wrong=lambda right, *args, **options: right(*args, **options | {"slow": 2.0}),
        places=("positions of today",),
    ),
    "a ramp between no whole pairs": Fault(
        function=angles.yarn_ramp,
        wrong=lambda right, *args, **options: right(*args, **options | {"rounds": False}),
        places=("positions of today",),
    ),
    "every pair stretched": Fault(
        function=angles.yarn_frequencies,
        wrong=lambda right, *args, factor, **options: right(*args, factor=1.0, **options) / factor,
        places=("positions of today",),
    ),
    "speeds of another base": Fault(
        function=angles.yarn_frequencies,
        wrong=lambda right, *args, base, **options: right(*args, base=2 * base, **options),
        places=("positions of today", "positions of today, all turn"),
    ),
    "YaRN's gain on queries alone": Fault(
        function=angles.yarn_gain,
        wrong=lambda right, factor: right(factor) ** 0.5,
        places=("positions of today",),
    ),
    "a temperature that rises a token late": Fault(
        function=angles.temperatures,
        wrong=lambda right, positions, **options: right(positions - 1, **options),
        places=("without positions",),
    ),
    "a temperature twice as strong": Fault(
        function=angles.temperatures,
        wrong=lambda right, positions, *, floor, gain: right(positions, floor=floor, gain=2 * gain),
        places=("without positions",),
    ),
    "a temperature without its gain": Fault(
        function=angles.temperatures,
        wrong=lambda right, positions, *, floor, gain: right(positions, floor=floor, gain=0.1),
        places=("without positions",),
    ),
    "one key too many in a long row": Fault(
        function=dilution.weight_among,
        wrong=lambda right, row, key, lengths, factors: right(row, key, lengths + 1, factors),
        places=("without positions",),
    ),
    "a long row without its temperature": Fault(
        function=dilution.weight_among,
        wrong=lambda right, row, key, lengths, factors: right(row, key, lengths, torch.ones_like(factors)),
        places=("without positions",),
    ),
    "positions in a layer without": Fault(
        function=encodings.encode,
        wrong=lambda right, x, weights, how, **options: right(
            x + torch.arange(len(x))[:, None] / 10, weights, how, **options
        ),
        places=("without positions",),
    ),
    "one key more than k": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, **options: right(scores, top_k + 1, **options),
        places=("the 2 largest", "the 2 largest of equals"),
    ),
    "the smallest scores kept": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, **options: right(-scores, top_k, **options),
        places=("the 2 largest",),
    ),
    "the largest chosen before closed keys are dropped": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, *, allowed: right(scores, top_k) & allowed,
        places=("the 2 largest",),
    ),
    "the later of equal scores kept": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, *, allowed: right(scores.flip(-1), top_k, allowed=allowed.flip(-1)).flip(-1),
        places=("the 2 largest of equals",),
    ),
    "k never as large as the text": Fault(
        function=selection.top_k_mask,
        wrong=lambda right, scores, top_k, **options: right(scores, min(top_k, scores.shape[-1] - 1), **options),
        places=("the 2 largest", "the 2 largest of equals"),
    ),
    "the weight lost with one key fewer": Fault(
        function=selection.lost_shares,
        wrong=lambda right, weights: right(weights).roll(1, -1),
        places=("the 2 largest", "the 2 largest of equals"),
    ),
    "the weight lost in the order of the text": Fault(
        function=selection.lost_shares,
        wrong=lambda right, weights: 1 - weights.cumsum(-1),
        places=("the 2 largest",),
    ),
    "a delta rule that writes by halves": Fault(
        function=delta.delta_map,
        wrong=lambda right, q, k, *, beta, **options: right(q, k, beta=beta / 2, **options),
        places=("delta rule",),
    ),
    # What it costs
    "a mix with one layer more between full ones": Fault(
        function=mixed.interleave,
        wrong=lambda right, full, rest, *, n_layers, period: right(
            full, rest, n_layers=n_layers, period=period + (period > 1)
        ),
        places=MIXES,
    ),
    "a mix without its highest layer": Fault(
        function=mixed.step_flops,
        wrong=lambda right, layers, *, n_tokens: right(layers[:-1], n_tokens=n_tokens),
        places=MIXES,
    ),
    "a cache in one byte a number": Fault(
        function=mixed.cache_bytes,
        wrong=lambda right, layers, *, n_tokens: right(layers, n_tokens=n_tokens, bytes_per_value=1),
        places=MIXES,
    ),
    "a mix that is cheaper one token later": Fault(
        function=mixed.cheaper_from,
        wrong=lambda right, *costs: None if (n := right(*costs)) is None else n + 1,
        places=MIXES,
    ),
    "a mix that is cheaper one token before": Fault(
        function=mixed.cheaper_from,
        wrong=lambda right, *costs: n - 1 if (n := right(*costs)) and n > 1 else n,
        places=("mix with windows", "mix with states", "mix with selection"),
    ),
    "a mix that is cheaper for ever in place of never": Fault(
        function=mixed.cheaper_from,
        wrong=lambda right, *costs: right(*costs) or 1,
        places=("mix with MLA", "mix with selection"),
    ),
    "a mix that is never cheaper": Fault(function=mixed.cheaper_from, wrong=lambda right, *costs: None, places=MIXES),
    "half of the keys of a full layer": Fault(
        function=mixed.FullCost.step_flops,
        wrong=lambda right, layer, n: right(layer, (n + 1) // 2),
        places=MIXES,
    ),
    "a full layer that keeps keys alone": Fault(
        function=mixed.FullCost.cache_numbers, wrong=lambda right, layer, n: right(layer, n) // 2, places=MIXES
    ),
    "a window one token too wide in the mix": Fault(
        function=mixed.WindowCost.step_flops,
        wrong=lambda right, layer, n: mixed.FullCost(spec=layer.spec).step_flops(min(n, layer.size + 1)),
        places=("mix with windows",),
    ),
    "a window that has no end in the cache": Fault(
        function=mixed.WindowCost.cache_numbers,
        wrong=lambda right, layer, n: mixed.FullCost(spec=layer.spec).cache_numbers(n),
        places=MIXES,  # the table below has windows too
    ),
    "a linear layer whose state grows with the text": Fault(
        function=mixed.LinearCost.cache_numbers,
        wrong=lambda right, layer, n: n * right(layer, n),
        places=MIXES,
    ),
    "a state that is read once": Fault(
        function=mixed.LinearCost.step_flops,
        wrong=lambda right, layer, n: 2 * right(layer, n) // 3,
        places=("mix with states",),
    ),
    "a latent cache without the key with RoPE": Fault(
        function=mixed.LatentCost.cache_numbers,
        wrong=lambda right, layer, n: n * layer.spec.d_latent,
        places=MIXES,
    ),
    "an absorbed step in the plain form": Fault(
        function=mixed.LatentCost.step_flops,
        wrong=lambda right, layer, n: layer.text_flops(n) // n,
        places=("mix with MLA",),
    ),
    "a scorer that costs nothing": Fault(
        function=mixed.TopKCost.step_flops,
        wrong=lambda right, layer, n: layer.layer.step_flops(min(n, layer.top_k)),
        places=("mix with selection",),
    ),
    "a selection that drops what it does not select": Fault(
        function=mixed.TopKCost.cache_numbers,
        wrong=lambda right, layer, n: right(layer, min(n, layer.top_k)),
        places=MIXES,
    ),
    "published models without their first layer": Fault(
        function=vars(Model)["layers"].fget, wrong=lambda right, model: right(model)[1:], places=MIXES
    ),
}


WITHOUT = {
    "cost": "a table of its own",
    "convolution/training": "a training is kept in the session; the page's own tests put a mistake in before it begins",
    "convolution/reach": "one line of the page counts; torch's conv1d counts with it, and the core has no part in it",
    "stacking/trained_sharing": "a record of trainings, held to another record",
}
"""Sections that no fault above is put into, and why."""


def test_every_section_stands_in_the_table():
    """A new section needs a mistake that its checks notice; a name that is misspelt would never be tried."""
    assert {place for fault in FAULTS.values() for place in fault.places} == PLACES.keys()
    open_view = {link.partition("?")[0] for link in PLACES.values()}
    missing = {f"{page}/{view}" for page in PAGES if page not in WITHOUT for view in views_of(page)} - open_view
    assert missing == {name for name in WITHOUT if "/" in name}


@pytest.mark.parametrize("place", PLACES)
def test_a_mistake_turns_a_check_red(open_app, place):
    app, section = open_correct(open_app, PLACES[place])
    faults = {name: fault for name, fault in FAULTS.items() if place in fault.places}
    results = {name: failure_to_notice(app, section, fault) for name, fault in faults.items()}
    assert not {name: result for name, result in results.items() if result}
