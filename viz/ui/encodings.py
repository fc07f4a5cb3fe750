"""Every encoding in the same head of the same text, side by side: a part of the Positions page."""

import streamlit as st
import torch
from torch import Tensor

from viz.core.attention import row_softmax
from viz.core.encodings import OffsetProfile, offset_profile
from viz.figures.matrix import matrix
from viz.figures.offsets import Curve, offset_curves
from viz.ui import state
from viz.ui.controls import KEEP
from viz.ui.ground import COLOURS, Ground
from viz.ui.layout import check, say_error, show
from viz.views.maps import Panel, pack_maps
from viz.views.mount import mount

STRIP = "encodings"
LOOKS = ("weights", "scores")
SAME = 1e-4
"""Up to this difference of a weight, a rotation is the model's own: angles are rounded where they are computed."""
SENTENCES = 48
"""Tokens up to which the pointer reads out a sentence for every cell of the open map."""


def controls(ground: Ground) -> str:
    """Weights or scores, which head, and where the quadratic bias looks."""
    t = ground.t
    look = state.choice("look_at", LOOKS[0], LOOKS)
    columns = st.columns(4, vertical_alignment="bottom")
    columns[0].segmented_control(
        t("positions.look"), LOOKS, key="look_at", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"positions.{code}"),
    )  # fmt: skip
    if (heads := ground.weights.spec.H) > 1:
        columns[1].slider(t("positions.head"), 0, heads - 1, key="place_head", persist_state=KEEP)
    columns[2].slider(t("positions.alpha"), 0.0, 5.0, step=0.05, key="near_alpha", persist_state=KEEP)
    columns[3].slider(t("positions.delta"), -8, 8, key="near_delta", persist_state=KEEP)
    return look


def compare(ground: Ground) -> None:
    """One text, one head, every encoding: the maps, and the mean score of each offset below them."""
    t, look = ground.t, controls(ground)
    scores: dict[str, Tensor] = {}
    for code in ground.encodings:
        try:
            scores[code] = ground.scores(code)
        except ValueError as error:
            st.warning(t("positions.unavailable", name=ground.name(code)))
            say_error(t, error)
    profiles = {code: offset_profile(each) for code, each in scores.items()}
    maps = {code: ground.masked(each) for code, each in scores.items()}
    if look == "weights":
        maps = {code: row_softmax(each) for code, each in maps.items()}
    # The largest but one: a quadratic or linear bias grows with the text and would leave the others no colour.
    limit = max(1.0, sorted(float(profile.mean.abs().max()) for profile in profiles.values())[-2])
    chosen = _strip(ground, look, maps, profiles, limit)
    if ground.rows is None:
        st.caption(t("positions.no_learned"))
    st.markdown(f"**{ground.name(chosen)}** · {t(f'positions.about_{chosen}')}")
    ground.say_gain(chosen)
    left, right = st.columns(2)
    with left:
        _opened_map(ground, look, chosen, maps[chosen], limit)
    with right:
        _opened_profile(ground, chosen, profiles)
    _same_as_the_model(ground)


def _strip(ground: Ground, look: str, maps: dict[str, Tensor], profiles: dict[str, OffsetProfile], limit: float) -> str:
    """Every map small; the code of the one that is open."""
    codes = list(maps)
    usual = "learned" if "learned" in codes else "sinusoidal" if "sinusoidal" in codes else "none"
    chosen = state.choice("encoding", usual, codes)
    panels = [
        Panel(code=code, title=ground.name(code), alt=ground.t("positions.map_alt", name=ground.name(code)),
              labels=ground.tokens.labels)
        for code in codes
    ]  # fmt: skip
    packed = pack_maps(
        panels, torch.stack(list(maps.values())), what=look, limit=limit, chosen=chosen, hues=COLOURS,
        words=ground.map_words(), profiles=torch.stack([profiles[code].mean for code in codes]), profile_limit=limit,
    )  # fmt: skip
    mount("maps", key=STRIP, data=packed, on_chosen_change=_open)
    st.caption(ground.t("positions.strip_says", limit=f"{limit:.1f}"))
    return chosen


def _open() -> None:
    code = st.session_state[STRIP].get("chosen")
    if isinstance(code, str):
        state.put("encoding", code)


def _opened_map(ground: Ground, look: str, code: str, values: Tensor, limit: float) -> None:
    t, labels = ground.t, ground.tokens.labels
    fig = matrix(
        values, labels, labels, kind="weights" if look == "weights" else "signed", limit=limit,
        hover=_sentences(ground, look, values) if ground.n <= SENTENCES else None,
        row_title=t("axis.queries"), column_title=t("axis.keys"),
    )  # fmt: skip
    show(fig, key="opened", alt=t("positions.map_alt", name=ground.name(code)))


def _sentences(ground: Ground, look: str, values: Tensor) -> list[list[str]]:
    sentence, labels = ground.t(f"positions.hover_{look}"), ground.tokens.labels
    return [
        [
            sentence.format(query=q, key=k, value=f"{v:.4f}", offset=j - i)
            for j, (k, v) in enumerate(zip(labels, row, strict=True))
        ]
        for i, (q, row) in enumerate(zip(labels, values.tolist(), strict=True))
    ]


def _opened_profile(ground: Ground, code: str, profiles: dict[str, OffsetProfile]) -> None:
    t = ground.t
    curves = {
        ground.name(each): Curve(x=p.offset, y=p.mean, spread=p.spread if each == code else None)
        for each, p in profiles.items()
        if each in (code, "none")
    }
    ordered = dict(sorted(curves.items(), key=lambda item: item[0] != ground.name(code)))
    fig = offset_curves(ordered, x_title=t("positions.offset"), y_title=t("positions.score"), marks=(0,), height=400)
    show(fig, key="profile", alt=t("positions.profile_alt", name=ground.name(code)))
    st.caption(t("positions.profile_says"))


def _same_as_the_model(ground: Ground) -> None:
    """With its own table given back, or its own rotation, the first layer must be the model's own."""
    scene = ground.scene
    if not scene.choice.source.heads_of or ground.n != len(scene.labels):
        return
    own = scene.capture.layer(0, allowed=scene.choice.mask.allowed(ground.n, ground.n)).weights[ground.head]

    def off(code: str) -> float:
        return float((own - row_softmax(ground.masked(ground.scores(code)))).abs().max())

    if ground.rows is not None:
        ground.checks.append(check("positions.check_own", off("learned"), 1e-5))
    elif scene.capture.calls[0].rotary and off("none") > SAME:  # else no map could be told from another
        _which_turns(ground, {code: off(code) for code in ("rope_adjacent", "rope_halves") if ground.fits(code)})


def _which_turns(ground: Ground, off: dict[str, float]) -> None:
    """A model's own rotation is one of the two only at its own base, and if nothing else is special about it."""
    t, base = ground.t, f"{ground.placing.base:g}"
    same = {code: each for code, each in off.items() if each <= SAME}
    for code, each in same.items():
        st.caption(t("positions.own_map", name=ground.name(code), base=base, off=f"{each:.1e}"))
    if not same:
        st.caption(t("positions.own_no_map", base=base))
