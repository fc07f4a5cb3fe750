"""Every encoding in the same head of the same text, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute
from pages.positions.checks import asked_mask, map_checks, sinusoids_by_hand
from pages.positions.context import ALPHA, DELTA, FOUR_ABREAST, PositionsContext, refuse_later_layer, turns_whole
from viz.components.maps import MAPS, Panel, pack_maps
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import largest
from viz.core.attention import row_softmax
from viz.core.variants.encodings import OffsetProfile, offset_profile
from viz.figures.curves import Curve, over_offsets
from viz.frame.checks import Check, check
from viz.frame.format import at_most, number
from viz.frame.lazy import lazy
from viz.frame.modes import say
from viz.frame.scene import say_error
from viz.frame.show import show_lines, show_matrix
from viz.params import Choice
from viz.text import join_names

ENCODED = r"\operatorname{softmax}\big(\rho(X W_Q)\, \rho(X W_K)^\top / \sqrt{d_k} + b\big)\, X W_V"
STRIP = "encodings"
LOOKS = ("weights", "scores")
LOOK_AT = Choice("look_at", among=LOOKS)
ENCODING = Choice(
    "encoding",
    lambda codes: next((code for code in ("learned", "sinusoidal") if code in codes), "none"),
    among=lambda codes: codes,
)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One head's scores under every encoding that fits, with its bias and no mask; and the selected view."""

    context: PositionsContext
    look: str
    scores: Mapping[str, Tensor]

    @lazy
    def masked(self) -> dict[str, Tensor]:
        """Scores under the masks of the model and the user."""
        return {code: self.context.masked(scores) for code, scores in self.scores.items()}

    @lazy
    def weights(self) -> dict[str, Tensor]:
        """Weights of the masked scores."""
        return {code: row_softmax(scores) for code, scores in self.masked.items()}

    @property
    def maps(self) -> dict[str, Tensor]:
        """Maps to draw: weights or scores."""
        return self.weights if self.look == "weights" else self.masked

    @lazy
    def profiles(self) -> dict[str, OffsetProfile]:
        """Mean score of each offset."""
        return {code: offset_profile(scores) for code, scores in self.scores.items()}

    @property
    def limit(self) -> float:
        """End of the colour scale: the second largest mean. A bias grows with the text and would leave no colour."""
        return max(1.0, sorted(float(profile.mean.abs().max()) for profile in self.profiles.values())[-2])


def draw(context: PositionsContext) -> list[Check]:
    """Draw one text and one head under every encoding: the maps, and the mean score of each offset."""
    refuse_later_layer(context.scene)
    t, pictures = context.t, st.container()
    look = LOOK_AT.segments(t("positions.look"), says=lambda code: t(f"positions.{code}"), label_visibility="collapsed")
    comparison = Comparison(context=context, look=look, scores=_scores(context))
    with pictures:
        selected = _strip(comparison)
    say(f"**{context.name(selected)}** · {t(f'positions.about_{selected}')}")
    if selected == "quadratic":
        _quadratic_controls(context)
    context.say_gain(selected)
    left_column, right_column = st.columns(2)
    with left_column:
        _opened_map(comparison, selected)
    with right_column:
        _opened_profile(comparison, selected)
    checks = map_checks(context, comparison.scores, comparison.weights, asked_mask(context))
    return [*checks, *_same_as_the_model(context)]


def _scores(context: PositionsContext) -> dict[str, Tensor]:
    """Return the head's scores under each encoding; explain the ones that do not fit."""
    scores, reasons = {}, dict[str, tuple[ValueError, list[str]]]()
    for code in context.encodings:
        try:
            scores[code] = context.scores(code)
        except ValueError as error:
            reasons.setdefault(str(error), (error, []))[1].append(context.name(code))
    for reason, names in reasons.values():
        st.warning(context.t("positions.unavailable", names=" · ".join(names)))
        say_error(context.t, reason)
    return scores


def _quadratic_controls(context: PositionsContext) -> None:
    left_column, right_column = st.columns(2)
    with left_column:
        ALPHA.slider(context.t("positions.alpha"), step=0.05)
    with right_column:
        DELTA.slider(context.t("positions.delta"))


