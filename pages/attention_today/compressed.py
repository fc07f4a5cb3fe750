"""Fewer keys than words: an entry for each block of words, and a window of fresh words beside them."""

from collections.abc import Iterable
from typing import Any

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import avg_pool1d

from pages.attention_today.context import Layer, TodayContext
from pages.attention_today.maps import show_map
from viz.components.bars import BarChart
from viz.core.analysis.checks import largest_ratio, maps_off, sdpa_heads
from viz.core.attention import AttentionTrace, attend
from viz.core.nested import double
from viz.core.spec import AttentionSpec
from viz.core.variants.kv_sharing import divisors
from viz.core.variants.today.compressed import attend_to_entries, compress, compressed_mask, turn_last
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.shared import GROUP_SIZE, KEEP
from viz.frame.show import show_bars
from viz.params import Scope

COMPRESSED = (
    r"c_e = \sum_{t \in e} \operatorname{softmax}_t(Z_t + B_t) \odot C_t, \qquad"
    r"\text{query } i \text{ sees } c_e \Leftrightarrow \lfloor (i + 1) / m \rfloor > e"
)
CODE = (compress, compressed_mask, turn_last, attend_to_entries)
WORDS = GROUP_SIZE.variant(default=lambda n: min(4, n), high=lambda n: n, scope=Scope("compressed"))
"""m, the words of an entry."""
FRESH = KEEP.variant(default=lambda n: min(3, n), low=0, high=lambda n: n, scope=Scope("compressed"))
"""w, the words that a query may look at one by one."""


def attend_compressed(layer: Layer, m: int, fresh: int) -> AttentionTrace:
    """Attend in every head to the means of m keys and values each, then to the words of a window."""
    options: dict[str, Any] = dict(layer.options)
    n, allowed = layer.k.shape[-2], options.get("allowed")
    allowed = torch.ones(n, n, dtype=torch.bool) if allowed is None else allowed
    options["allowed"] = compressed_mask(allowed, m, fresh)
    if (bias := options.get("bias")) is not None:
        options["bias"] = _with_means(bias.mT, m).mT
    return attend(layer.q, _with_means(layer.k, m), _with_means(layer.v, m), **options)


def _with_means(words: Tensor, m: int) -> Tensor:
    """Return the means of m words each, then the words: (*B, N + T, d)."""
    means = compress((words, torch.zeros_like(words), words.new_zeros(m, words.shape[-1])))
    return torch.cat([means, words], -2)


