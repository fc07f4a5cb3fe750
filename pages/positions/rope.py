"""RoPE on the plane of one pair of dimensions: query and key are rotated, and their score keeps only the offset."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute
from pages.positions.checks import asked_scale, rope_scores
from pages.positions.context import PositionsContext
from viz.core.heads import share_kv
from viz.core.positions import Pairing, frequencies, rope
from viz.figures.palette import BLUE, ORANGE
from viz.figures.plane import Arrow, plane
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.scene import say_error
from viz.frame.show import show_lines
from viz.params import Choice, Int

ROTATED_SCORE = r"(\rho_i\, q) \cdot (\rho_j\, k) = q \cdot (\rho_{j-i}\, k)"
FARTHEST = 200
"""Largest common shift of both tokens."""

PAIRINGS: tuple[Pairing, ...] = ("adjacent", "halves")
PAIRING = Choice("pairing", among=PAIRINGS)
ROPE_QUERY = Int("rope_query", 3, high=lambda n: n - 1)
ROPE_KEY = Int("rope_key", 1, high=lambda n: n - 1)
ROPE_PAIR = Int("rope_pair", high=lambda n_pairs: n_pairs - 1)
ROPE_SHIFT = Int("rope_shift", high=FARTHEST)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A query and a key token, a pair of dimensions, and a common shift."""

    pairing: Pairing
    query: int
    key: int
    pair: int
    moved: int

    def dimensions(self, n_pairs: int) -> tuple[int, int]:
        """Return the two dimensions of the pair."""
        return (2 * self.pair, 2 * self.pair + 1) if self.pairing == "adjacent" else (self.pair, self.pair + n_pairs)


def draw(context: PositionsContext) -> list[Check]:
    """Draw one pair of one query and one key, before and after RoPE rotates them."""
    t, base = context.t, context.placing.base
    trace = compute.first_layer(context.scene.choice.source, context.with_positions("none"))
    try:
        omega = frequencies(trace.q.shape[-1], base=base)
    except ValueError as error:
        say_error(t, error)
        return []
    left_column, right_column = st.columns(2)
    with right_column:
        label = t("positions.pairing")
        pairing = PAIRING.segments(label, says=lambda code: t(f"positions.pairing_{code}"))
        selection = _controls(context, PAIRINGS[PAIRINGS.index(pairing)], len(omega))
    q, k = trace.q[context.head, selection.query], share_kv(trace.k, len(trace.q))[context.head, selection.key]
    turned_q, turned_k = (
        rotate_at_places(x, start, base=base, pairing=selection.pairing)
        for x, start in ((q, selection.query), (k, selection.key))
    )
    with left_column:
        vectors = {"query": (q, turned_q[selection.moved]), "key": (k, turned_k[selection.moved])}
        _plane(context, vectors, *selection.dimensions(len(omega)))
    scores = (turned_q * turned_k).sum(-1) * trace.scale
    with right_column:
        _say(
            context, selection, float(omega[selection.pair]), float(scores[selection.moved]), float(q @ k) * trace.scale
        )
    size = max(1.0, float(q.norm() * k.norm()) * trace.scale)
    expected = rope_scores(q, k, torch.tensor(selection.key - selection.query), base=base, pairing=selection.pairing)
    return [
        check("positions.check_rope", (scores - scores[0]).abs().max(), 1e-5 * size),
        check("positions.check_rope_complex", (scores[0] - expected * asked_scale(context)).abs(), 1e-5 * size),
    ]


def rotate_at_places(x: Tensor, start: int, *, base: float, pairing: Pairing) -> Tensor:
    """Return a vector rotated at its own place, and at every place up to FARTHEST further on, (places, d_k)."""
    places = torch.arange(FARTHEST + 1)
    return rope(x.expand(len(places), -1), base=base, pairing=pairing, positions=places + start)


def _controls(context: PositionsContext, pairing: Pairing, n_pairs: int) -> Selection:
    t, n = context.t, context.n
    return Selection(
        pairing=pairing,
        query=ROPE_QUERY.slider(t("positions.rope_query"), n),
        key=ROPE_KEY.slider(t("positions.rope_key"), n),
        pair=ROPE_PAIR.slider(t("positions.rope_pair"), n_pairs),
        moved=ROPE_SHIFT.slider(t("positions.rope_shift")),
    )


def _plane(context: PositionsContext, vectors: Mapping[str, tuple[Tensor, Tensor]], a: int, b: int) -> None:
    t, arrows = context.t, []
    for (who, (before, after)), hue in zip(vectors.items(), (BLUE, ORANGE), strict=True):
        tips = [(float(vector[a]), float(vector[b])) for vector in (before, after)]
        arrows.append(Arrow(name=t(f"positions.arrow_{who}_before"), hue=hue, faint=True, tip=tips[0]))
        arrows.append(Arrow(name=t(f"positions.arrow_{who}"), hue=hue, tip=tips[1]))
    fig = plane(arrows, x_title=t("positions.axis_dimension", i=a), y_title=t("positions.axis_dimension", i=b))
    show_lines(fig, key="plane", alt=t("positions.plane_alt", a=a, b=b))


def _say(context: PositionsContext, selection: Selection, omega: float, score: float, bare: float) -> None:
    """Describe the positions, the angles of both rotations, and the score."""
    t, labels = context.t, context.tokens.labels
    i, j = selection.query + selection.moved, selection.key + selection.moved
    query, key = labels[selection.query], labels[selection.key]
    st.text(t("positions.rope_who", query=query, i=i, key=key, j=j, offset=number(j - i)))
    numbers = {"score": score, "bare": bare, "angle_i": i * omega, "angle_j": j * omega}
    say(t("positions.rope_found", **{name: number(value) for name, value in numbers.items()}))
    context.say_base()
