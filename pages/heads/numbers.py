"""Every head of the layer in a few numbers, beside a head that knows nothing."""

from typing import Any

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.heads import by_numpy
from pages.heads.context import HeadsContext
from viz.core.analysis.head_statistics import HeadStatistics, baseline, head_statistics
from viz.frame.checks import Check, check, open_cells
from viz.frame.scene import Scene
from viz.frame.show import show_table

NAMES = 90
"""Pixels of the first column: as wide as the name of the last line, in either language."""


def _masks(scene: Scene) -> tuple[Tensor, Tensor, Tensor]:
    tokens, trace = scene.capture.tokens, scene.trace
    n_queries, n_keys = trace.weights.shape[-2:]
    visible = trace.masked.isfinite().any(0) if trace.allowed is not None else torch.ones(n_queries, n_keys).bool()
    return visible, torch.tensor(tokens.ids), torch.tensor(tokens.special)


def draw(context: HeadsContext) -> list[Check]:
    """Each head in a few numbers, and the same numbers for a head that spreads its weight evenly."""
    scene, head = context.scene, context.head
    t = scene.t
    visible, ids, special = _masks(scene)
    heads, even = head_statistics(scene.trace.weights, ids, special), baseline(visible, ids, special)
    names = list(vars(heads))
    rows = [_row(heads, i, f"{'▸ ' if i == head else ''}{i}") for i in range(scene.trace.weights.shape[0])]
    rows.append(_row(even, 0, t("heads.even")))
    columns = {"head": st.column_config.TextColumn(t("heads.head"), pinned=True, width=NAMES)} | {
        name: st.column_config.NumberColumn(t(f"heads.n_{name}"), help=t(f"heads.n_{name}_help"), format="%.2f")
        for name in names
    }
    show_table(rows, column_config=columns, height="content", key="numbers")
    st.caption(t("heads.numbers_note"))
    return [check("heads.check_numbers", _error(scene, heads, even), 1e-5)]


def _error(scene: Scene, heads: HeadStatistics, even: HeadStatistics) -> float:
    """The largest error of the table's numbers against NumPy, the last row included."""
    trace, tokens, visible = scene.trace, scene.capture.tokens, open_cells(scene).any(0).numpy()
    spread = visible / np.maximum(visible.sum(-1, keepdims=True), 1)
    maps = (trace.weights.double().numpy(), heads), (spread[None], even)
    return max(by_numpy.worst(vars(of), by_numpy.numbers(weights, tokens.ids, tokens.special)) for weights, of in maps)


def _row(of: HeadStatistics, i: int, name: str) -> dict[str, Any]:
    numbers = {key: float(values[i]) for key, values in vars(of).items()}
    return {"head": name} | {key: None if value != value else value for key, value in numbers.items()}  # noqa: PLR0124