def _strip(comparison: Comparison) -> str:
    """Draw every map small; return the code of the open one."""
    context, codes = comparison.context, list(comparison.maps)
    current = ENCODING.read(codes)
    alts = {code: context.t("positions.map_alt", name=context.name(code)) for code in codes}
    labels = context.tokens.labels
    panels = [Panel(code=code, title=context.name(code), alt=alt, labels=labels) for code, alt in alts.items()]
    packed = pack_maps(
        panels,
        torch.stack(list(comparison.maps.values())),
        what=comparison.look,
        limit=comparison.limit,
        chosen=current,
        profiles=torch.stack([comparison.profiles[code].mean for code in codes]),
        profile_limit=comparison.limit,
    )
    with st.container(width=FOUR_ABREAST):
        words = {"says": context.t("map.says"), "axes": context.t("positions.axes")}
        MAPS.mount(key=STRIP, data=packed, words=words, on={"chosen": _open})
    st.caption(context.t("positions.strip_says", limit=number(comparison.limit)))
    if context.rows is None:
        st.caption(context.t("positions.no_learned"))
    return current


def _open(code: str) -> None:
    ENCODING.set(code)


def _opened_map(comparison: Comparison, code: str) -> None:
    context, labels = comparison.context, comparison.context.tokens.labels
    t, values = context.t, comparison.maps[code]
    matrix = Matrix(
        values=values,
        rows=Axis(labels, t("axis.queries")),
        columns=Axis(labels, t("axis.keys")),
        kind="weights" if comparison.look == "weights" else "signed",
        limit=comparison.limit,
        hover=t(f"positions.hover_{comparison.look}"),
    )
    show_matrix(t, matrix, key="opened", alt=t("positions.map_alt", name=context.name(code)))


def _opened_profile(comparison: Comparison, code: str) -> None:
    context = comparison.context
    t, curves = context.t, []
    for shown_code in dict.fromkeys((code, "none")):
        profile = comparison.profiles[shown_code]
        name, mean = context.name(shown_code), profile.mean
        low, high = (mean - profile.spread, mean + profile.spread) if shown_code == code else (None, None)
        curves.append(Curve(name=name, at=profile.offset, values=mean, low=low, high=high))
    fig = over_offsets(curves, x_title=t("positions.offset"), y_title=t("positions.score"), marks=(0,), height=400)
    show_lines(fig, key="profile", alt=t("positions.profile_alt", name=context.name(code)))
    st.caption(t("positions.profile_says"))


def _same_as_the_model(context: PositionsContext) -> list[Check]:
    """Check a model's first layer against its own table of positions, and what seeded heads are given."""
    scene = context.scene
    if scene.choice.source.kind != "model":
        return _given_sum(context)
    if context.n != len(scene.labels):
        return []
    models = scene.capture.layer(0, allowed=scene.choice.mask.allowed(context.n, context.n)).weights[context.head]

    def off(code: str) -> float:
        return float((models - row_softmax(context.masked(context.scores(code)))).abs().max())

    if context.rows is not None:
        return [check("positions.check_own", off("learned"), 1e-5)]
    if turns_whole(scene):
        rotations = [code for code in ("rope_adjacent", "rope_halves") if context.fits(code)]
        _which_turns(context, {code: off(code) for code in ("none", *rotations)})
    return []


def _which_turns(context: PositionsContext, off: dict[str, float]) -> None:
    """Note how far the maps of both rotations, and of none, are from the model's own."""
    t = context.t
    differences = join_names(t, (f"{context.name(code)} {at_most(error)}" for code, error in off.items()))
    st.caption(t("positions.own_map", base=number(context.placing.base, 3), differences=differences))


def _given_sum(context: PositionsContext) -> list[Check]:
    """Check what seeded heads are given against the words' vectors and the sinusoids by complex numbers."""
    n, width = context.vectors.shape
    if width % 2:
        return []
    source = context.scene.choice.source
    layer_input = compute.place_tokens(source, context.with_positions("sinusoidal"), only_first=True).calls[0].x
    expected = context.vectors + context.gain * sinusoids_by_hand(n, width, context.placing.base)
    if source.kind == "embeddings":
        # Each row is normalised: mean 0, variance 1.
        centred = expected - expected.mean(-1, keepdim=True)
        expected = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return [check("positions.check_given", (layer_input - expected).abs().max(), 1e-5 * largest(expected))]
