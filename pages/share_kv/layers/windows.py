"""Windows in the cache: which tokens each layer still holds, and the growth of the cache token by token."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.share_kv.compute import SEEDED_LAYERS
from pages.share_kv.context import ShareKvContext, beside_groups, say_cut, say_if_not_causal
from viz import limits
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import sdpa_heads
from viz.core.attention import options_of_first
from viz.core.cost.mixed import FullCost, LayerCost, WindowCost, cache_bytes
from viz.core.nested import double
from viz.core.spec import AttentionSpec
from viz.core.variants.today.interleaved import PERIODS, full_layers
from viz.core.variants.today.rolling import cached_tokens, decode_in_window
from viz.errors import ModelError
from viz.figures.curves import curves
from viz.figures.line_chart import Axis as LineAxis
from viz.figures.line_chart import Mark
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.lazy import lazy
from viz.frame.modes import say
from viz.frame.shared import FULL_LAYERS, NEAR_SIZE
from viz.frame.show import show_lines, show_matrix
from viz.models.published import models
from viz.params import Int, Scope
from viz.text import Translate, join_names
from viz.text.sizes import size

WINDOW_CACHE = r"""\begin{gathered}
\text{cache of a layer: } \; k_{\max(1,\, n-w+1)} \ldots k_n, \quad v_{\max(1,\, n-w+1)} \ldots v_n
\\ C = 2\, G\, d_k\, b\, \big(L_{\text{full}}\, n + L_{\text{window}} \min(n, w)\big)
\end{gathered}"""

CACHE_PATTERN = FULL_LAYERS.variant(among=("five", "three", "one", "none"), scope=Scope("windows"))
CACHE_WINDOW = NEAR_SIZE.variant(scope=Scope("windows"))
TOKENS_READ = Int("tokens_read", lambda n: n, low=1, high=lambda n: n)


@dataclass(frozen=True, kw_only=True)
class WindowedCache:
    """The cache of a stack: which layers are full, the window of the others, and how many tokens were read of how many.

    ``spec`` has the sizes of one layer.
    """

    spec: AttentionSpec
    full: tuple[bool, ...]
    size: int
    n_read: int
    n_tokens: int

    @property
    def layers(self) -> list[LayerCost]:
        """The cost of each layer."""
        full, near = FullCost(spec=self.spec), WindowCost(spec=self.spec, size=self.size)
        return [full if is_full else near for is_full in self.full]

    @property
    def all_full(self) -> list[LayerCost]:
        """The cost of each layer if none had a window."""
        return [FullCost(spec=self.spec)] * len(self.full)

    @lazy
    def cells(self) -> Tensor:
        """True where a layer's cache holds a token, (L, T)."""
        return cached_tokens(self.n_read, self.n_tokens, self.full, size=self.size)


def draw(context: ShareKvContext) -> list[Check]:
    """Draw the tokens that each layer's cache holds, and its size after each token."""
    t, n = context.t, min(len(context.scene.labels), limits.SHARED_TOKENS)
    if context.scene.call.maps_only:
        raise ModelError("maps", model=context.scene.choice.source.model)
    with beside_groups(context):
        picture, finding = st.container(), st.container()
    pattern = CACHE_PATTERN.segments(t("share_kv.windows.pattern"), says=lambda code: t(f"share_kv.windows.{code}"))
    left, right = st.columns(2)
    with left:
        window = CACHE_WINDOW.slider(t("share_kv.windows.size"))
    with right:
        n_read = TOKENS_READ.slider(t("share_kv.windows.read"), n)
    n_layers = context.scene.capture.n_layers if context.is_model else SEEDED_LAYERS
    full = full_layers(n_layers, period=PERIODS[pattern])
    cache = WindowedCache(spec=context.spec, full=full, size=window, n_read=n_read, n_tokens=n)
    with picture:
        _show_cells(context, cache)
        _show_growth(t, cache)
        say_cut(context)
    with finding:
        _say(t, cache)
    if not context.is_model:
        st.caption(t("share_kv.windows.seeded", L=SEEDED_LAYERS))
    say_if_not_causal(context)
    _say_users(t)
    return [*_decode_checks(context, cache), _cells_check(cache, PERIODS[pattern]), _bytes_check(context, cache)]


