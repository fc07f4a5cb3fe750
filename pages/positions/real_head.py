"""A head of a real model that attends to the previous token, but not without its positions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute as own_compute
from pages.positions import orders
from pages.positions.context import FOUR_ABREAST, PositionsContext
from viz.components.maps import show_maps
from viz.core.analysis.checks import sdpa_weights, worst
from viz.core.analysis.map_statistics import uniform, weight_at_offset
from viz.core.attention import AttentionTrace
from viz.errors import ModelError
from viz.frame import compute, specs
from viz.frame.checks import Check, check
from viz.frame.compute.positions import own_rows
from viz.frame.format import part
from viz.frame.modes import say
from viz.frame.scene import say_error
from viz.frame.show import show_table


@dataclass(frozen=True, kw_only=True)
class PreviousTokenHead:
    """The model's head with the largest weight on the previous token, in four readings of the text."""

    layer: int
    head: int
    n_heads: int
    cases: Mapping[str, AttentionTrace]
    asked: Mapping[str, Mapping[str, Any]]
    """Options of its layer's attention in each reading."""

    def weights(self, case: str) -> Tensor:
        """Return its map, (T, T)."""
        return self.cases[case].weights[self.head]


def draw(context: PositionsContext) -> list[Check]:
    """Draw the head's four maps, and their weight on the previous token."""
    t, source = context.t, context.scene.choice.source
    source = replace(source, kind="model", model=source.model or compute.DEFAULT_MODEL)
    try:
        tokens = own_compute.place_tokens(source, specs.Placing()).tokens
        rows = own_rows(source)
    except ModelError as error:
        say_error(t, error)
        return []
    if rows is None:
        st.info(t("positions.evidence_none", model=source.model))
        return []
    pictures = st.container()
    orders.shuffle_again(t("positions.shuffle_again"), key="shuffle_model")
    order = orders.shuffled_order(tokens)
    if orders.reads_the_same(tokens, order):
        st.info(t("positions.same_order"))
        return []
    previous_head = _find(source, order)
    with pictures:
        _maps(context, previous_head)
    where = {"layer": previous_head.layer, "head": previous_head.head, "n": previous_head.n_heads}
    say(t("positions.evidence_head", model=source.model, **where))
    means = {case: float(weight_at_offset(previous_head.weights(case), -1).mean()) for case in previous_head.cases}
    _table(context, means)
    even = weight_at_offset(uniform(previous_head.cases["own"].masked[previous_head.head].isfinite()), -1).mean()
    say(t("positions.evidence_says", even=part(float(even))))
    off = worst(abs(mean - previous_by_torch(previous_head, case)) for case, mean in means.items())
    return [check("positions.check_previous", off, 1e-5)]


def _find(source: specs.Source, order: tuple[int, ...]) -> PreviousTokenHead:
    read_as = {
        name + suffix: own_compute.place_tokens(source, specs.Placing(code=code, order=places))
        for name, code in (("own", "learned"), ("zero", "none"))
        for suffix, places in (("", ()), ("_moved", order))
    }
    as_trained = read_as["own"]
    means = torch.stack(
        [weight_at_offset(as_trained.layer(i).weights, -1).mean(-1) for i in range(as_trained.n_layers)]
    )
    layer, head = divmod(int(means.argmax()), means.shape[1])
    cases = {case: capture.layer(layer) for case, capture in read_as.items()}
    options = {case: capture.calls[layer].options for case, capture in read_as.items()}
    return PreviousTokenHead(layer=layer, head=head, n_heads=means.numel(), cases=cases, asked=options)


def previous_by_torch(previous_head: PreviousTokenHead, case: str) -> float:
    """Return the mean weight on the previous token by torch's own attention, with the identity for values."""
    trace = previous_head.cases[case]
    weights = sdpa_weights(trace.q, trace.k, **previous_head.asked[case])[previous_head.head]
    return sum(float(weights[i, i - 1]) for i in range(1, len(weights))) / (len(weights) - 1)


def _maps(context: PositionsContext, previous_head: PreviousTokenHead) -> None:
    t = context.t
    # Each map has other words in these places.
    places = tuple(map(str, range(len(previous_head.weights("own")))))
    titles = [t(f"positions.case_{case}") for case in previous_head.cases]
    maps = torch.stack([previous_head.weights(case) for case in previous_head.cases])
    sentence, axes = t("positions.places_say"), t("positions.places_axes")
    with st.container(width=FOUR_ABREAST):
        show_maps(t, titles, maps, places, key="evidence_maps", sentence=sentence, axes=axes)


def _table(context: PositionsContext, means: Mapping[str, float]) -> None:
    t = context.t
    show_table(
        [{"case": t(f"positions.case_{case}"), "weight": mean} for case, mean in means.items()],
        column_config={
            "case": st.column_config.TextColumn(t("positions.case")),
            "weight": st.column_config.ProgressColumn(
                t("positions.previous_weight"), format="%.2f", min_value=0, max_value=1
            ),
        },
        key="evidence",
    )
