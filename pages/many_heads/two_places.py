"""A task that needs two heads: report, for every word, the one before it and the one after it."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.many_heads.context import ManyHeadsContext
from viz.components.bars import BarChart
from viz.components.maps import show_maps
from viz.core.analysis.several_heads import lost, neighbours, offset_scores
from viz.core.attention import row_softmax
from viz.figures.palette import BLUE, GREY
from viz.frame import compute
from viz.frame.checks import Check, check
from viz.frame.format import number, share
from viz.frame.modes import say
from viz.frame.modes.inner_steps import offer
from viz.frame.shared import TOY_HEADS
from viz.frame.show import show_bars
from viz.params import Real, Scope

WORDS, VECTORS, WIDTH, SEED = 12, 512, 8, 0
"""Words on the map; random vectors on which the loss is measured, their width, and their seed."""
MOST, EVEN = 3, 0.5
"""Most heads; weight of a single head on the word before if it divides itself evenly."""


def heads_of(n_heads: int, before: float) -> list[dict[int, float]]:
    """Return each head's weights by offset; a single head divides its attention between both places."""
    if n_heads == 1:
        return [{-1: before, 1: 1 - before}]
    return [{-1: 1.0}, {1: 1.0}, {0: 1.0}][:n_heads]


@compute.cached
def vectors() -> tuple[Tensor, Tensor]:
    """Return the random vectors, and both neighbours of each inner one."""
    x = torch.randn(VECTORS, WIDTH, generator=torch.Generator().manual_seed(SEED), dtype=torch.float64)
    return x, neighbours(x)


def outputs_of(x: Tensor, heads: list[dict[int, float]]) -> Tensor:
    """Return the heads' outputs for every word with two neighbours, concatenated; W_V is the identity."""
    return torch.cat([(row_softmax(offset_scores(len(x), shares)) @ x)[1:-1] for shares in heads], dim=-1)


@compute.cached
def loss(n_heads: int, before: float) -> Tensor:
    """Return the share of the two neighbours that cannot be read out of the heads' outputs."""
    x, target = vectors()
    return lost(outputs_of(x, heads_of(n_heads, before)), target)


@compute.cached
def shift_off() -> float:
    """Return the largest difference between the outputs of two heads and the neighbours."""
    x, target = vectors()
    return float((outputs_of(x, heads_of(2, EVEN)) - target).abs().max())


N_TOY_HEADS = TOY_HEADS.variant(high=MOST, scope=Scope("two_places"))
TOY_BEFORE = Real("toy_before", 0.5, high=1.0)


def draw(context: ManyHeadsContext) -> list[Check]:
    """Draw the maps of one head or several, and the loss with one, two, three heads."""
    t = context.t
    tokens = context.scene.capture.tokens
    words = [label for label, special in zip(tokens.labels, tokens.special, strict=True) if not special]
    labels = tuple(words[:WORDS])
    if len(labels) < 3:
        st.info(t("many_heads.two_places.short"))
        return []
    n_heads = N_TOY_HEADS.read()
    before = TOY_BEFORE.read()
    N_TOY_HEADS.segments(
        t("many_heads.two_places.heads"),
        says=lambda count: t("many_heads.two_places.count", n=count),
        label_visibility="collapsed",
    )
    heads = heads_of(n_heads, before)
    # There is one container in both layouts, so that the elements below keep their delta path.
    with st.container():
        offer(N_TOY_HEADS.name, N_TOY_HEADS.options())
        left_column, right_column = st.columns(2) if n_heads == 1 else (st.container(), st.container())
    with left_column:
        _maps(context, labels, heads)
    shares = before if n_heads == 1 else EVEN
    losses = torch.stack([loss(1, before), *(loss(count, EVEN) for count in range(2, MOST + 1))])
    summary = t(
        "many_heads.two_places.found_one" if n_heads == 1 else "many_heads.two_places.found_several",
        lost=share(float(losses[0])), rest=number(float(losses[n_heads - 1])), n=n_heads,
    )  # fmt: skip
    with right_column:
        show_bars(
            BarChart(
                labels=[t("many_heads.two_places.count", n=count) for count in range(1, MOST + 1)],
                series={t("many_heads.two_places.lost"): losses},
                title="",
                value_title=t("many_heads.two_places.lost"),
                top=1.0,
                colours=[BLUE if count == n_heads else GREY for count in range(1, MOST + 1)],
            ),
            key="two_places",
            alt=summary,
        )
    say(summary)
    TOY_BEFORE.slider(t("many_heads.two_places.before"), step=0.05, disabled=n_heads > 1, width=360)
    st.caption(t("many_heads.two_places.note", vectors=VECTORS, width=WIDTH))
    off = abs(float(losses[n_heads - 1]) - by_numpy(n_heads, shares))
    return [
        check("many_heads.two_places.check_lost", off, 1e-9),
        check("many_heads.two_places.check_shift", shift_off(), 1e-12),
    ]


def _maps(context: ManyHeadsContext, labels: tuple[str, ...], heads: list[dict[int, float]]) -> None:
    t = context.t
    titles = [t("many_heads.head", head=i) for i in range(len(heads))]
    maps = torch.stack([row_softmax(offset_scores(len(labels), shares)) for shares in heads])
    with st.container(width=360 if len(heads) == 1 else "stretch"):
        show_maps(t, titles, maps, labels, key="two_places_maps", axes=t("axis.both"))


@compute.cached
def by_numpy(n_heads: int, before: float) -> float:
    """Return the same loss without the core: neighbours weighted by numpy, the read-out by the pseudo-inverse."""
    rows, heads = vectors()[0].numpy(), heads_of(n_heads, before)
    n, width = rows.shape

    def bring(i: int, shares: dict[int, float]) -> np.ndarray:
        return sum((p * rows[i + d] for d, p in shares.items() if 0 <= i + d < n), np.zeros(width))

    read = np.stack([np.concatenate([bring(i, shares) for shares in heads]) for i in range(1, n - 1)])
    target = np.stack([np.concatenate([rows[i - 1], rows[i + 1]]) for i in range(1, n - 1)])
    return float(((target - read @ (np.linalg.pinv(read) @ target)) ** 2).sum() / (target**2).sum())
