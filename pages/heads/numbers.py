"""Every head of the layer in a few numbers, beside a head that knows nothing."""

import numpy as np
import streamlit as st
import torch

from pages.heads import by_numpy
from pages.heads.context import HeadsContext
from viz.core.analysis.head_statistics import HeadStatistics, baseline, head_statistics
from viz.figures.bar_table import Bar, bar_table
from viz.frame.checks import Check, check, open_cells
from viz.frame.scene import Scene


def draw(context: HeadsContext) -> list[Check]:
    """Each head in a few numbers, and the same numbers for a head that spreads its weight evenly."""
    scene, head, t, trace = context.scene, context.head, context.scene.t, context.scene.trace
    visible = torch.ones(trace.weights.shape[-2:]).bool() if trace.allowed is None else trace.masked.isfinite().any(0)
    ids, special = torch.tensor(scene.capture.tokens.ids), torch.tensor(scene.capture.tokens.special)
    heads, even = head_statistics(trace.weights, ids, special), baseline(visible, ids, special)
    rows = {f"{'▸ ' if i == head else ''}{i}": "" for i in range(len(trace.weights))} | {t("heads.even"): ""}
    columns = {
        t(f"heads.n_{name}"): [Bar(float(value), digits=2) for value in (*values, vars(even)[name][0])]
        for name, values in vars(heads).items()
    }
    texts = ("", *(t(f"heads.n_{name}_help") for name in vars(heads)))
    st.html(bar_table(t("heads.head"), rows, columns, help_texts=texts, current=head, base=len(rows) - 1))
    st.caption(t("heads.numbers_note"))
    return [check("heads.check_numbers", _error(scene, heads, even), 1e-5)]


def _error(scene: Scene, heads: HeadStatistics, even: HeadStatistics) -> float:
    """The largest error of the table's numbers against NumPy, the last row included."""
    trace, tokens, visible = scene.trace, scene.capture.tokens, open_cells(scene).any(0).numpy()
    spread = visible / np.maximum(visible.sum(-1, keepdims=True), 1)
    maps = (trace.weights.double().numpy(), heads), (spread[None], even)
    return max(by_numpy.worst(vars(of), by_numpy.numbers(weights, tokens.ids, tokens.special)) for weights, of in maps)
