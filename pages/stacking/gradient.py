"""The words that a last-layer token derives from: by gradient, by attention rollout, by the last layer's weights."""

import streamlit as st
from torch import Tensor

from pages.stacking import compute
from pages.stacking.context import NEAREST, StackingContext, state_checks, weights_check
from pages.stacking.rollout import rollout_checks
from viz.components.bars import BarChart
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.text.naming import name_token


def draw(context: StackingContext) -> list[Check]:
    """Draw the token's row of the weights, the rollout and the gradient; and each picture's top words."""
    t, rollouts, query = context.t, context.rollouts, context.query
    reacts = compute.gradients(context.source, context.plan, context.mask, query)[0]
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
    word = int(reacts.argmax())
    slopes = compute.measured_slopes(context.source, context.plan, context.mask, query, word)
    error = min(abs(slope - float(reacts[word])) for slope in slopes)
    return [
        check("stacking.check_slope", error, 2e-3 * float(reacts[word])),
        *rollout_checks(context),
        weights_check(context),
        *state_checks(context),
    ]


def _name(context: StackingContext, code: str) -> str:
    return context.t(f"stacking.gradient.name_{code}", last=context.depth - 1)


def _compare(context: StackingContext, rows: dict[str, Tensor]) -> None:
    """List the top words of each picture, and the number that the gradient shares."""
    t, by_gradient = context.t, context.most(rows["gradient"])
    lines = [t("stacking.gradient.most", words=context.names(by_gradient))]
    pictures = {code: values for code, values in rows.items() if code != "gradient"}
    for code, values in pictures.items():
        top_words = context.most(values)
        same = len(set(top_words) & set(by_gradient))
        numbers = {"name": _name(context, code), "words": context.names(top_words), "same": same, "n": NEAREST}
        lines.append(t("stacking.gradient.compared", **numbers))
    st.text("\n".join(lines))
