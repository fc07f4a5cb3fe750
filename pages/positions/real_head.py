"""A head of a real model that looks at the previous token, and no longer does once its positions are taken away."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute as own_compute
from pages.positions import orders
from pages.positions.context import FOUR_ABREAST, PositionsContext
from viz.components.maps import Panel, pack_maps
from viz.core.analysis.checks import torchs_weights, worst
from viz.core.analysis.map_statistics import on_offset, uniform
from viz.core.attention import AttentionTrace
from viz.errors import ModelError
from viz.frame import compute, specs
from viz.frame.checks import Check, check
from viz.frame.compute.positions import own_rows
from viz.frame.format import part
from viz.frame.modes import say
from viz.frame.scene import say_error
from viz.frame.show import MAPS, show_table
from viz.models.capture import Capture


@dataclass(frozen=True, kw_only=True)
class PreviousTokenHead:
    """The head of a model that looks most at the previous token, in the four ways the model reads the text."""

    layer: int
    head: int
    n_heads: int
    cases: Mapping[str, AttentionTrace]
    asked: Mapping[str, Mapping[str, Any]]
    """How the model asked its layer to attend, in each case."""

    def weights(self, case: str) -> Tensor:
        """Its map, (T, T)."""
        return self.cases[case].weights[self.head]


def draw(context: PositionsContext) -> list[Check]:
    """The head's four maps, and how much of them goes to the previous token."""
    t, source = context.t, context.scene.choice.source
    source = replace(source, kind="model", model=source.model or compute.DEFAULT_MODEL)
    try:
        tokens = own_compute.placed(source, specs.Placing()).tokens
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
    if orders.reads_the_same(tokens, order):  # nothing was shuffled, so nothing would be shown
        st.info(t("positions.evidence_one" if order == tuple(range(len(order))) else "positions.same_words"))
        return []
    found = _find(source, order)
    with pictures:
        _maps(context, found)
    where = {"layer": found.layer, "head": found.head, "n": found.n_heads}
    say(t("positions.evidence_head", model=source.model, **where))
    means = {case: float(on_offset(found.weights(case), -1).mean()) for case in found.cases}
    _table(context, means)
    even = on_offset(uniform(found.cases["own"].masked[found.head].isfinite()), -1).mean()
    say(t("positions.evidence_says", even=part(float(even))))
    off = worst(abs(mean - previous_by_torch(found, case)) for case, mean in means.items())
    return [check("positions.check_previous", off, 1e-5)]


def _find(source: specs.Source, order: tuple[int, ...]) -> PreviousTokenHead:
    def read(code: str, order: tuple[int, ...] = ()) -> Capture:
        return own_compute.placed(source, specs.Placing(code=code, order=order))

    as_trained = read("learned")
    means = torch.stack([on_offset(as_trained.layer(i).weights, -1).mean(-1) for i in range(as_trained.n_layers)])
    layer, head = divmod(int(means.argmax()), means.shape[1])
    read_as = {
        "own": as_trained,
        "own_moved": read("learned", order),
        "zero": read("none"),
        "zero_moved": read("none", order),
    }
    cases = {case: capture.layer(layer) for case, capture in read_as.items()}
    asked = {case: capture.calls[layer].options for case, capture in read_as.items()}
    return PreviousTokenHead(layer=layer, head=head, n_heads=means.numel(), cases=cases, asked=asked)


def previous_by_torch(found: PreviousTokenHead, case: str) -> float:
    """The mean weight on the previous token, as torch's own attention has it: with the identity for values."""
    trace = found.cases[case]
    weights = torchs_weights(trace.q, trace.k, **found.asked[case])[found.head]
    return sum(float(weights[i, i - 1]) for i in range(1, len(weights))) / (len(weights) - 1)


def _maps(context: PositionsContext, found: PreviousTokenHead) -> None:
    t = context.t
    places = tuple(map(str, range(len(found.weights("own")))))  # other words stand there in each map
    titles = {case: t(f"positions.case_{case}") for case in found.cases}
    panels = [Panel(code=case, title=title, alt=title, labels=places) for case, title in titles.items()]
    packed = pack_maps(
        panels,
        torch.stack([found.weights(case) for case in found.cases]),
        what="weights",
        limit=1.0,
    )
    with st.container(width=FOUR_ABREAST):
        MAPS.mount(
            key="evidence_maps",
            data=packed,
            words={"says": t("positions.places_say"), "axes": t("positions.places_axes")},
        )


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
