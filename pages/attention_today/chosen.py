"""Keys that are chosen: one by one, by blocks, or by the mean keys of blocks."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from statistics import fmean
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.attention_today.context import Layer, TodayContext, layer_of
from pages.attention_today.maps import show_map
from viz.components.bars import BarChart
from viz.core.analysis.checks import maps_off, sdpa_weights
from viz.core.attention import row_softmax
from viz.core.nested import double
from viz.core.variants.today.chosen_blocks import block_mask, pooled_mask
from viz.core.variants.today.selection import index_scores, top_k_mask
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.shared import FULL_LAYERS, NEAR_SIZE
from viz.frame.show import show_bars
from viz.params import Scope

BLOCK = 4
"""Keys in a block: those of published models, 128, would hold a complete text of this page."""
BUDGET = NEAR_SIZE.variant(default=lambda n: (n + 1) // 2, low=1, high=lambda n: n, scope=Scope("chosen"))
"""k, the keys that each query may look at; of blocks as many as hold so many keys."""
CHOOSER = FULL_LAYERS.variant(among=("own", "before"), scope=Scope("chosen"))
"""The layer whose heads choose: this one, or the one below, whose choice it shares."""
WAYS: dict[str, tuple[tuple[Callable[..., Any], ...], str]] = {
    "chosen": ((index_scores, top_k_mask), r"I_{ij} = \sum_h w_{ih} \operatorname{ReLU}(q^I_{ih} \cdot k^I_j)"),
    "chosen_blocks": ((block_mask,), r"S_{im} = \max_{j \in m} q^I_i \cdot k^I_j"),
    "chosen_means": (
        (pooled_mask,),
        r"S_{im} = \sum_h \operatorname{ReLU}\Big(q^I_{ih} \cdot \tfrac{1}{w} \sum_{j \in m} k^I_j\Big)",
    ),
}
"""The ways to choose, each a view of the section: the names of their texts, their code and their scorer."""


def choose(scorer: Layer, head: int, way: str, k: int, allowed: Tensor | None) -> Tensor:
    """Return the mask of the keys that are chosen, (T, T), by the q and k of a head in the layer that chooses."""
    q, keys = scorer.q[head], scorer.k[head]
    if way == "chosen":
        return top_k_mask(index_scores(q[None], keys, q.new_ones(len(q), 1)), k, allowed=allowed)
    n_blocks = math.ceil(k / BLOCK)
    if way == "chosen_blocks":
        return block_mask(q @ keys.mT, n_blocks, BLOCK, allowed=allowed)
    return pooled_mask(q[None], keys, n_blocks, BLOCK, allowed=allowed)


def scorer_of(context: TodayContext) -> Layer:
    """Draw the switch of the layer that chooses, where one is below; return that layer."""
    t, scene = context.t, context.scene
    below = scene.choice.layer - 1
    if below < 0:
        return context.layer
    number = scene.capture.number(below)
    names = {which: t(f"attention_today.chosen.{which}", layer=number) for which in ("own", "before")}
    which = CHOOSER.segments(t("attention_today.chosen.chooser"), says=names.__getitem__)
    if which == "own":
        return context.layer
    return layer_of(replace(scene, choice=replace(scene.choice, layer=below)), context.n)


def draw(context: TodayContext, way: str) -> list[Check]:
    """One head's map with every key and with the chosen ones, and what each way to choose loses."""
    t, layer, head, pictures = context.t, context.layer, context.head, st.container()
    k = BUDGET.slider(t("attention_today.chosen.keep"), context.n)
    scorer, allowed = scorer_of(context), layer.mask_of(head)
    masks = {each_way: choose(scorer, head, each_way, k, allowed) for each_way in WAYS}
    full, masked = context.standard.weights[head], context.standard.masked[head]
    weights = torch.stack([row_softmax(masked.masked_fill(~mask, -torch.inf)) for mask in masks.values()])
    n_rows = (full.sum(-1) > 0).sum().clamp(min=1)
    lost = torch.stack([full[~mask].sum() / n_rows for mask in masks.values()])
    v = layer.v[head]
    change = ((weights - full) @ v).norm(dim=(-2, -1)) / (full @ v).norm().clamp(min=1e-12)
    at, titles = list(WAYS).index(way), [t(f"attention_today.{each_way}.title") for each_way in WAYS]
    panels = {t("attention_today.exclusive.before"): full, titles[at]: weights[at].masked_fill(~masks[way], -torch.inf)}
    with pictures:
        places = zip(st.columns(2), ("chosen_full", "chosen_chosen"), panels, panels.values(), strict=True)
        maps_in_browser = torch.stack([show_map(context, *place, context.labels) for place in places]).clamp(min=0)
        values = {"lost": share(float(lost[at])), "change": share(float(change[at]))}
        say(t("attention_today.chosen.says", head=head, **values))
    series = {t("attention_today.chosen.lost"): lost, t("attention_today.chosen.change"): change}
    bars = BarChart(titles, series, title=t("attention_today.chosen.way"), value_title="", height=200)
    show_bars(bars, key="chosen_bars", alt=t("attention_today.chosen.bars_alt"))
    return _checks(context, scorer, way, k, maps_in_browser, float(lost[at]))


