"""Top-k: a mask that depends on the words, since each row keeps only the keys with its largest scores."""

import streamlit as st
import torch
from torch import Tensor

from pages.masks.checks import visible_by_rule, weights_by_torch, weights_of_cells
from pages.masks.context import MasksContext, masked_softmax
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import rounding
from viz.core.variants.today.selection import lost_shares, top_k_mask
from viz.figures import line_chart
from viz.figures.curves import curves
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.shared import KEEP
from viz.frame.show import show_lines, show_matrix
from viz.params import Scope

LARGEST = r"""\begin{gathered}
M_{ij} = 1 \iff s_{ij} \in \operatorname{top}_k\, s_{i\cdot}
\\ \ell_i = \sum_j (1 - M_{ij})\, A_{ij}
\\ A^{(k)}_{ij} = \frac{M_{ij}\, e^{s_{ij}}}{\sum_m M_{im}\, e^{s_{im}}} = \frac{M_{ij}\, A_{ij}}{1 - \ell_i}
\end{gathered}"""
KEPT_KEYS = KEEP.variant(high=lambda n: n, scope=Scope("top_k"))


def draw(context: MasksContext) -> list[Check]:
    """Draw the head's map beside the map of the k largest, the weight that each row loses, and how it falls with k."""
    t, pictures = context.t, st.container()
    k = KEPT_KEYS.slider(t("masks.top_k.keep"), context.n)
    mask = top_k_mask(context.scores, k, allowed=context.visible)
    weights = masked_softmax(context.scores, mask)
    lost = lost_shares(context.weights)
    with pictures:
        left, right = st.columns(2)
        with left:
            full_map = _show_map(context, context.weights, context.visible, "full")
        with right:
            maps_in_browser = _show_map(context, weights, mask, "kept", k=k)
        _say_loss(context, mask, lost[:, k - 1], k)
    _show_curve(context, lost, k)
    st.caption(t("masks.top_k.ties"))
    st.caption(t("masks.top_k.models"))
    return _checks(context, mask, (full_map, maps_in_browser), lost, k)


def _show_map(context: MasksContext, weights: Tensor, mask: Tensor, which: str, **numbers: int) -> Tensor:
    """Draw a map; return its weights as the browser reads them, 0 in closed cells."""
    t, labels = context.t, context.labels
    title = t(f"masks.top_k.{which}", **numbers)
    st.subheader(title, anchor=False)
    matrix = Matrix(
        values=weights.masked_fill(~mask, -torch.inf),
        rows=Axis(labels, t("axis.queries")),
        columns=Axis(labels, t("axis.keys")),
        kind="weights",
        hover=t("masks.top_k.cell"),
        blocked=t("masks.top_k.kept_closed"),
    )
    return show_matrix(t, matrix, key=f"top_k_{which}", alt=title).clamp(min=0)


def _say_loss(context: MasksContext, mask: Tensor, lost: Tensor, k: int) -> None:
    """Describe the cells that are left, and the weight that is lost on average and in the worst row."""
    t, visible = context.t, context.visible
    sees = visible.any(-1)
    if not sees.any():
        st.info(t("masks.late_nothing"))
        return
    cells = share(int(mask.sum()) / int(visible.sum()))
    mean, most = (share(float(value)) for value in (lost[sees].mean(), lost.max()))
    say(t("masks.top_k.says", k=k, cells=cells, mean=mean, most=most))


def _show_curve(context: MasksContext, lost: Tensor, k: int) -> None:
    t, sees = context.t, context.visible.any(-1)
    rows = lost[sees] if sees.any() else lost
    series = {t("masks.top_k.mean"): rows.mean(0), t("masks.top_k.worst"): rows.amax(0)}
    x, marks = line_chart.Axis(t("masks.top_k.keep")), [line_chart.Mark(x=k)]
    y = line_chart.Axis(t("masks.top_k.lost"), grid=True, limits=(0.0, 1.0))
    chart = curves(range(1, context.n + 1), series, x=x, y=y, dots=True, marks=marks, height=230)
    show_lines(chart, key="top_k_curve", alt=t("masks.top_k.curve_alt"))


def ranks_by_rule(scores: Tensor, visible: Tensor) -> Tensor:
    """Return each open key's rank in its row, counted from 0 for the largest score; of equals the earlier comes first.

    A closed key has the rank n, so that no k keeps it.
    """
    n = len(scores)
    ranks = torch.full((n, n), n)
    for i, row in enumerate(scores.tolist()):
        keys = [j for j in range(n) if visible[i, j]]
        for rank, j in enumerate(sorted(keys, key=lambda key: (-row[key], key))):
            ranks[i, j] = rank
    return ranks


def _checks(
    context: MasksContext, mask: Tensor, maps_in_browser: tuple[Tensor, Tensor], lost: Tensor, k: int
) -> list[Check]:
    n = context.n
    ranks = ranks_by_rule(context.scores, visible_by_rule(context, context.mask))
    full = weights_by_torch(context, context.mask)
    left_out = torch.stack([full.masked_fill(ranks < width, 0).sum(-1) for width in range(1, n + 1)], -1)
    off = (torch.stack(maps_in_browser) - torch.stack([full, weights_of_cells(context, ranks < k)])).abs().max()
    tolerance = rounding(context.q, context.k, context.options.get("scale"))
    every_key = top_k_mask(context.scores, n, allowed=context.visible)
    standard = masked_softmax(context.scores, every_key) - context.weights
    return [
        check("masks.top_k.check_mask", int((mask != (ranks < k)).sum()), 0, k=k),
        check("masks.top_k.check_weights", off, tolerance),
        check("masks.top_k.check_lost", (lost - left_out).abs().max(), tolerance),
        check("masks.top_k.check_standard", standard.abs().max(), 1e-6, n=n),
    ]