def _show_cells(context: ShareKvContext, cache: WindowedCache) -> None:
    t = context.t
    numbers = [context.scene.capture.number(i) if context.is_model else i for i in range(len(cache.full))]
    rows = [
        t(f"share_kv.windows.row_{'full' if is_full else 'window'}", layer=number)
        for number, is_full in zip(numbers, cache.full, strict=True)
    ]
    matrix = Matrix(
        values=cache.cells.float().masked_fill(~cache.cells, -torch.inf).flip(0),
        rows=Axis(rows[::-1], t("share_kv.windows.rows")),
        columns=Axis(context.scene.labels[: cache.n_tokens], t("share_kv.windows.columns")),
        kind="weights",
        hover=t("share_kv.windows.cell"),
        blocked=t("share_kv.windows.cell_empty"),
        low=len(rows) > 12,
        scale=False,
    )
    alt = t("share_kv.windows.alt", n=cache.n_read, held=int(cache.cells.sum()), all=cache.n_read * len(cache.full))
    show_matrix(t, matrix, key="cached_tokens", alt=alt)


def _show_growth(t: Translate, cache: WindowedCache) -> None:
    """Draw the bytes after each token, with the windows and without."""
    lengths = range(1, cache.n_tokens + 1)
    series = {
        t(f"share_kv.windows.line_{name}"): torch.tensor([cache_bytes(layers, n_tokens=n) for n in lengths])
        for name, layers in (("all_full", cache.all_full), ("with", cache.layers))
    }
    y = LineAxis(t("share_kv.windows.bytes"), grid=True, from_zero=True, in_bytes=True)
    x, marks = LineAxis(t("share_kv.windows.read")), [Mark(x=cache.n_read)]
    chart = curves(lengths, series, x=x, y=y, marks=marks, height=240)
    show_lines(chart, key="window_growth", alt=t("share_kv.windows.growth_alt", w=cache.size))


def _say(t: Translate, cache: WindowedCache) -> None:
    windowed, full = (cache_bytes(layers, n_tokens=cache.n_read) for layers in (cache.layers, cache.all_full))
    values = {"n": cache.n_read, "near": cache.full.count(False), "w": cache.size, "all": size(full)}
    say(t("share_kv.windows.says", kept=size(windowed), share=share(windowed / full), **values))


def _say_users(t: Translate) -> None:
    names = [
        f"{model.name} ({amount(model.sizes['window'])})" for model in models() if "window" in model.sizes["layers"]
    ]
    st.caption(t("share_kv.windows.users", names=join_names(t, names)))


def _float64(context: ShareKvContext, n: int) -> tuple[tuple[Tensor, ...], dict[str, Any]]:
    """Return the layer's queries, keys, values and options in float64, for the first n tokens, without its mask."""
    tensors = tuple(x[:, :n] for x in (context.layer.q, context.layer.k, context.layer.v))
    options = options_of_first(context.scene.call.options, n)
    options.pop("allowed", None)
    return double((tensors, options))


def _decode_checks(context: ShareKvContext, cache: WindowedCache) -> list[Check]:
    (q, k, v), options = _float64(context, cache.n_tokens)
    place = torch.arange(cache.n_tokens)
    offset, off = place[:, None] - place, []
    for window in (cache.n_tokens, cache.size):
        expected = sdpa_heads(q, k, v, allowed=(offset >= 0) & (offset < window), **options)
        off.append((decode_in_window(q, k, v, size=window, **options).output - expected).abs().max())
    return [
        check("share_kv.windows.check_standard", off[0], 1e-6, n=cache.n_tokens),
        check("share_kv.windows.check_window", off[1], 1e-6, w=cache.size),
    ]


def cells_by_hand(cache: WindowedCache, period: int) -> list[set[int]]:
    """Return the tokens that each layer holds: one after the other comes in, and beyond the window the oldest goes."""
    layers = []
    for layer in range(len(cache.full)):
        cached: list[int] = []
        for token in range(cache.n_read):
            cached.append(token)
            if (not period or (layer + 1) % period) and len(cached) > cache.size:
                cached.pop(0)
        layers.append(set(cached))
    return layers


def _cells_check(cache: WindowedCache, period: int) -> Check:
    by_hand = cells_by_hand(cache, period)
    wrong = sum(set(row.nonzero().flatten().tolist()) != hand for row, hand in zip(cache.cells, by_hand, strict=True))
    return check("share_kv.windows.check_cells", wrong, 0)


def _bytes_check(context: ShareKvContext, cache: WindowedCache) -> Check:
    """Check the bytes against those of the tensors left in the caches after the tokens that were read."""
    (q, k, v), options = _float64(context, cache.n_read)
    trace = decode_in_window(q, k, v, size=cache.size, **options)
    left = {False: (trace.keys, trace.values), True: (k, v)}
    tensors = [tensor for is_full in cache.full for tensor in left[is_full]]
    n_bytes = sum(torch.empty_like(tensor, dtype=torch.float16, device="meta").nbytes for tensor in tensors)
    by_formula = cache_bytes(cache.layers, n_tokens=cache.n_read)
    return check("share_kv.windows.check_bytes", abs(by_formula - n_bytes), 0, n=f"{n_bytes:,}")