def cache_sizes(spec: AttentionSpec, n: int, m: int, fresh: int) -> dict[str, int]:
    """Return the bytes that n words take in one layer, 2 a number, each way; MLA has the widths of DeepSeek-V3."""
    n_keys, pair, groups = n // m + min(n, fresh), spec.d_k + spec.d_v, divisors(spec.H)
    G = groups[len(groups) // 2]
    entries = {"each": n_keys * spec.H * pair, "one": n_keys * spec.d_k}
    words = {"MHA": n * spec.H * pair, f"GQA, G = {G}": n * G * pair, "MLA": n * (9 * spec.d_k // 2)}
    return {way: 2 * count for way, count in (words | entries).items()}


def draw(context: TodayContext) -> list[Check]:
    """One head's map over words, and over entries and fresh words; and what each way keeps in the cache."""
    t, layer, head, pictures = context.t, context.layer, context.head, st.container()
    left, right = st.columns(2)
    with left:
        m = WORDS.slider(t("attention_today.compressed.words"), context.n)
    with right:
        fresh = FRESH.slider(t("attention_today.compressed.fresh"), context.n)
    trace, standard = attend_compressed(layer, m, fresh), context.standard
    is_open = trace.masked[head] > -torch.inf
    change = float((trace.output - standard.output)[head].norm() / standard.output[head].norm().clamp(min=1e-12))
    blocks = [context.labels[start : start + m] for start in range(0, context.n // m * m, m)]
    columns = ["–".join((block[0], block[-1])[:m]) for block in blocks] + list(context.labels if fresh else ())
    compressed = trace.weights[head].masked_fill(~is_open, -torch.inf)[:, : len(columns)]
    panels = ("exclusive.before", standard.weights[head], context.labels), ("compressed.map", compressed, columns)
    with pictures:
        maps = [
            show_map(context, place, name.replace(".", "_"), t(f"attention_today.{name}"), weights, labels)
            for place, (name, weights, labels) in zip(st.columns(2), panels, strict=True)
        ]
        sizes, keys = cache_sizes(layer.weights.spec, context.n, m, fresh), int(is_open.sum(-1).max())
        shares = {"change": share(change), "kept": share(sizes["each"] / sizes["MHA"])}
        say(t("attention_today.compressed.says", head=head, keys=keys, n=context.n, **shares))
    names = [*list(sizes)[:3], *(t(f"attention_today.compressed.{way}") for way in ("each", "one"))]
    title, values = t("attention_today.compressed.cache"), torch.tensor(list(sizes.values())).float()
    show_bars(
        BarChart(names, {title: values}, title="", value_title=title, height=200), key="compressed_bars", alt=title
    )
    return _checks(context, (m, fresh), maps, change, sizes)


def open_keys(allowed: list[list[bool]], i: int, m: int, fresh: int) -> list[bool]:
    """Return for each entry, then each word, whether query ``i`` may look at it, word by word."""
    words = range(len(allowed))
    entries = [all(allowed[i][start : start + m]) for start in words[: len(words) // m * m : m]]
    return entries + [allowed[i][j] and 0 <= i - j < fresh for j in words]


def _checks(
    context: TodayContext, numbers: tuple[int, int], maps: list[Tensor], change: float, sizes: dict[str, int]
) -> list[Check]:
    layer, head, n, (m, fresh), n_keys = context.layer, context.head, context.n, numbers, maps[1].shape[-1]
    allowed = layer.mask_of(head)
    allowed_words = torch.ones(n, n, dtype=torch.bool).tolist() if allowed is None else allowed.tolist()
    is_open = torch.tensor([open_keys(allowed_words, i, m, fresh)[:n_keys] for i in range(n)])
    k, v = (torch.cat([avg_pool1d(y.mT, m).mT, y], -2)[..., :n_keys, :] for y in (layer.k, layer.v))
    options = {**layer.options, "allowed": is_open}
    if (bias := options.get("bias")) is not None:
        options["bias"] = torch.cat([avg_pool1d(bias, m), bias], -1)[..., :n_keys]
    before = sdpa_heads(layer.q, layer.k, layer.v, **layer.options)[head].nan_to_num()
    after = sdpa_heads(layer.q, k, v, **options)[head].nan_to_num()
    by_torch = float((after - before).norm() / before.norm().clamp(min=1e-12))
    exact = double(layer)
    # Entries open one by one, and a window's words to the last query.
    n_keys_kept = len(range(m - 1, n, m)) + len(range(n)[max(0, n - fresh) :])
    bytes_off = _bytes_off(layer.weights.spec, n, n_keys_kept, sizes.values())
    standard = attend_compressed(exact, 1, 0).output - exact.attend().output
    calls = (layer.q, layer.k, layer.options), (layer.q, k, options)
    off = [maps_off(values[None].clamp(min=0), head, [call]) for values, call in zip(maps, calls, strict=True)]
    return [
        check("attention_today.compressed.check_keys", (maps[1].isfinite() != is_open).any(-1).sum(), 0),
        check("attention_today.nobody.check_maps", *largest_ratio(*torch.tensor(off).T)),
        check("attention_today.compressed.check_change", abs(by_torch - change), 1e-4 * max(1.0, by_torch)),
        check("attention_today.compressed.check_bytes", bytes_off, 0),
        check("attention_today.chosen.check_standard", standard.abs().max(), 1e-6, at="m = 1, w = 0"),
    ]


def _bytes_off(spec: AttentionSpec, n: int, n_keys: int, sizes: Iterable[int]) -> int:
    """Return how far the bytes are off those of tensors of these shapes."""
    groups = [g for g in range(1, spec.H + 1) if spec.H % g == 0]
    pairs = [(n, spec.H), (n, groups[len(groups) // 2]), (n_keys, spec.H)]
    mha, gqa, entries = [(*shape, spec.d_k + spec.d_v) for shape in pairs]
    shapes = [mha, gqa, (n, 4 * spec.d_k + spec.d_k // 2), entries, (n_keys, spec.d_k)]
    of_torch = [torch.empty(shape, dtype=torch.float16, device="meta").nbytes for shape in shapes]
    return sum(abs(count - n_bytes) for count, n_bytes in zip(sizes, of_torch, strict=True))
