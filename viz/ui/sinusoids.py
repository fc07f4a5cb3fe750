"""The sinusoids of the Positions page: live in the browser, and what makes them work, computed here."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import normalize

from viz.core.encodings import offset_profile
from viz.core.positions import frequencies, rotation, sinusoidal
from viz.figures.offsets import Curve, offset_curves
from viz.models.registry import ModelError
from viz.text import sentences
from viz.ui import compute, state
from viz.ui.controls import KEEP
from viz.ui.ground import COLOURS, HIGHEST_BASE, LOWEST_BASE, Ground
from viz.ui.layout import check, say_error, show
from viz.views.maps import Panel, pack_maps
from viz.views.mount import mount

EXPLORER = "sinusoids"
WIDEST, MOST = 512, 512
SHOWN_ROWS = 128
"""Positions whose products with each other are drawn; the curve beside takes all."""


def explorer(ground: Ground) -> None:
    """The sinusoids, live in the browser; what is chosen there arrives here when the slider is let go."""
    width = state.whole("pe_width", 64, 1, WIDEST)
    n = state.whole("pe_n", 64, 8, MOST)
    choice = {
        "width": width, "n": n, "base": ground.placing.base, "at": state.whole("pe_at", 12, 0, n - 1),
        "pairs": state.numbers("pe_pairs", 0, max(0, width // 2 - 1)),
    }  # fmt: skip
    words = sentences(ground.scene.choice.lang)
    before = st.session_state.get(EXPLORER, {}).get("choice") or {}
    data = {
        "choice": choice, "sent": before.get("sent", 0), "limits": {"width": WIDEST, "n": MOST}, "hues": COLOURS,
        "words": {key.removeprefix("sinusoids."): words[key] for key in words if key.startswith("sinusoids.")},
    }  # fmt: skip
    mount(EXPLORER, key=EXPLORER, data=data, on_choice_change=_take)
    try:
        frequencies(width, base=ground.placing.base)
    except ValueError as error:
        say_error(ground.t, error)


def _take() -> None:
    for name, value in read_choice(st.session_state[EXPLORER].get("choice")).items():
        state.put(name, value)


def read_choice(sent: Any) -> dict[str, Any]:
    """What the explorer sent, as far as it has the right types; anything else is left out.

    Example:
        >>> read_choice({"width": 8, "base": 100, "at": True, "pairs": [0, "x"]})
        {'pe_width': 8, 'base': 100.0}
    """
    if not isinstance(sent, Mapping):
        return {}

    def whole(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    found: dict[str, Any] = {f"pe_{name}": sent[name] for name in ("width", "n", "at") if whole(sent.get(name))}
    base, pairs = sent.get("base"), sent.get("pairs")
    if isinstance(base, int | float) and LOWEST_BASE <= base <= HIGHEST_BASE:
        found["base"] = float(base)
    if isinstance(pairs, list) and all(whole(one) for one in pairs):
        found["pe_pairs"] = pairs
    return found


def _learned_rows(ground: Ground) -> tuple[str, Tensor] | None:
    """A trained table to compare with: the source's own, else the default model's, if it is here."""
    if ground.rows is not None:
        return ground.scene.choice.source.model, ground.rows
    try:
        rows = compute.model(compute.DEFAULT_MODEL).positions()
    except ModelError:
        return None
    return None if rows is None else (compute.DEFAULT_MODEL, rows)


def distance_only(ground: Ground) -> None:
    """What two rows share depends on their distance: exactly so for sinusoids, roughly for trained rows."""
    t, n, width = ground.t, st.session_state["pe_n"], st.session_state["pe_width"]
    if width % 2:
        st.info(t("positions.odd"))
        return
    tables = {ground.name("sinusoidal"): sinusoidal(n, width, base=ground.placing.base)}
    learned = _learned_rows(ground)
    if learned is not None:
        tables[t("positions.learned_of", model=learned[0])] = learned[1][:n]
    cosines = {name: normalize(rows, dim=-1) @ normalize(rows, dim=-1).T for name, rows in tables.items()}
    curves, ahead = {}, {}
    for name, cosine in cosines.items():
        profile = offset_profile(cosine)
        here = profile.offset >= 0
        ahead[name] = float(profile.spread.max())
        curves[name] = Curve(x=profile.offset[here], y=profile.mean[here], spread=profile.spread[here])
    fig = offset_curves(curves, x_title=t("positions.distance"), y_title=t("positions.cosine"), limits=(-1.05, 1.05))
    show(fig, key="distance", alt=t("positions.distance_alt"))
    spreads = list(ahead.values())
    st.markdown(t("positions.spread", sinusoidal=f"{spreads[0]:.1e}"))
    if learned is not None:
        st.markdown(t("positions.spread_learned", learned=f"{spreads[1]:.2f}", model=learned[0]))
    ground.checks.append(check("positions.check_distance", spreads[0], 1e-5))
    _products(ground, cosines)


def _products(ground: Ground, cosines: Mapping[str, Tensor]) -> None:
    n = min(SHOWN_ROWS, *(len(cosine) for cosine in cosines.values()))
    labels = tuple(str(i) for i in range(n))
    t = ground.t
    panels = [
        Panel(
            code=name, title=t("positions.products", name=name), alt=t("positions.products", name=name), labels=labels
        )
        for name in cosines
    ]
    values = torch.stack([cosine[:n, :n] for cosine in cosines.values()])
    words = {"says": t("positions.rows_say"), "axes": t("positions.rows_axes", n=n)}
    packed = pack_maps(panels, values, what="scores", limit=1.0, gutter=True, words=words, hues=COLOURS)
    mount("maps", key="products", data=packed)


def shift(ground: Ground) -> None:
    """Moving on by k is a rotation, the same one from every position; shown for one pair, checked for all."""
    t, n, width, at = ground.t, st.session_state["pe_n"], st.session_state["pe_width"], st.session_state["pe_at"]
    if width % 2:
        return
    columns = st.columns(2)
    k = state.whole("pe_k", 5, -32, 32)
    pair = state.whole("pe_pair", 1, 0, max(1, width // 2 - 1)) if width > 2 else 0
    columns[0].slider(t("positions.k"), -32, 32, key="pe_k", persist_state=KEEP)
    if width > 2:
        columns[1].slider(t("positions.pair"), 0, width // 2 - 1, key="pe_pair", persist_state=KEEP)
    base = ground.placing.base
    omega = float(frequencies(width, base=base)[pair])
    rows = sinusoidal(n + 64, width, base=base)  # from row 32 on there is room for every k
    turn = rotation(k, width, base=base)
    moved = rows[32 : 32 + n] @ turn.T
    residual = float((moved - rows[32 + k : 32 + k + n]).abs().max())
    block = turn[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2]
    start = sinusoidal(at + 1, width, base=base)[at, 2 * pair : 2 * pair + 2]
    result = block @ start
    st.latex(_rotation_formula(pair, at, k, omega, block, start, result))
    ground.checks.append(check("positions.check_shift", residual, 1e-5, k=k))


def _rotation_formula(pair: int, at: int, k: int, omega: float, block: Tensor, start: Tensor, result: Tensor) -> str:
    def matrix_of(values: Tensor) -> str:
        rows = values.reshape(len(values), -1).tolist()
        return r"\begin{pmatrix}" + r"\\".join("&".join(f"{v:.4f}" for v in row) for row in rows) + r"\end{pmatrix}"

    letters = r"\begin{pmatrix}\cos k\omega&\sin k\omega\\-\sin k\omega&\cos k\omega\end{pmatrix}"
    return (
        rf"\begin{{aligned}} R_k&={letters}\\&={matrix_of(block)}\\ \omega_{{{pair}}}&={omega:.4g},\quad k={k}\\"
        rf"R_k\,p({at})&=R_k\,{matrix_of(start)}\\&={matrix_of(result)}=p({at + k}) \end{{aligned}}"
    )
