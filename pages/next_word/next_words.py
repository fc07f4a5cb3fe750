"""The text with the model's predictions after each token, and its surprise at the next one."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.next_word import compute, writing
from pages.next_word.compute_checks import expected_errors, own_predictions
from pages.next_word.context import NextWordContext, for_decoders, model_checks
from pages.next_word.word_grid import show_grid
from viz.components.bars import BarChart
from viz.core.analysis.checks import random_place
from viz.frame.checks import Check, check
from viz.frame.compute import model
from viz.frame.format import number, part
from viz.frame.show import show_bars
from viz.models.recount.token_labels import wrong_labels
from viz.text import isolate, paragraph
from viz.text.naming import list_token, name_token

TIED = 1e-5
"""Largest difference of equal chances."""
HARD = 20.0
"""Surprise in bits with full colour: one chance in a million."""


@for_decoders
def draw(context: NextWordContext) -> list[Check]:
    """Draw a row for each token: its surprise, and the five likeliest words after it; then the continuation."""
    expected = compute.expected(context.source)
    _bars(context, expected)
    rows = _table(context, expected)
    _say_surprise(context, expected)
    _draw_followed_word(context)
    checks = [*_checks(context, expected), row_check(context, rows), *model_checks(context)]
    return checks + writing.draw(context)


def row_check(context: NextWordContext, rows: Sequence[Any]) -> Check:
    """Check a random row of the table by the model's own pass: its token, its words and their chances."""
    place = random_place(len(rows), context.source, "row")
    reference = own_predictions(context.source, context.word.token)
    words, chances = reference.words[place].tolist(), reference.chances[place].tolist()
    tokenizer, cells = model(context.source.model).tokenizer, rows[place]["cells"][1:]
    wrong = wrong_labels(tokenizer, context.tokens.ids[place : place + 1], [rows[place]["name"].partition(" · ")[2]])
    off = max(abs(cell["share"] - chance) for cell, chance in zip(cells, chances, strict=False))
    # Equally likely words may come in any order.
    for cell in cells:
        equal = [word for word, chance in zip(words, chances, strict=True) if abs(chance - cell["share"]) < TIED]
        wrong += bool(equal) and all(wrong_labels(tokenizer, [word], [cell["text"]]) for word in equal)
    return check("next_word.check_row", off + wrong, 1e-4, place=place)


def _table(context: NextWordContext, expected: compute.Expected) -> list[dict[str, Any]]:
    t, surprises, n = context.t, [None, *expected.surprise.tolist()], expected.best.shape[1]
    words, chances, rows = context.words(expected.best.flatten().tolist()), expected.chances.tolist(), []
    for place, label in enumerate(context.labels):
        bits = surprises[place]
        text = "–" if bits is None else t("next_word.bits", n=number(bits))
        cells = [{"text": text, "note": "", "share": 0 if bits is None else bits / HARD}]
        best = zip(words[place * n : (place + 1) * n], chances[place], strict=True)
        cells += [{"text": word, "note": part(chance), "share": chance} for word, chance in best]
        rows.append({"name": list_token(place, label), "cells": cells})
    columns = [t("next_word.surprise"), *[t("next_word.nth", n=i + 1) for i in range(n)]]
    show_grid(context, "rows", "row", columns, rows)
    return rows


def _bars(context: NextWordContext, expected: compute.Expected) -> None:
    """Draw the likeliest words after the selected token, and name the first in a sentence."""
    t, chances = context.t, expected.chances[context.at]
    words = context.words(expected.best[context.at].tolist())
    summary = t(
        "next_word.found", token=name_token(context.labels, context.at), word=words[0], chance=part(float(chances[0]))
    )
    chart = BarChart(
        [f"{isolate(word)} {part(float(chance))}" for word, chance in zip(words, chances, strict=True)],
        {t("next_word.chance"): chances},
        title="",
        value_title=t("next_word.chance"),
        top=1.0,
        height=220,
    )
    show_bars(chart, key="next_best", alt=summary)
    st.text(summary)
    st.caption(paragraph(t("next_word.chances_note"), context.why))


def _say_surprise(context: NextWordContext, expected: compute.Expected) -> None:
    """Describe the largest surprise, and the mean."""
    t = context.t
    if len(expected.surprise) > 1:
        worst = int(expected.surprise.argmax())
        bits = float(expected.surprise[worst])
        mean = number(float(expected.surprise.mean()))
        token = name_token(context.labels, worst + 1)
        st.text(t("next_word.surprised", token=token, bits=number(bits), mean=mean))


def _draw_followed_word(context: NextWordContext) -> None:
    """Draw the chance of the followed word after each token."""
    t, word = context.t, context.word
    chances = compute.chances_of(context.source, word.token)
    chart = BarChart(
        labels=context.labels,
        series={word.label: chances},
        title=t("next_word.after_token"),
        value_title=t("next_word.chance"),
        top=1.0,
        height=230,
    )
    st.text(t("next_word.followed", word=word.label))
    show_bars(chart, key="next_chances", alt=t("next_word.followed_alt"))


def _checks(context: NextWordContext, expected: compute.Expected) -> list[Check]:
    best, word_error, surprise = expected_errors(context.source, context.word.token)
    return [
        check("next_word.check_best", best, 1e-5, n=expected.best.shape[1]),
        check("next_word.check_followed", word_error, 1e-5),
        check("next_word.check_surprise", surprise, 1e-3),
    ]
