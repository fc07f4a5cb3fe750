"""RoPE as models turn it today: only a part of a head, and more slowly for longer texts (YaRN)."""

import math
from dataclasses import dataclass, replace

import streamlit as st
import torch
from torch import Tensor

from pages.positions.checks import asked_mask, asked_scale, rope_scores, scores_by_hand, softmax_check
from pages.positions.compute import encoded
from pages.positions.context import PositionsContext
from viz.components.maps import show_maps
from viz.core.analysis.checks import largest, worst
from viz.core.attention import row_softmax
from viz.core.positions import frequencies
from viz.core.variants.today.angles import partial_rope, yarn_frequencies, yarn_gain, yarn_ramp
from viz.figures.curves import curves
from viz.figures.line_chart import Axis, Mark
from viz.frame.checks import Check, check
from viz.frame.format import at_most, number
from viz.frame.modes import say
from viz.frame.scene import say_error
from viz.frame.show import show_lines
from viz.params import Int, Real
from viz.text import paragraph

YARN = r"""\begin{gathered}
\omega_j = b^{-2j/r}, \quad 0 \le j < r/2
\\ \lambda_j = 2\pi / \omega_j
\\ \omega'_j = \rho_j\, \omega_j + (1 - \rho_j)\, \omega_j / s
\\ (q, k) \leftarrow (0.1 \ln s + 1)\, (q, k)
\end{gathered}"""
FAST = 32.0
"""Turns over the original length from which on a pair keeps its speed."""
SHARE = Real("today_share", 1.0, low=0.0, high=1.0)
"""Share of the head's dimensions that turn."""
FACTOR = Int("today_factor", 8, among=(1, 2, 4, 8, 16, 32, 64, 128))
LENGTH = Int("today_length", 4096, among=tuple(2**power for power in range(6, 18)))
"""Tokens of the texts in training, before the stretch."""
SHIFTS = (1, 7, 200, 4096)
"""Places by which all tokens move on together in a check."""


@dataclass(frozen=True, kw_only=True)
class Turning:
    """A head of ``width`` numbers of which the first ``rotary_dim`` turn, as if the text were ``factor`` times shorter.

    Longer texts fit so; ``original`` is the length of the texts in training.
    """

    width: int
    rotary_dim: int
    base: float
    factor: int
    original: int

    @property
    def standard(self) -> "Turning":
        """RoPE: all numbers turn, and no pair is stretched."""
        return replace(self, rotary_dim=self.width, factor=1)

    @property
    def ramp(self) -> Tensor:
        """Share of its speed that each turning pair keeps."""
        if not self.rotary_dim:
            return torch.empty(0)
        return yarn_ramp(self.rotary_dim, base=self.base, original=self.original, fast=FAST)

    @property
    def omega(self) -> Tensor:
        """Speed of each turning pair, in radians."""
        if not self.rotary_dim:
            return torch.empty(0)
        return yarn_frequencies(
            self.rotary_dim, factor=float(self.factor), base=self.base, original=self.original, fast=FAST
        )

    def turn(self, x: Tensor, shift: int = 0) -> Tensor:
        """Return queries or keys (T, d_k) turned at their places, all moved on by ``shift``."""
        places = torch.arange(len(x)) + shift
        rotated = partial_rope(x, self.rotary_dim, pairing="halves", positions=places, omega=self.omega)
        return rotated * yarn_gain(float(self.factor))

    def products(self, q: Tensor, k: Tensor, shift: int = 0) -> Tensor:
        """Return the products of turned queries and keys, (T, T)."""
        return self.turn(q, shift) @ self.turn(k, shift).T


