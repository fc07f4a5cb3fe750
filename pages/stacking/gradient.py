"""The words that a last-layer token derives from: by gradient, by attention rollout, by the last layer's weights."""

import numpy as np
import streamlit as st
from torch import Tensor

from pages.stacking import compute
from pages.stacking.context import NEAREST, StackingContext, state_checks, weights_check
from viz.components.bars import BarChart
from viz.core.analysis.checks import rows_error, worst
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.text.naming import name_token


def draw(context: StackingContext) -> list[Check]:
    """Draw the token's row of the weights, the rollout and the gradient; and each picture's top words."""
    t, rollouts, query = context.t, context.rollouts, context.query
    reacts = compute.gradients(context.source, context.plan, context.mask, query)[0][0]
    rows = {
        "weights": rollouts.weights[query],
        "rollout": rollouts.through[-1, query],
        "gradient": reacts / reacts.sum(),
    }
    title = t(
        "stacking.gradient.picture", token=name_token(context.labels, query), layers=context.layers(context.depth)
    )
    st.text(title)
    series = {_name(context, code): values for code, values in rows.items()}
    chart = BarChart(
        context.labels, series, title=t("stacking.words"), value_title=t("stacking.gradient.share"), height=300
    )
    show_bars(chart, key="origin_row", alt=title)
    context.token_control()
    # Of a few words any three are the right ones.
    if len(context.labels) > 2 * NEAREST:
        _compare(context, rows)
    say(t("stacking.gradient.shows"))
    tolerance = 2e-3 * float(reacts.max())
    error = compute.slope_error(context.source, context.plan, context.mask, query, tolerance)
    return [
        check("stacking.check_slope", error, tolerance),
        check("stacking.check_rollout", rows_error(rollouts.through), 1e-5, layers=context.layers(context.depth)),
        check("stacking.check_by_hand", rollout_error(context), 1e-5),
        weights_check(context),
        *state_checks(context),
    ]


def _name(context: StackingContext, code: str) -> str:
    return context.t(f"stacking.gradient.name_{code}", last=context.depth - 1)


def _compare(context: StackingContext, rows: dict[str, Tensor]) -> None:
    """List the top words of each picture, and the number that the gradient shares."""
    t, by_gradient = context.t, context.most(rows["gradient"])
    lines = [t("stacking.gradient.most", words=context.names(by_gradient))]
    for code in ("weights", "rollout"):
        top_words = context.most(rows[code])
        same = len(set(top_words) & set(by_gradient))
        numbers = {"name": _name(context, code), "words": context.names(top_words), "same": same, "n": NEAREST}
        lines.append(t("stacking.gradient.compared", **numbers))
    st.text("\n".join(lines))


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
    maps = compute.attention_maps(context.source, context.plan, context.mask).double().numpy()
    identity = np.eye(maps.shape[-1])
    steps = 0.5 * maps.mean(axis=1) + 0.5 * identity
    fully_masked = maps.sum(axis=(1, 3)) == 0
    # A fully masked token stays as it is.
    steps[fully_masked] = np.broadcast_to(identity, steps.shape)[fully_masked]
    return steps
