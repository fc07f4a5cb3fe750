"""Every encoding in the same head of the same text, side by side."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from pages.positions.checks import asked_mask, map_checks
from pages.positions.context import ALPHA, DELTA, FOUR_ABREAST, PositionsContext, refuse_later_layer
from viz.components.maps import Panel, pack_maps
from viz.components.matrix import Axis, Matrix
from viz.core.attention import row_softmax
from viz.core.variants.encodings import OffsetProfile, offset_profile
from viz.figures.offsets import Curve, offset_curves
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.lazy import lazy
from viz.frame.modes import say
from viz.frame.scene import say_error
from viz.frame.show import MAPS, show_lines, show_matrix
from viz.params import Choice

STRIP = "encodings"
LOOKS = ("weights", "scores")
LOOK_AT = Choice("look_at", among=LOOKS)
ENCODING = Choice(
    "encoding",
    lambda codes: next((code for code in ("learned", "sinusoidal") if code in codes), "none"),
    among=lambda codes: codes,
)
SAME = 1e-4
"""Up to this difference of a weight, a rotation is the model's own: angles are rounded where they are computed."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One head's scores under every encoding that fits, with its bias and no mask; and how they are shown."""

    context: PositionsContext
    look: str
    scores: Mapping[str, Tensor]

    @lazy
    def masked(self) -> dict[str, Tensor]:
        """With the masks of the model and of the visitor."""
        return {code: self.context.masked(scores) for code, scores in self.scores.items()}

    @lazy
    def weights(self) -> dict[str, Tensor]:
        """What the softmax makes of them."""
        return {code: row_softmax(scores) for code, scores in self.masked.items()}

    @property
    def maps(self) -> dict[str, Tensor]:
        """What is drawn."""
        return self.weights if self.look == "weights" else self.masked

    @lazy
    def profiles(self) -> dict[str, OffsetProfile]:
        """The mean score of each offset."""
        return {code: offset_profile(scores) for code, scores in self.scores.items()}

    @property
    def limit(self) -> float:
        """Where the colours end: the largest mean but one. A bias grows with the text and would leave no colour."""
        return max(1.0, sorted(float(profile.mean.abs().max()) for profile in self.profiles.values())[-2])


def draw(context: PositionsContext) -> list[Check]:
    """One text, one head, every encoding: the maps, and the mean score of each offset below them."""
    refuse_later_layer(context.scene)
    t, pictures = context.t, st.container()
    look = LOOK_AT.segments(t("positions.look"), says=lambda code: t(f"positions.{code}"), label_visibility="collapsed")
    compared = Compared(context=context, look=look, scores=_scores(context))
    with pictures:
        chosen = _strip(compared)
    say(f"**{context.name(chosen)}** · {t(f'positions.about_{chosen}')}")
    if chosen == "quadratic":
        _quadratic_controls(context)
    context.say_gain(chosen)
    left, right = st.columns(2)
    with left:
        _opened_map(compared, chosen)
    with right:
        _opened_profile(compared, chosen)
    checks = map_checks(context, compared.scores, compared.weights, asked_mask(context))
    return [*checks, *_same_as_the_model(context)]


def _scores(context: PositionsContext) -> dict[str, Tensor]:
    """The chosen head's scores under each encoding; of those that do not fit, why not."""
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
    left, right = st.columns(2)
    with left:
        ALPHA.slider(context.t("positions.alpha"), step=0.05)
    with right:
        DELTA.slider(context.t("positions.delta"))


def _strip(compared: Compared) -> str:
    """Every map small; the code of the one that is open."""
    context, codes = compared.context, list(compared.maps)
    chosen = ENCODING.read(codes)
    alts = {code: context.t("positions.map_alt", name=context.name(code)) for code in codes}
    labels = context.tokens.labels
    panels = [Panel(code=code, title=context.name(code), alt=alt, labels=labels) for code, alt in alts.items()]
    packed = pack_maps(
        panels,
        torch.stack(list(compared.maps.values())),
        what=compared.look,
        limit=compared.limit,
        chosen=chosen,
        profiles=torch.stack([compared.profiles[code].mean for code in codes]),
        profile_limit=compared.limit,
    )
    with st.container(width=FOUR_ABREAST):
        MAPS.mount(key=STRIP, data=packed, words=context.map_words(), on={"chosen": _open})
    st.caption(context.t("positions.strip_says", limit=number(compared.limit)))
    if context.rows is None:
        st.caption(context.t("positions.no_learned"))
    return chosen


def _open(code: str) -> None:
    ENCODING.set(code)


def _opened_map(compared: Compared, code: str) -> None:
    context, labels = compared.context, compared.context.tokens.labels
    t, values = context.t, compared.maps[code]
    drawn = Matrix(
        values=values,
        rows=Axis(labels, t("axis.queries")),
        columns=Axis(labels, t("axis.keys")),
        kind="weights" if compared.look == "weights" else "signed",
        limit=compared.limit,
        hover=t(f"positions.hover_{compared.look}"),
    )
    show_matrix(t, drawn, key="opened", alt=t("positions.map_alt", name=context.name(code)))


def _opened_profile(compared: Compared, code: str) -> None:
    context = compared.context
    t, curves = context.t, {}
    for other in dict.fromkeys((code, "none")):
        profile = compared.profiles[other]
        spread = profile.spread if other == code else None
        curves[context.name(other)] = Curve(x=profile.offset, y=profile.mean, spread=spread)
    fig = offset_curves(curves, x_title=t("positions.offset"), y_title=t("positions.score"), marks=(0,), height=400)
    show_lines(fig, key="profile", alt=t("positions.profile_alt", name=context.name(code)))
    st.caption(t("positions.profile_says"))


def _same_as_the_model(context: PositionsContext) -> list[Check]:
    """With its own table given back, or its own rotation, the first layer must be the model's own."""
    scene = context.scene
    if not scene.choice.source.heads_of or context.n != len(scene.labels):
        return []
    models = scene.capture.layer(0, allowed=scene.choice.mask.allowed(context.n, context.n)).weights[context.head]

    def off(code: str) -> float:
        return float((models - row_softmax(context.masked(context.scores(code)))).abs().max())

    if context.rows is not None:
        return [check("positions.check_own", off("learned"), 1e-5)]
    call = scene.capture.calls[0]
    if call.turned == "whole" and off("none") > SAME:  # else no map could be told from another
        turned = [code for code in ("rope_adjacent", "rope_halves") if context.fits(code)]
        _which_turns(context, {code: off(code) for code in turned})
    return []


def _which_turns(context: PositionsContext, off: dict[str, float]) -> None:
    """A model's own rotation is one of the two only at its own base, and if nothing else is special about it."""
    t, base = context.t, number(context.placing.base, 3)
    same = {code: error for code, error in off.items() if error <= SAME}
    for code, error in same.items():
        st.caption(t("positions.own_map", name=context.name(code), base=base, off=number(error)))
    if not same:
        st.caption(t("positions.own_no_map", base=base))