def draw(context: PositionsContext) -> list[Check]:
    """Draw the wavelength of every pair, before and after, and the head's map with both."""
    t, pictures = context.t, st.container()
    columns = st.columns(3)
    with columns[0]:
        share = SHARE.slider(t("positions.today.share"), step=0.05)
    with columns[1]:
        factor = FACTOR.slider(t("positions.today.factor"))
    with columns[2]:
        original = LENGTH.slider(t("positions.today.length"))
    width = context.spec.d_k
    try:
        frequencies(width)
    except ValueError as error:
        say_error(t, error)
        return []
    turning = Turning(
        width=width,
        rotary_dim=2 * math.floor(share * width / 2 + 0.5),
        base=context.placing.base,
        factor=factor,
        original=original,
    )
    q, k = head_vectors(context)
    scores = {name: scaled(context, kind.products(q, k)) for name, kind in kinds(turning).items()}
    weights = {name: row_softmax(context.masked(values)) for name, values in scores.items()}
    with pictures:
        _show_wavelengths(context, turning)
        _say_pairs(context, turning)
    gain = yarn_gain(float(factor))
    gain_note = t("positions.today.gain", gain=number(gain, 3), square=number(gain**2, 3))
    st.caption(paragraph(t("positions.today.dotted"), gain_note))
    maps_in_browser = _show_maps(context, turning, weights)
    off = float((weights["today"] - weights["rope"]).abs().max())
    say(t("positions.today.change", off=at_most(off)))
    context.say_base()
    st.caption(t("positions.today.users"))
    in_browser = dict(zip(scores, maps_in_browser, strict=True))
    map_check = softmax_check(context, scores, in_browser, asked_mask(context))
    return [*_checks(turning, q, k), _head_check(context, q, k), map_check]


def kinds(turning: Turning) -> dict[str, Turning]:
    """Return both ways to turn, by name."""
    return {"rope": turning.standard, "today": turning}


