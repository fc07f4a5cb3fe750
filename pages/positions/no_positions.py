"""Layers without positions (NoPE): more keys leave each less weight, which a growing factor slows down."""

import math
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from pages.positions.checks import scores_by_hand
from pages.positions.context import PositionsContext, refuse_later_layer
from viz.core.analysis.checks import largest
from viz.core.mistakes.masks import sdpa_weights
from viz.core.variants.today.angles import temperatures
from viz.core.variants.today.dilution import weight_among
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.frame.shared import FULL_LAYERS
from viz.frame.show import show_lines
from viz.params import Int, Real, Scope
from viz.text.naming import name_token

GROWING_FACTOR = r"""\begin{gathered}
\tau_i = 1 + g \ln\big(1 + \lfloor (i + 1) / F \rfloor\big),
\quad 1 + g \ln \max((i + 1) / F, 1), \quad 1 + g \ln (i + 1)
\\ s_{ij} \leftarrow \tau_i\, s_{ij}
\\ A_{*} = \frac{e^{\tau s_*}}{e^{\tau s_*} + (n - 1)\, \operatorname{mean}_{j \ne *} e^{\tau s_j}}
\end{gathered}"""
QUERY = Int("nope_query", 3, high=lambda n: n - 1)
FLOOR = Int("nope_floor", 8192, among=tuple(2**power for power in range(6, 17)))
"""Tokens from which on the factor rises, and after how many it rises again."""
GAIN = Real("nope_gain", 0.1, low=0.0, high=0.5)
GROWTH = FULL_LAYERS.variant(among=("steps", "smooth", "logarithm"), scope=Scope("no_positions"))
LONGEST = 2**20
LENGTHS = torch.logspace(1, 20, 153, base=2.0, dtype=torch.float64).round().long().unique()
"""Lengths of text that the curves show, from 2 to 1,048,576 tokens."""


def draw(context: PositionsContext) -> list[Check]:
    """Draw the weight of the best key in longer and longer texts, without and with the factor."""
    refuse_later_layer(context.scene)
    t = context.t
    if context.n < 2:
        st.info(t("positions.no_positions.one_word"))
        return []
    pictures, columns = st.container(), st.columns(3)
    with columns[0]:
        query = QUERY.slider(t("positions.rope_query"), context.n)
    with columns[2]:
        gain = GAIN.slider(t("positions.no_positions.gain"), step=0.05)
    growth = GROWTH.segments(t("positions.no_positions.growth"), says=lambda code: t(f"positions.no_positions.{code}"))
    with columns[1]:
        floor = FLOOR.read() if growth == "logarithm" else FLOOR.slider(t("positions.no_positions.floor"))
    row = context.scores("none")[query]
    key = int(row.argmax())
    grow = partial(temperatures, floor=floor, gain=gain, growth=growth)
    factors = grow(LENGTHS - 1)
    weights = {
        "without": weight_among(row, key, LENGTHS, torch.ones(len(LENGTHS))),
        "with": weight_among(row, key, LENGTHS, factors),
    }
    with pictures:
        _show_curves(context, weights, factors)
        _say_weights(context, row, (query, key), weights, float(factors[-1]))
    st.caption(t("positions.no_positions.users"))
    return _checks(context, row, key, grow)


def _show_curves(context: PositionsContext, weights: dict[str, Tensor], factors: Tensor) -> None:
    t, at = context.t, LENGTHS.tolist()
    x = Axis(t("positions.no_positions.tokens"), log=True)
    left, right = st.columns(2)
    with left:
        lines = {t(f"positions.no_positions.{name}"): values for name, values in weights.items()}
        chart = curves(at, lines, x=x, y=Axis(t("positions.no_positions.weight"), log=True, grid=True))
        show_lines(chart, key="nope_weights", alt=t("positions.no_positions.alt"))
    with right:
        name = t("positions.no_positions.factor")
        chart = curves(at, {name: factors}, x=x, y=Axis(name, grid=True))
        show_lines(chart, key="nope_factor", alt=t("positions.no_positions.factor_alt"))


def _say_weights(
    context: PositionsContext, row: Tensor, pair: tuple[int, int], weights: dict[str, Tensor], factor: float
) -> None:
    """Describe the best key's weight on the user's words, and among the most tokens shown."""
    t, labels = context.t, context.tokens.labels
    weight = part(float(torch.softmax(row, -1)[pair[1]]))
    names = {"query": name_token(labels, pair[0]), "key": name_token(labels, pair[1])}
    st.text(t("positions.no_positions.best", weight=weight, n=context.n, **names))
    numbers = {name: number(float(values[-1])) for name, values in weights.items()}
    before, after = numbers["without"], numbers["with"]
    text_key = "positions.no_positions.says"
    say(t(text_key, n=f"{LONGEST:,}", before=before, after=after, factor=number(factor, 3)))


def factor_by_hand(position: int, floor: int, gain: float, growth: str) -> float:
    """Return the factor of a position, counted from 0, without the core."""
    if growth == "steps":
        return 1 + gain * math.log(1 + (position + 1) // floor)
    return 1 + gain * math.log(max(1.0, (position + 1) / (floor if growth == "smooth" else 1)))


def _checks(context: PositionsContext, row: Tensor, key: int, grow: "partial[Tensor]") -> list[Check]:
    n, scores, how = context.n, context.scores("none"), grow.keywords
    by_hand = torch.tensor([factor_by_hand(length - 1, **how) for length in LENGTHS.tolist()])
    everywhere = torch.ones(1, n, dtype=torch.bool)
    off = grow(torch.tensor([LONGEST - 1]), gain=0.0)
    standard = weight_among(row, key, torch.tensor([n]), off) - sdpa_weights(row.double()[None], everywhere)[0, key]
    backwards, by_hand_scores = (
        context.scores("none", tuple(reversed(range(n)))).flip(0, 1),
        scores_by_hand(context, "none"),
    )
    return [
        check("positions.no_positions.check_factor", (grow(LENGTHS - 1) - by_hand).abs().max(), 1e-6),
        check("positions.no_positions.check_standard", standard.abs().max(), 1e-6),
        check("positions.no_positions.check_long", long_row_error(row, key, grow), 1e-6),
        check("positions.no_positions.check_order", (scores - backwards).abs().max(), 1e-5 * largest(scores)),
        check("positions.check_scores", (scores - by_hand_scores).abs().max(), 1e-5 * largest(by_hand_scores)),
    ]


def long_row_error(row: Tensor, key: int, grow: "partial[Tensor]") -> float:
    """Return the error of the key's weight in a row written out, twice as long as the factor leaves untouched."""
    remaining = torch.cat([row[:key], row[key + 1 :]]).double()
    copies = math.ceil(2 * grow.keywords["floor"] / len(remaining))
    n = 1 + copies * len(remaining)
    long_row = torch.cat([row[key : key + 1].double(), remaining.repeat(copies)])
    expected = torch.softmax(factor_by_hand(n - 1, **grow.keywords) * long_row, -1)[0]
    return float((weight_among(row, key, torch.tensor([n]), grow(torch.tensor([n - 1]))) - expected).abs().max())
