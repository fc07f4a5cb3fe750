"""Positions added to the words: X, P and X + P on one scale, and the lengths of their rows."""

from collections.abc import Callable

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute
from pages.positions.checks import sinusoids_error
from pages.positions.context import PositionsContext
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix, numbered
from viz.core.analysis.checks import largest
from viz.core.positions import sinusoidal
from viz.core.variants.encodings import learned, no_table
from viz.frame.checks import Check, check
from viz.frame.format import statistic
from viz.frame.modes import say
from viz.frame.scene import say_error
from viz.frame.show import show_bars, show_matrix
from viz.params import Choice

PARTS = {"X": "words", "P": "places", "X + P": "sum"}
"""Text keys of the tables."""
ADDED = Choice("added", lambda codes: codes[-1], among=lambda codes: codes)


def code_that_ran(context: PositionsContext) -> tuple[Callable[..., Tensor], ...]:
    """Return the function that made the table on the screen."""
    return (learned if ADDED.read(table_codes(context)) == "learned" else sinusoidal,)


def table_codes(context: PositionsContext) -> list[str]:
    """Return the codes of the encodings that add a table to the words."""
    return [code for code, encoding in context.encodings.items() if encoding.table is not no_table]


def draw(context: PositionsContext) -> list[Check]:
    """Draw three tables of the same size, and the lengths of their rows."""
    t, pictures = context.t, st.container()
    codes = table_codes(context)
    label = t("positions.added.which")
    names = {code: context.name(code) for code in codes}  # a label holds names, and no tensor
    code = ADDED.segments(label, codes, says=names.__getitem__)
    try:
        table = context.encodings[code].table(*context.vectors.shape)
    except ValueError as error:
        say_error(t, error)
        return []
    parts = {"X": context.vectors, "P": table, "X + P": context.vectors + table}
    with pictures:
        _tables(context, parts)
    norms = {f"‖{name}‖": values.norm(dim=-1) for name, values in parts.items()}
    means = [statistic(norm.mean(), 2) for norm in norms.values()]
    summary = t("positions.norms", x=means[0], p=means[1], sum=means[2])
    say(summary)
    context.say_gain(code)
    chart = BarChart(
        context.tokens.labels, norms, title=t("axis.tokens"), value_title=t("positions.length"), height=230
    )
    show_bars(chart, key="norms", alt=summary)
    return _checks(context, code, parts)


def _tables(context: PositionsContext, parts: dict[str, Tensor]) -> None:
    t, width = context.t, context.vectors.shape[1]
    limit = float(torch.cat([values.abs().flatten() for values in parts.values()]).quantile(0.995))
    rows = Axis(context.tokens.labels, t("axis.tokens"))
    columns = numbered(width, t("positions.dimension"))
    for place, (name, values) in zip(st.columns([10, 10, 11]), parts.items(), strict=True):
        last = name == "X + P"  # one scale for all three
        matrix = Matrix(values=values, rows=rows, columns=columns, kind="signed", limit=limit, low=True, scale=last)
        with place:
            st.markdown(f"**{t(f'positions.added.{PARTS[name]}')}**")
            show_matrix(t, matrix, key=f"added_{name}", alt=t("positions.added_alt", name=name, n=context.n, d=width))


def _checks(context: PositionsContext, code: str, parts: dict[str, Tensor]) -> list[Check]:
    """Check P against its formula, and the first layer's input against the sum."""
    source, base, checks = context.scene.choice.source, context.placing.base, []
    if code == "sinusoidal":
        off = sinusoids_error(parts["P"] / context.gain, base)
        checks.append(check("positions.check_sinusoids", off, 1e-6))
    if source.kind != "model":
        layer_input = compute.place_tokens(source, context.with_positions(code)).calls[0].x
        expected = parts["X + P"].double()
        if source.kind == "embeddings":  # each row is normalised: mean 0, variance 1
            centred = expected - expected.mean(-1, keepdim=True)
            expected = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        checks.append(check("positions.check_given", (layer_input - expected).abs().max(), 1e-5 * largest(expected)))
    elif code == "learned":
        layer_input, model_input = (
            compute.place_tokens(source, context.with_positions(code)).calls[0].x,
            context.scene.capture.calls[0].x,
        )
        expected = model_input[: context.n]
        checks.append(
            check("positions.check_given_model", (layer_input - expected).abs().max(), 1e-5 * largest(expected))
        )
    return checks
