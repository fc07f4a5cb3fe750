"""Where a token of the last layer has its words from, if weights alone decided: attention rollout, layer by layer."""

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.stacking.compute import attention_maps
from pages.stacking.context import StackingContext, show_maps, state_checks, weights_check
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import rows_error, worst
from viz.frame.checks import Check, check
from viz.frame.format import part, share
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.text import paragraph

PRINTED_COLUMNS = 20
"""Of more words than these the numbers would be too small to read."""


def draw(context: StackingContext) -> list[Check]:
    """The chosen token's rollout through more and more layers; and the whole map beside the last layer's weights."""
    t, found = context.t, context.rollouts
    show_growth(context, found.through[:, context.query])
    context.token_control()
    by_rollout, by_weights = (_shares(context, rows) for rows in (found.through[-1], found.weights))
    most = t("stacking.rollout.most", layers=context.layers(context.depth), words=by_rollout)
    most_last = t("stacking.rollout.most_last", last=context.depth - 1, words=by_weights)
    st.text(f"{most}\n{most_last}")
    say(_says(context))
    show_maps(context, {"weights": found.weights, "rollout": found.through[-1]})
    if blind := int((found.weights.amax(-1) == 0).sum()):
        st.caption(t("stacking.rollout.blind", n=blind))
    layers = context.layers(context.depth)
    return [
        check("stacking.check_rollout", rows_error(found.through), 1e-5, layers=layers),
        check("stacking.check_by_hand", by_hand_error(context), 1e-5),
        weights_check(context),
        *state_checks(context),
    ]


def show_growth(context: StackingContext, rows: Tensor) -> None:
    """What one token has from each word after 1, 2 … L layers, (L, T): a row for each number of layers."""
    t, token = context.t, context.labels[context.query]
    names = [context.layers(n) for n in range(1, len(rows) + 1)]
    drawn = Matrix(
        values=rows,
        rows=Axis(names, t("stacking.passed")),
        columns=Axis(context.labels, t("stacking.words")),
        kind="weights",
        hover=t("stacking.rollout.cell"),
        named={"token": token},
        numbers=rows.shape[1] <= PRINTED_COLUMNS,
    )
    title = t("stacking.rollout.picture", token=token)
    st.text(title)
    show_matrix(t, drawn, key="rollout_growth", alt=title)


def _says(context: StackingContext) -> str:
    """What depth does to a row; of one token, or through one layer, there is nothing to compare."""
    if len(context.labels) == 1:
        return context.t("stacking.rollout.one_word")
    shows = context.t("stacking.rollout.shows")
    return shows if context.depth == 1 else paragraph(shows, _alike(context))


def _alike(context: StackingContext) -> str:
    """How much two tokens' rows have in common, counted after the first layer and after the last."""
    first, last = (share(common(rows)) for rows in context.rollouts.through[[0, -1]])
    return context.t("stacking.rollout.alike", first=first, last=last, layers=context.layers(context.depth))


def common(rows: Tensor) -> float:
    """The share that two rows of a map have in common, averaged over all pairs of different rows, from 0 to 1."""
    pairs = torch.stack([torch.minimum(row, rows).sum(-1) for row in rows])
    return float(pairs[~torch.eye(len(rows), dtype=torch.bool)].mean())


def _shares(context: StackingContext, rows: Tensor) -> str:
    """The words that count most for the chosen token, with their shares."""
    row = rows[context.query]
    found = [i for i in context.most(row) if row[i] > 0] or [context.query]
    return context.listed(f"“{context.labels[i]}” {part(float(row[i]))}" for i in found)


def by_hand_error(context: StackingContext) -> float:
    """How far the rollout is from the same done anew by numpy, from the heads' weights on."""
    steps, errors = mixed_by_hand(context), []
    below = np.eye(steps.shape[-1])
    for step, through in zip(steps, context.rollouts.through.numpy(), strict=True):
        below = step @ below
        errors.append(float(np.abs(below - through).max()))
    return worst(errors)


def mixed_by_hand(context: StackingContext) -> np.ndarray:
    """Half of each layer's mean weights, half the token itself, (L, T, T), by numpy."""
    maps = attention_maps(context.source, context.plan, context.mask).double().numpy()
    identity = np.eye(maps.shape[-1])
    steps = 0.5 * maps.mean(axis=1) + 0.5 * identity
    blind = maps.sum(axis=(1, 3)) == 0
    steps[blind] = np.broadcast_to(identity, steps.shape)[blind]  # a token that may look nowhere stays what it is
    return steps