def is_chosen_row(row: list[float], i: int, visible: list[int], chosen_keys: set[int], way: str, k: int) -> bool:
    """Return True if of the keys that query ``i`` sees those are chosen that the rule says, without the core.

    ``row`` has the query's product with every key. Of equal scores any will do.
    """
    size = 1 if way == "chosen" else BLOCK
    if way == "chosen_blocks":
        blocks = [list(block) for _, block in groupby(visible, lambda j: j // size)]
        scores = [math.inf if i // size == block[0] // size else max(row[j] for j in block) for block in blocks]
    else:
        blocks = [visible[m : m + size] for m in range(0, len(visible), size)]
        scores = [math.inf if len(block) < size else max(0.0, fmean(row[j] for j in block)) for block in blocks]
    n_blocks = math.ceil(k / size) + (way == "chosen_means" and math.inf in scores)
    complete = [score for block, score in zip(blocks, scores, strict=True) if chosen_keys >= set(block)]
    rest = [score for block, score in zip(blocks, scores, strict=True) if chosen_keys.isdisjoint(block)]
    in_order = max(rest, default=-math.inf) <= min(complete, default=math.inf) + 1e-5 * max(1.0, *map(abs, row))
    is_complete = len(complete) == min(n_blocks, len(blocks)) == len(blocks) - len(rest)
    return is_complete and in_order and chosen_keys <= set(visible)


def _checks(context: TodayContext, scorer: Layer, way: str, k: int, maps: Tensor, lost: float) -> list[Check]:
    layer, head = context.layer, context.head
    exact, allowed = double(layer), layer.mask_of(head)
    mask, wrong, choice = choose(scorer, head, way, k, allowed), 0, context.scene.choice
    call = context.scene.capture.calls[max(0, choice.layer - (CHOOSER.read() == "before"))]
    q, keys = (y[head * len(y) // len(layer.q), : context.n].double() for y in (call.q, call.k))
    for i, row in enumerate((q @ keys.mT).tolist()):
        visible = [j for j in range(context.n) if allowed is None or allowed[i, j]]
        wrong += not is_chosen_row(row, i, visible, set(mask[i].nonzero().flatten().tolist()), way, k)
    all_keys = choose(double(scorer), head, way, context.n, allowed)
    every_key = exact.attend(allowed=all_keys).output - exact.attend().output
    calls = [(layer.q, layer.k, {**layer.options, **options}) for options in ({}, {"allowed": mask})]
    by_torch = sdpa_weights(layer.q, layer.k, **layer.options)[head].nan_to_num()
    n_rows = max(1, int((by_torch.sum(-1) > 0).sum()))
    return [
        check("attention_today.chosen.check_mask", wrong, 0),
        check("attention_today.nobody.check_maps", *maps_off(maps, head, calls)),
        check("attention_today.chosen.check_lost", abs(float(by_torch[~mask].sum()) / n_rows - lost), 1e-4),
        check("attention_today.chosen.check_standard", every_key[head].abs().max(), 1e-6, at=f"k = {context.n}"),
    ]
