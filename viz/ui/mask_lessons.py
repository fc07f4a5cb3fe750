"""What goes wrong with masks: a row with no key left, a mask that comes after the softmax, the opposite polarity."""

from collections.abc import Callable

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from viz.core.attention import attend, row_softmax
from viz.core.broken_masks import (
    bare_softmax,
    filled_softmax,
    masked_after,
    renormalise,
    shifted_softmax,
    through_mha,
    torchs_weights,
)
from viz.core.checks import largest
from viz.core.heads import share_kv
from viz.ui import state
from viz.ui.controls import KEEP
from viz.ui.masks import HUES, Board
from viz.views.maps import Panel, pack_maps
from viz.views.mount import mount

Way = Callable[[Tensor, Tensor], Tensor]


def _before(scores: Tensor, allowed: Tensor) -> Tensor:
    """As everywhere in this app."""
    return row_softmax(scores.masked_fill(~allowed, -torch.inf))


def _in_double(scores: Tensor, allowed: Tensor) -> Tensor:
    return shifted_softmax(scores.double(), allowed).float()


WAYS: dict[str, Way] = {
    "bare": bare_softmax, "filled": filled_softmax, "shifted": shifted_softmax, "double": _in_double,
    "sdpa": torchs_weights, "ours": _before,
}  # fmt: skip


def empty_row(board: Board) -> None:
    """One query that may look nowhere, in the hands of six programs."""
    t, row, labels = board.t, board.query, board.labels
    st.selectbox(
        t("masks.empty_query"), range(board.n), key="query", persist_state=KEEP, width=260,
        format_func=lambda i: f"{i} · {labels[i]}",
    )  # fmt: skip
    emptied = board.allowed.clone()
    emptied[row] = False
    values = share_kv(board.v, len(board.q))[board.head]
    table = []
    for name, way in WAYS.items():
        weights = way(board.scores, emptied)[row]
        length = float((weights @ values).norm())
        table.append(
            {
                t("masks.t_way"): t(f"masks.way_{name}"),
                t("masks.t_weights"): _range(weights),
                t("masks.t_sum"): _short(float(weights.sum())),
                t("masks.t_length"): _short(length),
            }
        )
    st.dataframe(table, hide_index=True)
    st.markdown("\n".join(f"- {t(f'masks.way_{name}')}: {t(f'masks.means_{name}')}" for name in WAYS))
    st.caption(t("masks.empty_note", own=_short(float((board.every_head.weights[board.head, row] @ values).norm()))))


def _short(value: float) -> str:
    return "NaN" if value != value else f"{value:.4f}"  # noqa: PLR0124


def _range(weights: Tensor) -> str:
    low, high = _short(float(weights.min())), _short(float(weights.max()))
    return low if low == high else f"{low} – {high}"


def too_late(board: Board) -> None:
    """Break it: the mask after the softmax."""
    t = board.t
    late = state.flag("mask_late")
    st.toggle(t("masks.late"), key="mask_late", persist_state=KEEP, help=t("masks.late_help"))
    if not late:
        return
    if bool(board.allowed.all()):
        st.info(t("masks.late_nothing"))
        return
    sees = board.allowed.any(-1)
    if not sees.any():
        st.info(t("masks.late_blind"))
        return
    wrong = masked_after(board.scores, board.allowed)
    sums = wrong.sum(-1).where(sees, torch.inf)  # a row with nothing to see sums to 0 either way
    low = int(sums.argmin())
    if n := int((sums < 0.99).sum()):
        st.warning(t("masks.late_found", low=f"{float(sums[low]):.4f}", n=n, all=int(sees.sum())))
        st.text(t("masks.late_row", query=board.labels[low], lost=f"{100 * (1 - float(sums[low])):.1f} %"))
    else:  # summed over what is blocked: 1 minus the sum would be rounding
        lost = float((board.every_head.weights[board.head] * ~board.allowed)[sees].sum(-1).max())
        st.info(t("masks.late_little", lost=f"{lost:.1e}"))
    mended = renormalise(wrong)
    titles = [t("masks.late_right"), t("masks.late_wrong")]
    _pair(board, titles, torch.stack([board.weights, wrong]), "late", t("masks.axes"))
    off = float((mended - board.weights).abs().max())
    st.markdown(t("masks.late_mended", off=f"{off:.1e}"))


def polarity(board: Board) -> None:
    """One mask in two conventions: what is coloured is True."""
    t, allowed = board.t, board.allowed
    titles = [t("masks.polarity_sdpa", n=int(allowed.sum())), t("masks.polarity_mha", n=int((~allowed).sum()))]
    _pair(board, titles, torch.stack([allowed, ~allowed]).float(), "polarity", t("masks.axes_true"))
    if board.v.shape[-1] != board.k.shape[-1]:
        return
    right, turned = through(board, allowed), through(board, ~allowed)
    if right:
        st.markdown(t("masks.polarity_right", off=f"{right[0]:.1e}"))
    if turned and max(turned) <= 1e-5 * largest(board.v):
        st.info(t("masks.polarity_alike", off=f"{max(turned):.1e}"))
    elif turned:
        st.markdown(t("masks.polarity_turned", mha=f"{turned[0]:.2f}", sdpa=f"{turned[1]:.2f}"))
    else:
        st.info(t("masks.polarity_no_row"))
    st.caption(t("masks.polarity_note"))


def through(board: Board, allowed: Tensor) -> tuple[float, float] | None:
    """How far ``nn.MultiheadAttention`` and SDPA are from our heads if they are told that ``allowed`` is the mask.

    On the same q, k and v, without what the model adds to its scores; rows that may look nowhere, here or there, are
    left out: the module makes NaN of them. None, if that leaves no row to compare.
    """
    n_heads, scale = len(board.q), board.every_head.scale
    q, k, v = board.q, share_kv(board.k, n_heads), share_kv(board.v, n_heads)
    rows = board.allowed.any(-1) & allowed.any(-1)
    if not rows.any():
        return None
    ours = attend(q, k, v, allowed=board.allowed, scale=scale).output

    def off(output: Tensor) -> float:
        return float((output - ours)[:, rows].abs().max())

    module = through_mha(q, k, v, blocked=~allowed, scale=scale)
    return off(module), off(scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale))


def _pair(board: Board, titles: list[str], maps: Tensor, key: str, axes: str) -> None:
    """Two maps of the same tokens side by side."""
    panels = [Panel(code=str(i), title=title, alt=title, labels=board.labels) for i, title in enumerate(titles)]
    packed = pack_maps(
        panels, maps, what="weights", limit=1.0, hues=HUES, gutter=True,
        words={"says": board.t("positions.pair_says"), "axes": axes},
    )  # fmt: skip
    mount("maps", key=key, data=packed)
