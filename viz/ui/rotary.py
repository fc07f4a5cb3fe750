"""RoPE on the plane of one pair of dimensions: a part of the Positions page."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from viz.core.heads import share_kv
from viz.core.positions import Pairing, frequencies, rope
from viz.figures.palette import BLUE, ORANGE
from viz.figures.plane import Arrow, plane
from viz.ui import compute, state
from viz.ui.controls import KEEP
from viz.ui.ground import Ground
from viz.ui.layout import check, say_error, show

FARTHEST = 200
"""How far both tokens can be moved on together."""

PAIRINGS: tuple[Pairing, ...] = ("adjacent", "halves")


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A query and a key token, a pair of dimensions, and how far both are moved on."""

    pairing: Pairing
    query: int
    key: int
    pair: int
    moved: int


def rotate(ground: Ground) -> None:
    """One pair of one query and one key, before and after RoPE turns them; only the offset matters to their product."""
    t, trace = ground.t, compute.first_layer(ground.scene.choice.source, ground.placed("none"))
    try:
        omega = frequencies(trace.q.shape[-1], base=ground.placing.base)
    except ValueError as error:
        say_error(t, error)
        return
    chosen = _controls(ground, len(omega))
    i, j, pair, moved = chosen.query, chosen.key, chosen.pair, chosen.moved
    q, k = trace.q[ground.head, i], share_kv(trace.k, trace.q.shape[0])[ground.head, j]
    labels = ground.tokens.labels
    st.text(t("positions.rope_who", query=labels[i], i=i + moved, key=labels[j], j=j + moved, offset=j - i))
    places = torch.arange(FARTHEST + 1)

    def turn(x: Tensor, start: int) -> Tensor:
        """The vector at its own place, and at every place up to FARTHEST further on."""
        rows = x.expand(len(places), -1)
        return rope(rows, base=ground.placing.base, pairing=chosen.pairing, positions=places + start)

    turned_q, turned_k = turn(q, i), turn(k, j)
    a, b = (2 * pair, 2 * pair + 1) if chosen.pairing == "adjacent" else (pair, pair + len(omega))
    _plane(ground, {"query": (q, turned_q[moved]), "key": (k, turned_k[moved])}, a, b)
    scores = (turned_q * turned_k).sum(-1) * trace.scale
    st.markdown(
        t(
            "positions.rope_found", score=f"{float(scores[moved]):.4f}", bare=f"{float(q @ k) * trace.scale:.4f}",
            angle_i=f"{(i + moved) * float(omega[pair]):.3f}", angle_j=f"{(j + moved) * float(omega[pair]):.3f}",
        )
    )  # fmt: skip
    size = float(q.norm() * k.norm()) * trace.scale
    ground.checks.append(check("positions.check_rope", (scores - scores[0]).abs().max(), 1e-5 * max(1.0, size)))


def _controls(ground: Ground, n_pairs: int) -> Chosen:
    t, last = ground.t, ground.n - 1
    pairing = state.choice("pairing", PAIRINGS[0], PAIRINGS)
    st.segmented_control(
        t("positions.pairing"), PAIRINGS, key="pairing", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"positions.pairing_{code}"),
    )  # fmt: skip
    usual = {"rope_query": (3, last), "rope_key": (1, last), "rope_pair": (0, n_pairs - 1), "rope_shift": (0, FARTHEST)}
    values = []
    for column, (name, (default, most)) in zip(st.columns(4), usual.items(), strict=True):
        values.append(state.whole(name, default, 0, most))
        if most > 0:
            column.slider(t(f"positions.{name}"), 0, most, key=name, persist_state=KEEP)
    query, key, pair, moved = values
    return Chosen(pairing=PAIRINGS[PAIRINGS.index(pairing)], query=query, key=key, pair=pair, moved=moved)


def _plane(ground: Ground, vectors: Mapping[str, tuple[Tensor, Tensor]], a: int, b: int) -> None:
    t, arrows = ground.t, []
    for (who, (before, after)), hue in zip(vectors.items(), (BLUE, ORANGE), strict=True):
        tips = [(float(vector[a]), float(vector[b])) for vector in (before, after)]
        arrows.append(Arrow(name=t(f"positions.arrow_{who}_before"), hue=hue, faint=True, tip=tips[0]))
        arrows.append(Arrow(name=t(f"positions.arrow_{who}"), hue=hue, tip=tips[1]))
    fig = plane(arrows, x_title=t("positions.axis_dimension", i=a), y_title=t("positions.axis_dimension", i=b))
    show(fig, key="plane", alt=t("positions.plane_alt", a=a, b=b))