def head_vectors(context: PositionsContext) -> tuple[Tensor, Tensor]:
    """Return the head's queries and keys without positions, (T, d_k) each; in float64, so that only formulas differ."""
    queries, keys, _ = encoded(context.scene.choice.source, context.with_positions("none"))
    return queries[context.head].double(), keys[context.head * len(keys) // len(queries)].double()


def scaled(context: PositionsContext, products: Tensor) -> Tensor:
    """Return the head's scores: its scale, and what else the model does to them."""
    score_mod = context.unplaced.calls[0].options.get("score_mod")
    scores = products * asked_scale(context)
    return scores if score_mod is None else score_mod(scores)


def wavelengths(omega: Tensor) -> Tensor:
    """Return the positions that a whole turn takes."""
    return 2 * math.pi / omega


def _show_wavelengths(context: PositionsContext, turning: Turning) -> None:
    t = context.t
    waves = {_name(context, name, kind): wavelengths(kind.omega) for name, kind in kinds(turning).items()}
    marks = [
        Mark(y=turning.original / FAST, label=t("positions.today.often", n=number(turning.original / FAST, 3))),
        Mark(y=turning.original, label=t("positions.today.once", n=f"{turning.original:,}")),
    ]
    x, y = Axis(t("positions.today.pair")), Axis(t("positions.today.wavelength"), log=True, grid=True)
    at, hover = range(len(turning.omega)), t("positions.today.point")
    chart = curves(at, waves, x=x, y=y, dots=True, marks=marks, hover=hover, height=320)
    show_lines(chart, key="today", alt=t("positions.today.alt", s=turning.factor))


def _say_pairs(context: PositionsContext, turning: Turning) -> None:
    """Describe how many pairs turn, and how many of these are stretched."""
    t, ramp = context.t, turning.ramp
    pairs, turning_pairs = turning.width // 2, turning.rotary_dim // 2
    if not turning_pairs:
        say(t("positions.today.none", pairs=pairs))
        return
    counts = {"pairs": pairs, "turned": turning_pairs, "kept": turning_pairs, "full": 0}
    if turning.factor > 1:
        counts |= {"kept": int((ramp == 1).sum()), "full": int((ramp == 0).sum())}
    counts["part"] = turning_pairs - counts["kept"] - counts["full"]
    waves = [wavelengths(kind.omega).max() for kind in (replace(turning, factor=1), turning)]
    longest = {"before": number(float(waves[0])), "after": number(float(waves[1]))}
    say(t("positions.today.says", s=turning.factor, **counts, **longest))


def _name(context: PositionsContext, name: str, kind: Turning) -> str:
    return context.t(f"positions.today.line_{name}", r=kind.rotary_dim, d=kind.width, s=kind.factor)


def _show_maps(context: PositionsContext, turning: Turning, weights: dict[str, Tensor]) -> Tensor:
    """Draw the head's map with both, and return the maps as the browser reads them."""
    t, titles = context.t, [_name(context, name, kind) for name, kind in kinds(turning).items()]
    maps = torch.stack(list(weights.values()))
    return show_maps(t, titles, maps, context.tokens.labels, key="today_maps", axes=t("positions.axes"))


def speeds_by_turns(turning: Turning) -> Tensor:
    """Return each pair's speed, found by counting its turns over the original length; no logarithm, and no core.

    The ramp falls from the last whole pair that turns 32 times to the first that turns once at most.
    """
    r, base = turning.rotary_dim, turning.base
    turns = [turning.original * base ** (-2 * j / r) / (2 * math.pi) for j in range(r)]
    first = max((j for j in range(r) if turns[j] >= FAST), default=0)
    last = min((j for j in range(r) if turns[j] <= 1), default=r - 1)
    speeds = []
    for j in range(r // 2):
        stretched = 0.0 if j <= first else 1.0 if j >= last else (j - first) / (last - first)
        speeds.append(base ** (-2 * j / r) * (1 - stretched + stretched / turning.factor))
    return torch.tensor(speeds, dtype=torch.float64)


def products_by_hand(turning: Turning, q: Tensor, k: Tensor) -> Tensor:
    """Return the products (T, T) by complex numbers turned by the offset, and of what does not turn as they are."""
    r, places = turning.rotary_dim, torch.arange(len(q))
    query, key = (torch.complex(*x[:, :r].chunk(2, dim=-1)) for x in (q, k))
    angles = (places[:, None] - places)[..., None] * speeds_by_turns(turning)
    hands = torch.polar(torch.ones_like(angles), angles)
    rotated = (query[:, None] * key.conj() * hands).real.sum(-1)
    return (rotated + q[:, r:] @ k[:, r:].T) * (1 + math.log(turning.factor) / 10) ** 2


def _checks(turning: Turning, q: Tensor, k: Tensor) -> list[Check]:
    size = max(1.0, float(q.norm(dim=-1).max() * k.norm(dim=-1).max()))
    places, standard, products = torch.arange(len(q)), turning.standard.products(q, k), turning.products(q, k)
    rows, columns = q[:, None].expand(-1, len(q), -1), k[None].expand(len(q), -1, -1)
    rope = rope_scores(rows, columns, places - places[:, None], base=turning.base, pairing="halves")
    drift = worst((turning.products(q, k, shift) - products).abs().max() for shift in SHIFTS)
    checks = [
        check("positions.today.check_standard", (standard - rope).abs().max(), 1e-6 * size),
        check("positions.today.check_scores", (products - products_by_hand(turning, q, k)).abs().max(), 1e-6 * size),
        check("positions.today.check_offset", drift, 1e-6 * size),
    ]
    if turning.rotary_dim:
        off = (wavelengths(turning.omega) * speeds_by_turns(turning) / (2 * math.pi) - 1).abs().max()
        checks.append(check("positions.today.check_speeds", off, 1e-6))
    return checks


def _head_check(context: PositionsContext, q: Tensor, k: Tensor) -> Check:
    """Check the products of q and k, unturned, against those of the words with the head's own columns."""
    by_hand = scores_by_hand(context, "none")
    off = (scaled(context, q @ k.T) - by_hand).abs().max()
    return check("positions.today.check_head", off, 1e-5 * largest(by_hand), head=context.head)
