"""Relative positions in sinusoids: a step of k positions is one rotation, so two rows share only their distance."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import normalize

from pages.positions.checks import sinusoids_error
from pages.positions.context import PositionsContext
from pages.positions.sinusoids import AT, Table, chosen_table
from viz.components.maps import show_maps
from viz.core.positions import frequencies, rotation, sinusoidal
from viz.core.variants.encodings import OffsetProfile, offset_profile
from viz.errors import ModelError
from viz.figures.curves import Curve, over_offsets
from viz.figures.palette import BLUE, ORANGE
from viz.figures.plane import Arrow, plane
from viz.frame import compute
from viz.frame.checks import Check, check
from viz.frame.format import at_most, in_formula, number
from viz.frame.modes import say
from viz.frame.show import show_lines
from viz.params import Int

SHOWN_ROWS = 128
"""Positions in the map of products; the curve beside takes all."""
FARTHEST = 32
STEPS = Int("pe_k", 5, low=-FARTHEST, high=FARTHEST)
PAIR = Int("pe_pair", 1, high=lambda table: table.width // 2 - 1)
"""The selected pair."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of k positions from position i, in one pair of dimensions."""

    table: Table
    base: float
    at: int
    k: int
    pair: int

    @property
    def matrix(self) -> Tensor:
        """R_k, (D, D)."""
        return rotation(self.k, self.table.width, base=self.base)

    @property
    def block(self) -> Tensor:
        """R_k's part for the pair, (2, 2)."""
        at = slice(2 * self.pair, 2 * self.pair + 2)
        return self.matrix[at, at]

    def hand(self, at: int) -> Tensor:
        """Return the pair's sine and cosine at a position."""
        return sinusoidal(at + 1, self.table.width, base=self.base)[at, 2 * self.pair : 2 * self.pair + 2]


def chosen_step(context: PositionsContext) -> Step | None:
    """Return the selected step; None if the width is odd, so that its dimensions cannot be paired."""
    table = chosen_table()
    if table.width % 2:
        return None
    return Step(table=table, base=context.placing.base, at=AT.read(table), k=STEPS.read(), pair=PAIR.read(table))


def draw(context: PositionsContext) -> list[Check]:
    """Draw two hands that turn by the same angle, and the cosine of two rows against their distance."""
    t, step = context.t, chosen_step(context)
    if step is None:
        st.info(t("positions.odd"))
        return []
    sliders = {t("positions.step.at"): AT, t("positions.step.k"): STEPS, t("positions.step.pair"): PAIR}
    learned = _learned_rows(context)
    cosines = _cosines(context, step, learned)
    profiles = {name: offset_profile(cosine) for name, cosine in cosines.items()}
    left_column, right_column = st.columns(2)
    with left_column:
        _hands(context, step)
    with right_column:
        _distance(context, profiles)
    for column, (label, parameter) in zip(st.columns(3), sliders.items(), strict=True):
        with column:
            parameter.slider(label, step.table)
    spreads = [float(profile.spread.max()) for profile in profiles.values()]
    say(t("positions.spread", sinusoidal=at_most(spreads[0])))
    if learned is not None:
        say(t("positions.spread_learned", learned=at_most(spreads[1]), model=learned[0]))
    _products(context, cosines)
    rows = sinusoidal(step.table.n, step.table.width, base=step.base)
    return [
        check("positions.check_shift", shift_error(step), 1e-5, k=step.k),
        check("positions.check_distance", spreads[0], 1e-5),
        check("positions.check_sinusoids", sinusoids_error(rows, step.base), 1e-6),
    ]


def shift_error(step: Step) -> float:
    """Return the largest difference of R_k p(i) and p(i + k) over the table."""
    n = step.table.n
    # From FARTHEST on there is room for every k.
    rows = sinusoidal(n + 2 * FARTHEST, step.table.width, base=step.base)
    start = slice(FARTHEST, FARTHEST + n)
    end = slice(FARTHEST + step.k, FARTHEST + step.k + n)
    return float((rows[start] @ step.matrix.T - rows[end]).abs().max())


