"""The prediction of each layer's stream, read by the final norm and the vocabulary head (logit lens)."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.next_word import compute
from pages.next_word.compute_checks import lens_errors
from pages.next_word.compute_part_checks import lens_row
from pages.next_word.context import NextWordContext, for_decoders, model_checks
from pages.next_word.word_grid import show_grid
from viz.core.analysis.checks import random_place
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.compute import model
from viz.frame.format import amount, part
from viz.frame.show import show_lines
from viz.models.recount.token_labels import wrong_labels
from viz.text.naming import list_token, name_token

TIED = 1e-6
"""Largest difference of chances that are equal in float32."""


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """Draw layers by tokens, the best word in each cell, the last layer on top; and the followed word's rank."""
    layers = compute.by_layer(context.source, context.word.token)
    rows = _table(context, layers)
    _say(context, layers)
    _ranks(context, layers)
    return [*_checks(context), _row_check(context, layers, rows), *model_checks(context)]


def _row_check(context: NextWordContext, layers: compute.Layers, rows: Sequence[Any]) -> Check:
    """Check a random cell below the last level by the model's own state there."""
    n_levels, n_tokens = layers.best.shape
    level, at = (random_place(n, context.source, kind) for n, kind in ((n_levels - 1, "level"), (n_tokens, "token")))
    best, chance, word_chance, low, high = lens_row(context.source, context.word.token, level, at)
    cell, rank = rows[n_levels - 1 - level]["cells"][at], int(layers.rank[level, at])
    off = max(abs(cell["share"] - chance), abs(float(layers.followed[level, at]) - word_chance))
    off += max(0, low - rank, rank - high)
    if chance - float(layers.chance[level, at]) < TIED and int(layers.best[level, at]) != best:
        # Two words are equally likely.
        best = int(layers.best[level, at])
    off += wrong_labels(model(context.source.model).tokenizer, [best], [cell["text"]])
    return check("next_word.check_lens", off, 1e-3, level=_level(context, level), place=at)


def _level(context: NextWordContext, level: int) -> str:
    """Return the name of a level: no layers, or this many."""
    return context.t("next_word.embedding") if level == 0 else context.t("next_word.behind", layer=level - 1)


def _table(context: NextWordContext, layers: compute.Layers) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for level in reversed(range(len(layers.best))):
        words, chances = context.words(layers.best[level].tolist()), layers.chance[level].tolist()
        cells = [{"text": w, "note": part(c), "share": c} for w, c in zip(words, chances, strict=True)]
        rows.append({"name": _level(context, level), "cells": cells})
    columns = [list_token(i, label) for i, label in enumerate(context.labels)]
    show_grid(context, "lens", "column", columns, rows)
    return rows


def _say(context: NextWordContext, layers: compute.Layers) -> None:
    """Name the layer from which the followed word is the best one, if it is at the end."""
    t, ranks, token = context.t, layers.rank[:, context.at], name_token(context.labels, context.at)
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
        compared_layers = compute.by_layer(context.source, context.against.token)
        series[context.against.label] = compared_layers.rank[:, context.at]
    fig = curves(
        range(len(layers.rank)),
        series,
        x=Axis(t("next_word.levels")),
        y=Axis(t("next_word.rank"), log=True, grid=True, reversed=True),
        dots=True,
    )
    show_lines(fig, key="next_ranks", alt=t("next_word.ranks_alt"))


def _checks(context: NextWordContext) -> list[Check]:
    """Check the last row against a separate forward pass: its logits, and the cells of the table."""
    logits, last, rank = lens_errors(context.source, context.word.token)
    return [
        check("next_word.check_logits", logits, 1e-5),
        check("next_word.check_last", last, 1e-5),
        check("next_word.check_rank", rank, 0.0),
    ]
