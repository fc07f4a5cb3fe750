"""One row of one head: what a single word looks at."""

import streamlit as st
import torch

from pages.heads import by_numpy
from pages.heads.context import HeadsContext, at_temperature_one, check_row
from viz.components.bars import BarChart
from viz.core.analysis.checks import sink_share
from viz.frame.checks import Check, asked_of, check
from viz.frame.compute import head_grid
from viz.frame.format import number, part
from viz.frame.head_grid.grid import opening_query
from viz.frame.modes import say
from viz.frame.shared import QUERY, Places
from viz.frame.show import show_bars
from viz.text.naming import list_token, name_token

SUM = 1e-4
"""Largest difference from 1 that rounding makes of a sum of weights."""


def draw(context: HeadsContext) -> list[Check]:
    """The chosen row of the chosen head, as bars."""
    scene, view_data, view = context.scene, context.shown, context.view
    queries = head_grid.axis(scene.capture.queries, context.view)
    # The row that holds the chosen token: the grid's locked one, or one chosen here.
    t, query = scene.t, max(0, queries.of[QUERY.read(row_places(context))])
    weights, row = view.what == "weights", view_data.values[context.head, query]
    best = int(row.nan_to_num(neginf=-torch.inf).argmax())
    if bool(row[best] > 0 if weights else row[best].isfinite()):
        value = part(float(row[best])) if weights else number(float(row[best]), 3)
        pair = {"query": _name(context, query), "key": _name(context, best, key=True)}
        sentence = t(f"heads.row_{view.what}", value=value, **pair)
    else:
        # The query is fully masked, or its keys are hidden.
        sentence = t("head_grid.says_blind", q=_name(context, query))
    chart = BarChart(
        view_data.labels,
        {t("heads.row_series"): row},
        title=t("axis.keys"),
        top=1.0 if weights else None,
        height=230,
        value_title=t("heads.share" if weights else "view.what_scores"),
    )
    show_bars(chart, key="row", alt=sentence)
    st.text(sentence)
    if weights:
        _say_nowhere(context, query)
    names = [list_token(i, label) for i, label in enumerate(scene.capture.queries.labels)]
    QUERY.selectbox(t("heads.row_of"), row_places(context), says=names.__getitem__, width=260)
    at_temperature_one(context)
    _say_sum(context, query)
    return [check_row(scene, context.head), *([_shown_check(context, query)] if weights else [])]


def _name(context: HeadsContext, place: int, *, key: bool = False) -> str:
    """Name a row or a column that is shown, with the number of its token if its label comes again."""
    capture = context.scene.capture
    of = head_grid.axis(capture.tokens if key else capture.queries, context.view).of
    return name_token(context.shown.labels, place, list(of).index(place))


def _say_nowhere(context: HeadsContext, query: int) -> None:
    """Say which share of the row goes to no word, where the layer has a sink: the mean over the tokens of the row."""
    trace = context.scene.trace
    shares = sink_share(trace.q, trace.k, **asked_of(context.scene))
    if shares is None:
        return
    rows = head_grid.axis(context.scene.capture.queries, context.view).of
    tokens = [place for place, row in enumerate(rows) if row == query]
    nowhere = part(float(shares[context.head, tokens].mean()))
    st.text(context.scene.t("heads.row_nowhere", query=_name(context, query), value=nowhere))


def _say_sum(context: HeadsContext, query: int) -> None:
    """Say that the row adds up to 1, where it does: with a sink, or where nothing may be looked at, it does not."""
    row = context.shown.values[context.head, query]
    if context.view.what == "scores":
        rows = head_grid.axis(context.scene.capture.queries, context.view).of
        row = context.scene.trace.weights[context.head][[place for place, of in enumerate(rows) if of == query]].mean(0)
    if abs(float(row.sum()) - 1) < SUM:
        say(context.scene.t("heads.row_sum"))
    else:
        # An empty element keeps the place.
        st.empty()


def _shown_check(context: HeadsContext, query: int) -> Check:
    """The bars that are shown, merged or hidden as the view says, cell by cell from the weights of all tokens."""
    scene, view, head = context.scene, context.view, context.head
    rows = [place for place, row in enumerate(head_grid.axis(scene.capture.queries, view).of) if row == query]
    bars, weights = context.shown.values[head, query], scene.trace.weights[head][rows]
    off = by_numpy.row_difference(bars, weights, scene.capture.tokens, view)
    return check("heads.check_shown", off, 1e-5)


def row_places(context: HeadsContext) -> Places:
    """Return the rows to choose from; -1 stands for none, while no row is locked in the grid."""
    labels = context.scene.capture.queries.labels
    return Places(labels, max(0, opening_query(context.scene)), range(len(labels)))
