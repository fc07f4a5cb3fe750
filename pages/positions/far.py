"""Far offsets: each encoding's score of a key k places back, past the length a model was trained on."""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute
from pages.positions.checks import BIASES, bias_of, clock_hands
from pages.positions.context import PositionsContext
from viz.core.analysis.checks import largest, worst
from viz.core.positions import frequencies, t5_buckets
from viz.figures.offsets import Curve, offset_curves
from viz.frame.checks import Check, check
from viz.frame.format import statistic
from viz.frame.modes.figure_facts import stand_apart
from viz.frame.scene import say_error
from viz.frame.show import show_lines
from viz.frame.specs import Placing
from viz.params import Int

ABREAST = 3
TRAINED = Int("trained", lambda default: default, low=compute.TRAINED[0], high=compute.TRAINED[1])
"""The trained length; by default the text's, or the model's if it has learned positions."""


def draw(context: PositionsContext) -> list[Check]:
    """Draw one curve for each encoding, from k = 0 to twice the trained length."""
    t, pictures = context.t, st.container()
    default = 64 if context.rows is None else len(context.rows)
    trained = TRAINED.slider(t("positions.trained"), default)
    curves = _curves(context, trained)
    codes = list(curves)
    with pictures:
        for row in (codes[:ABREAST], codes[ABREAST:]):
            for column, code in zip(st.columns(max(1, len(row))), row, strict=False):
                with column:
                    _curve(context, code, curves[code], trained)
    stand_apart("far")  # the curves do not depend on the text; one depends on the model and names it
    return _checks(context, curves)


def _curve(context: PositionsContext, code: str, values: Tensor, trained: int) -> None:
    t, name = context.t, context.name(code)
    st.markdown(f"**{name}**")
    fig = offset_curves(
        {name: Curve(x=torch.arange(len(values)), y=values)},
        height=190,
        marks=(trained,),
        x_title=t("positions.back"),
        y_title=t("positions.position_score"),
    )
    show_lines(fig, key=f"far_{code}", alt=t("positions.far_alt", name=name, n=trained))
    case, numbers = _case(context, code, values, trained)
    st.caption(t(f"positions.far_{code}{case}", **numbers))


def formula(context: PositionsContext) -> str:
    """Name each curve's formula; there is no common one."""
    for code in _curves(context, TRAINED.value):
        st.caption(f"**{context.name(code)}** · {context.t(f'positions.far_formula_{code}')}")
    context.say_base()
    return ""


def _curves(context: PositionsContext, trained: int) -> dict[str, Tensor]:
    """Return each encoding's curve by position alone for a key k places back, from 0 to twice the trained length."""
    far, spec, base = 2 * trained, context.spec, context.placing.base
    makers: dict[str, Callable[[], Tensor]] = {
        "sinusoidal": lambda: compute.far_kernel(spec.d_model, base)[:far],
        "rope_halves": lambda: compute.far_kernel(spec.d_k, base)[:far],
    }
    for code in BIASES:
        makers[code] = partial(_bias_back, context, code, far)
    if context.rows is not None:
        n_trained = min(far if context.has_fixed_rows else trained, len(context.rows))
        makers["learned"] = partial(_only_trained, context.scene.choice.source.model, n_trained, far)
    curves = {}
    for code in context.encodings:
        if code in makers:
            try:
                curves[code] = makers[code]()
            except ValueError as error:
                say_error(context.t, error)
    return curves


def _bias_back(context: PositionsContext, code: str, far: int) -> Tensor:
    """Return a bias of the head from the query's place backwards."""
    bias = context.encodings[code].bias(context.spec.H, 1, far)
    assert bias is not None
    return bias[context.head, 0].flip(0)


def _only_trained(model: str, n_trained: int, far: int) -> Tensor:
    """Return the mean cosine of trained rows k apart; NaN beyond the rows."""
    return torch.cat([compute.trained_profile(model, n_trained), torch.full((far - n_trained,), torch.nan)])


def _case(context: PositionsContext, code: str, values: Tensor, trained: int) -> tuple[str, dict[str, str]]:
    """Return the sentence that holds for a curve, and its numbers."""
    end, case = len(values) - 1, ""
    numbers = {"n": f"{trained:,}", "end": statistic(values[-1], 2), "at": statistic(values[trained], 2)}
    if code in ("sinusoidal", "rope_halves"):
        width = context.spec.d_model if code == "sinusoidal" else context.spec.d_k
        waves = 2 * math.pi / frequencies(width, base=context.placing.base)
        slow = int((waves > trained).sum())
        numbers |= {"slow": str(slow), "pairs": str(len(waves))}
        case = "" if slow else "_all"
    elif code == "learned":
        assert context.rows is not None
        numbers |= {"known": f"{min(trained, len(context.rows)):,}", "model": context.scene.choice.source.model}
        case = "_cut" if trained < len(context.rows) else ""
        if context.has_fixed_rows:
            case, numbers["known"] = "_fixed", f"{len(context.rows):,}"
    elif code == "t5":
        flat = int(t5_buckets(-torch.arange(1024)).diff().nonzero().max()) + 1
        numbers |= {"flat": str(flat), "last": statistic(_bias_back(context, code, flat + 1)[-1], 2)}
        case = "" if flat <= end else "_short"
    elif code == "quadratic":
        case = "" if context.placing.alpha else "_zero"
    return case, numbers


def _checks(context: PositionsContext, curves: Mapping[str, Tensor]) -> list[Check]:
    """Check the rotations' curves by complex numbers, the biases' by their papers' formulas."""
    widths = {"sinusoidal": context.spec.d_model, "rope_halves": context.spec.d_k}
    seed, differences, checks = context.scene.choice.source.seed, [], []
    for code in widths.keys() & curves.keys():
        expected = _rotated_curve(widths[code], context.placing.base)[: len(curves[code])]
        differences.append(float((curves[code] - expected).abs().max()))
    if differences:
        checks.append(check("positions.check_far_turned", worst(differences), 1e-6))
    for code in BIASES:
        expected = _added(code, context.placing, context.head, context.spec.H, seed)[: len(curves[code])]
        off = (curves[code] - expected).abs().max()
        checks.append(check(f"positions.check_far_{code}", off, 1e-5 * largest(expected)))
    return checks


@lru_cache(maxsize=16)
def _rotated_curve(width: int, base: float) -> Tensor:
    """Return the mean of every pair's hand k places back: a vector's product with itself under rotation."""
    return clock_hands(torch.arange(2 * compute.TRAINED[1]), width, base).real.mean(-1)


@lru_cache(maxsize=16)
def _added(code: str, placing: Placing, head: int, n_heads: int, seed: int) -> Tensor:
    """Return the expected bias k places back."""
    return bias_of(code, -torch.arange(2 * compute.TRAINED[1]), placing, head=head, n_heads=n_heads, seed=seed)
