"""What each layer's stream would say, read by the final norm and the vocabulary head (logit lens)."""

import streamlit as st

from pages.next_word import compute
from pages.next_word.compute_checks import lens_errors
from pages.next_word.context import NextWordContext, for_decoders
from pages.next_word.word_grid import show_grid
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import amount, part
from viz.frame.show import show_lines
from viz.text.direction import isolate


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """Layers by tokens, the best word in each cell, the last layer on top; and the followed word's rank."""
    layers = compute.by_layer(context.source, context.word.token)
    _table(context, layers)
    _say(context, layers)
    _ranks(context, layers)
    st.caption(context.t("next_word.lens_note"))
    return _checks(context)


def _level(context: NextWordContext, level: int) -> str:
    """What the stream has gone through at a level: nothing, or so many layers."""
    return context.t("next_word.embedding") if level == 0 else context.t("next_word.behind", layer=level - 1)


def _table(context: NextWordContext, layers: compute.Layers) -> None:
    rows = []
    for level in reversed(range(len(layers.best))):
        words, chances = context.words(layers.best[level].tolist()), layers.chance[level].tolist()
        cells = [{"text": w, "note": part(c), "share": c} for w, c in zip(words, chances, strict=True)]
        rows.append({"name": _level(context, level), "cells": cells})
    columns = [f"{i} · {isolate(label)}" for i, label in enumerate(context.labels)]
    show_grid(context, "lens", "column", columns, rows)


def _say(context: NextWordContext, layers: compute.Layers) -> None:
    """From which layer on the followed word is the best one, if it is at the end."""
    t, ranks, token = context.t, layers.rank[:, context.at], context.labels[context.at]
    chance = part(float(layers.followed[-1, context.at]))
    if int(ranks[-1]) > 1:
        place = amount(int(ranks[-1]))
        st.text(t("next_word.lens_never", word=context.word.label, token=token, rank=place, chance=chance))
        return
    behind = (ranks > 1).nonzero()
    first = int(behind.max()) + 1 if len(behind) else 0
    st.text(t("next_word.lens_from", word=context.word.label, token=token, level=_level(context, first), chance=chance))


def _ranks(context: NextWordContext, layers: compute.Layers) -> None:
    t = context.t
    series = {context.word.label: layers.rank[:, context.at]}
    if context.against is not None and context.against.label != context.word.label:
        other = compute.by_layer(context.source, context.against.token)
        series[context.against.label] = other.rank[:, context.at]
    fig = curves(
        range(len(layers.rank)),
        series,
        x=Axis(t("next_word.levels")),
        y=Axis(t("next_word.rank"), log=True, grid=True, reversed=True),
        dots=True,
    )
    show_lines(fig, key="next_ranks", alt=t("next_word.ranks_alt"))


def _checks(context: NextWordContext) -> list[Check]:
    """The last row against a pass of its own: bit for bit before the softmax, and what is shown of it."""
    bits, last, rank = lens_errors(context.source, context.word.token)
    return [
        check("next_word.check_bits", bits, 0.0),
        check("next_word.check_last", last, 1e-5),
        check("next_word.check_rank", rank, 0.0),
    ]
