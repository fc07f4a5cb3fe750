"""Strips of maps on the tokens of the text: weights from 0 to 1, or cells that may be negative."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from pages.attention_today.context import TodayContext
from viz.components import maps as maps_view
from viz.components.matrix import Axis, Matrix
from viz.frame.show import show_matrix


def show_maps(
    context: TodayContext,
    titles: Sequence[str],
    maps: Tensor,
    *,
    key: str,
    signed: bool = False,
    limit: float | None = None,
    columns: tuple[str, ...] = (),
) -> Tensor:
    """Show maps (n maps, T, columns) side by side; return them as the browser reads them, for a check.

    ``signed`` colours them around 0, on one scale that ends at ``limit``, or at the largest. ``columns`` name the keys
    where these are not the text's tokens alone.
    """
    limit = limit or (max(float(maps.abs().max()), 1e-6) if signed else 1.0)
    axes = context.t("attention_today.axes_signed" if signed else "attention_today.axes")
    what, labels = "scores" if signed else "weights", context.labels
    return maps_view.show_maps(
        context.t, titles, maps, labels, columns=columns, key=key, axes=axes, what=what, limit=limit
    )


def show_map(
    context: TodayContext, place: DeltaGenerator, key: str, title: str, weights: Tensor, labels: Sequence[str]
) -> Tensor:
    """Draw a map of keys with these labels at a place; return its weights as the browser reads them, -inf if closed."""
    rows, columns = Axis(context.labels, context.t("axis.queries")), Axis(labels, context.t("axis.keys"))
    with place:
        st.subheader(title, anchor=False)
        matrix = Matrix(values=weights, rows=rows, columns=columns, kind="weights")
        return show_matrix(context.t, matrix, key=key, alt=title)