def _hands(context: PositionsContext, step: Step) -> None:
    """Draw the pair's hand at two positions, before and after the step: the angle between is the same."""
    t, arrows = context.t, []
    second = 0 if step.at else step.table.n // 2
    for at, hue in ((step.at, BLUE), (second, ORANGE)):
        before = step.hand(at)
        after = step.block @ before
        tips = [(float(values[0]), float(values[1])) for values in (before, after)]
        arrows.append(Arrow(name=f"p({at})", hue=hue, faint=True, tip=tips[0]))
        arrows.append(Arrow(name=f"p({at + step.k})", hue=hue, tip=tips[1]))
    fig = plane(arrows, x_title=t("positions.step.sine"), y_title=t("positions.step.cosine"))
    show_lines(fig, key="step", alt=t("positions.step.alt", pair=step.pair, k=step.k))
    angle = step.k * float(frequencies(step.table.width, base=step.base)[step.pair])
    st.caption(t("positions.step.turned", pair=step.pair, angle=number(angle)))


def _learned_rows(context: PositionsContext) -> tuple[str, Tensor] | None:
    """Return a trained table to compare with: the source's own, else the default model's, if it is available."""
    if context.rows is not None:
        return context.scene.choice.source.model, context.rows
    try:
        rows = compute.model(compute.DEFAULT_MODEL).positions()
    except ModelError:
        return None
    return None if rows is None else (compute.DEFAULT_MODEL, rows)


def _cosines(context: PositionsContext, step: Step, learned: tuple[str, Tensor] | None) -> dict[str, Tensor]:
    """Return the cosines of all pairs of rows, for the sinusoids and for a trained table."""
    tables = {context.name("sinusoidal"): sinusoidal(step.table.n, step.table.width, base=step.base)}
    if learned is not None:
        tables[context.t("positions.own_of", model=learned[0])] = learned[1][: step.table.n]
    return {name: normalize(rows, dim=-1) @ normalize(rows, dim=-1).T for name, rows in tables.items()}


def _distance(context: PositionsContext, profiles: Mapping[str, OffsetProfile]) -> None:
    t, curves = context.t, []
    for name, profile in profiles.items():
        at, mean, spread = (values[profile.offset >= 0] for values in vars(profile).values())
        curves.append(Curve(name=name, at=at, values=mean, low=mean - spread, high=mean + spread))
    fig = over_offsets(
        curves, x_title=t("positions.distance"), y_title=t("positions.cosine"), limits=(-1.05, 1.05), height=380
    )
    show_lines(fig, key="distance", alt=t("positions.distance_alt"))
    st.caption(t("positions.band_says"))


def _products(context: PositionsContext, cosines: Mapping[str, Tensor]) -> None:
    t, n = context.t, min(SHOWN_ROWS, *(len(cosine) for cosine in cosines.values()))
    labels = tuple(map(str, range(n)))
    titles = [t("positions.products", name=name) for name in cosines]
    values = torch.stack([cosine[:n, :n] for cosine in cosines.values()])
    sentence, axes = t("positions.rows_say"), t("positions.rows_axes", last=n - 1)
    show_maps(t, titles, values, labels, key="products", what="scores", sentence=sentence, axes=axes)


def formula(context: PositionsContext) -> str:
    """Draw the rotation in letters, and in the numbers of the selected pair."""
    latex = r"\begin{aligned} p_{i+k} &= R_k\, p_i \\ p_i \cdot p_{i+k} &= \sum_j \cos k\omega_j \end{aligned}"
    st.latex(latex)
    if (step := chosen_step(context)) is not None:
        st.latex(_numbers(step))
    return latex


def _numbers(step: Step) -> str:
    start, pair, k = step.hand(step.at), step.pair, step.k
    omega = float(frequencies(step.table.width, base=step.base)[pair])
    letters = r"\begin{pmatrix}\cos k\omega&\sin k\omega\\-\sin k\omega&\cos k\omega\end{pmatrix}"
    speed = rf"\omega_{{{pair}}}&={in_formula(omega)},\quad k={k}"
    return (
        rf"\begin{{aligned}} R_k&={letters}\\&={_matrix(step.block)}\\ {speed}\\"
        rf"R_k\,p({step.at})&=R_k\,{_matrix(start)}\\&={_matrix(step.block @ start)}=p({step.at + k}) \end{{aligned}}"
    )


def _matrix(values: Tensor) -> str:
    rows = values.reshape(len(values), -1).tolist()
    return r"\begin{pmatrix}" + r"\\".join("&".join(map(in_formula, row)) for row in rows) + r"\end{pmatrix}"
