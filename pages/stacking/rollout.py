"""Attention rollout: the words that a last-layer token derives from, by weights alone, layer by layer."""

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
from viz.text import join_names
from viz.text.naming import name_token

PRINTED_COLUMNS = 20
"""Most columns with printed numbers; more would be too small to read."""


def draw(context: StackingContext) -> list[Check]:
    """Draw the token's rollout through more and more layers, and the whole map beside the last layer's weights."""
    t, rollouts = context.t, context.rollouts
    show_growth(context, rollouts.through[:, context.query])
    context.token_control()
    by_rollout, by_weights = (_shares(context, rows) for rows in (rollouts.through[-1], rollouts.weights))
    most = t("stacking.rollout.most", layers=context.layers(context.depth), words=by_rollout)
    most_last = t("stacking.rollout.most_last", last=context.depth - 1, words=by_weights)
    st.text(f"{most}\n{most_last}")
    say(_describe_depth(context))
    show_maps(context, {"weights": rollouts.weights, "rollout": rollouts.through[-1]})
    if n_fully_masked := int((rollouts.weights.amax(-1) == 0).sum()):
        st.caption(t("stacking.rollout.blind", n=n_fully_masked))
    layers = context.layers(context.depth)
    return [
        check("stacking.check_rollout", rows_error(rollouts.through), 1e-5, layers=layers),
        check("stacking.check_by_hand", rollout_error(context), 1e-5),
        weights_check(context),
        *state_checks(context),
    ]


def show_growth(context: StackingContext, rows: Tensor) -> None:
    """Draw one token's share of each word after 1, 2 … L layers, (L, T): a row for each number of layers."""
    t, token = context.t, name_token(context.labels, context.query)
    names = [context.layers(n) for n in range(1, len(rows) + 1)]
    matrix = Matrix(
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
    show_matrix(t, matrix, key="rollout_growth", alt=title)


def _describe_depth(context: StackingContext) -> str:
    """Describe the overlap of two tokens' rows after the first layer and after the last; a single token has none."""
    if len(context.labels) == 1:
        return context.t("stacking.rollout.one_word")
    first, last = (share(common(rows)) for rows in context.rollouts.through[[0, -1]])
    return context.t("stacking.rollout.alike", first=first, last=last, layers=context.layers(context.depth))


def common(rows: Tensor) -> float:
    """Return the mean overlap of all pairs of different rows of a map, from 0 to 1."""
    pairs = torch.stack([torch.minimum(row, rows).sum(-1) for row in rows])
    return float(pairs[~torch.eye(len(rows), dtype=torch.bool)].mean())


def _shares(context: StackingContext, rows: Tensor) -> str:
    """List the token's words with the largest shares."""
    row = rows[context.query]
    top_words = [i for i in context.most(row) if row[i] > 0] or [context.query]
    return join_names(context.t, (f"“{name_token(context.labels, i)}” {part(float(row[i]))}" for i in top_words))


def rollout_error(context: StackingContext) -> float:
    """Return the error of the rollout against numpy on the heads' weights."""
    steps, errors = mixed_by_hand(context), []
    below = np.eye(steps.shape[-1])
    for step, through in zip(steps, context.rollouts.through.numpy(), strict=True):
        below = step @ below
        errors.append(float(np.abs(below - through).max()))
    return worst(errors)


def mixed_by_hand(context: StackingContext) -> np.ndarray:
    """Return half of each layer's mean weights plus half the identity, (L, T, T), by numpy."""
    maps = attention_maps(context.source, context.plan, context.mask).double().numpy()
    identity = np.eye(maps.shape[-1])
    steps = 0.5 * maps.mean(axis=1) + 0.5 * identity
    fully_masked = maps.sum(axis=(1, 3)) == 0
    steps[fully_masked] = np.broadcast_to(identity, steps.shape)[fully_masked]  # a fully masked token stays as it is
    return steps
