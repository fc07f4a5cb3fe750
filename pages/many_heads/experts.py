"""Heads as experts: the task of a named expert, the nearest real head, and tasks without a head."""

import streamlit as st
import torch
from torch import Tensor

from pages.many_heads import compute
from pages.many_heads.context import ManyHeadsContext
from pages.many_heads.logic import draw_logic
from pages.many_heads.patterns import (
    NEIGHBOURS,
    PATTERNS,
    WORD_PAIR_EXPERTS,
    Pattern,
    known_words,
    patterns_in,
    words_of,
)
from viz import limits
from viz.components.bars import BarChart
from viz.components.maps import show_maps
from viz.core.analysis.map_statistics import uniform
from viz.core.analysis.several_heads import pattern_share
from viz.frame.checks import Check, check, open_cells
from viz.frame.format import part
from viz.frame.modes import say
from viz.frame.shared import Places
from viz.frame.show import show_bars
from viz.models.tokens import words_as_read
from viz.params import Choice, Int, Scope

EXPERT = Choice("expert", among=PATTERNS)


def draw(context: ManyHeadsContext) -> list[Check]:
    """Draw for each expert the highest share of a head, the average head and an even spread; one expert as a map."""
    t, scene = context.t, context.scene
    _choose_expert(context)
    expert = EXPERT.read()
    patterns = patterns_in(scene.capture.tokens, _words(context, expert))
    if not patterns:
        st.info(t("many_heads.two_places.short"))
        return []
    shares = compute.shares(scene.choice.source, scene.choice.mask, patterns)
    _all_experts(context, patterns, shares)
    index = next((i for i, pattern in enumerate(patterns) if pattern.name == expert), None)
    if index is None:
        st.info(t(f"many_heads.experts.none_{expert if expert == 'punctuation' else 'words'}"))
    else:
        _nearest(context, patterns[index], shares[index])
    by_torch = compute.shares_by_torch(scene.choice.source, scene.choice.mask, patterns)
    off = (shares - by_torch).abs().max()
    return [check("many_heads.experts.check", off, 1e-5, n=shares[0].numel()), *draw_logic(context)]


def _choose_expert(context: ManyHeadsContext) -> None:
    """Draw a button for each expert."""
    t = context.t
    EXPERT.pills(
        t("many_heads.experts.which"),
        says=lambda code: t(f"many_heads.experts.{code}"),
        label_visibility="collapsed",
        width="content",
    )


def _side(expert: str, side: str) -> Int:
    """Return the parameter of an expert's query or key word; -1 is none. It is scoped to the text."""
    return Int(
        f"{expert}_{side}",
        lambda places: places.first,
        among=lambda places: places.among,
        scope=Scope(lambda places: places.words, keeps=False),
    )


def _words(context: ManyHeadsContext, expert: str) -> dict[str, tuple[int, int] | None]:
    """Return the two words of each expert that needs them, and draw the controls of the open one."""
    tokens = context.scene.capture.tokens
    words = words_of(tokens)
    plain = sorted({word for word, special in zip(tokens.words, tokens.special, strict=True) if not special})
    pairs: dict[str, tuple[int, int] | None] = {}
    for name in WORD_PAIR_EXPERTS:
        default = known_words(words_as_read(tokens), name) or (-1, -1)
        places = [Places(context.scene.labels, first, (-1, *plain)) for first in default]
        sides = [_side(name, side) for side in ("from", "to")]
        pair = tuple(side.read(about) for side, about in zip(sides, places, strict=True))
        if name == expert:
            with st.container(horizontal=True, gap="medium"):
                for side, about in zip(sides, places, strict=True):
                    label = context.t(f"many_heads.experts.{side.name}")
                    side.selectbox(label, about, says=lambda at: "–" if at < 0 else words[at], width=240)
        pairs[name] = (pair[0], pair[1]) if min(pair) >= 0 else None
    return pairs


def _even(context: ManyHeadsContext, pattern: Pattern) -> float:
    """Return the share of the pattern in an even spread over the visible words."""
    visible = open_cells(context.scene)[0]
    return float(pattern_share(uniform(visible), pattern.target(len(visible))))


def _all_experts(context: ManyHeadsContext, patterns: tuple[Pattern, ...], shares: Tensor) -> None:
    t, flat = context.t, shares.flatten(1)
    series = {
        t("many_heads.experts.nearest"): flat.max(1).values,
        t("many_heads.experts.average"): flat.mean(1),
        t("many_heads.experts.even"): torch.tensor([_even(context, pattern) for pattern in patterns]),
    }
    names = [t(f"many_heads.experts.{pattern.name}") for pattern in patterns]
    alt = t("many_heads.experts.alt", n=flat.shape[1])
    chart = BarChart(
        names,
        series,
        title=t("many_heads.experts.expert"),
        value_title=t("many_heads.experts.share"),
        top=1.0,
        height=320,
    )
    show_bars(chart, key="experts", alt=alt)


def _nearest(context: ManyHeadsContext, pattern: Pattern, shares: Tensor) -> None:
    """Draw the map of the nearest head beside the mean of all heads, and describe it."""
    t, scene, name = context.t, context.scene, pattern.name
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    values = {
        "n": shares.numel(),
        "layer": layer,
        "head": head,
        "share": part(float(shares.max())),
        "mean": part(float(shares.mean())),
        "even": part(_even(context, pattern)),
    }
    say(t("many_heads.experts.found", **values))
    n = min(len(scene.labels), limits.PAINTED_TOKENS)
    maps = compute.nearest_and_mean(scene.choice.source, scene.choice.mask, layer, head)[:, :n, :n]
    titles = t("many_heads.experts.map", layer=layer, head=head), t("many_heads.experts.mean_map", n=shares.numel())
    show_maps(t, titles, maps, scene.labels[:n], key="expert_map", axes=t("axis.both"))
    if name in NEIGHBOURS and float(shares.max()) == 0:
        st.caption(t("many_heads.experts.masked"))
