"""The exact parts of one word's score, and whether its largest part is the cause."""

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st
import torch
from torch import Tensor

from pages.heads.compare.one_row import chosen_pair, draw_lists
from pages.heads.context import HeadsContext
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.checks import random_place
from viz.core.analysis.score_parts import CAUSES, KINDS, Edge, Part, contrast_weights, split_by_words
from viz.errors import ModelError
from viz.frame.checks import Check, check
from viz.frame.compute import cached, model, read
from viz.frame.format import number, part
from viz.frame.show import show_bars, show_matrix
from viz.frame.specs import Source
from viz.models.capture import Head
from viz.models.layers.score_parts import Explanation, explain, name_part, say_reason, scoring_heads
from viz.models.recount.own_attention import has_own_attention
from viz.models.recount.score_parts import contrast_by_weights, head_by_rows
from viz.text.naming import name_token

if TYPE_CHECKING:
    from viz.lessons.subject import Subject

ROWS, MOST, MOST_WORDS = 8, 3, 64
"""Largest parts of a side; others that are exchanged; words of a text whose pairs are told apart."""
EXACT = 5e-5
"""A sum of parts in float32, as a share of the sum of their sizes."""


class Reason(NamedTuple):
    """A score's ``split``, of some by ``words`` too; the weight ``without`` the part that is named, and without others.

    ``error`` is how far the sum is from the model's own weights, None where they cannot be had; ``by_rows`` that of
    a head, named, by its rows of W_O.
    """

    split: Explanation
    words: Tensor | None
    without: dict[Part, float]
    error: float | None
    by_rows: tuple[Part, float] | None


@cached
def reason(source: Source, at: Head, edge: Edge) -> Reason:
    """Split a score of a head, ``at`` (layer, head), and put the largest part to the test."""
    if source.kind != "model":
        raise ModelError("split")
    capture, loaded_model, error, by_rows, words = read(source), model(source.model), None, None, None
    with torch.inference_mode():
        head = scoring_heads(loaded_model, capture, at[0])[at[1]]
        split = explain(head, edge)
        amounts, c = split.sides[split.side], contrast_weights(len(head.q), edge[1], head.rivals(edge))
        rivals = sorted((of for of in amounts if of.kind in CAUSES and of != split.part), key=lambda of: -amounts[of])
        without = {of: head.exchange_own(edge, split.side, of) for of in rivals[:MOST]}
        heads = [of for of in split.sides[0] if of.kind == "head"]
        if has_own_attention(loaded_model):
            error = abs(contrast_by_weights(loaded_model, capture, at, edge[0], c) - split.total)
        if error is not None and heads:
            part = heads[random_place(len(heads), source, at, edge)]
            by_rows = part, abs(head_by_rows(loaded_model, capture, head, edge[0], c, part) - split.sides[0][part])
        if at[0] == 1 and "decoder" in capture.stacks and len(c) <= MOST_WORDS:
            words = split_by_words(head, edge[0], c)
    return Reason(split, words, {split.part: split.after, **without}, error, by_rows)


def draw(page: HeadsContext) -> list[Check]:
    """The sentence, the grid, and behind it both columns of bars and the exchange."""
    pair = chosen_pair(page)
    draw_lists(pair)
    t, scene, edge = page.t, page.scene, (pair.query, pair.key)
    try:
        result = reason(scene.choice.source, (scene.choice.layer, page.head), edge)
    except ModelError as refusal:
        if not refusal.code.startswith("split"):
            raise
        st.info(t(f"error.{refusal.code}"))
        return []
    split, names = result.split, [name_token(pair.labels, place) for place in edge]
    sentence = say_reason(t, split, names, lambda amount: number(amount, 3), part)
    st.text(sentence)
    grid, labels = split.grid, [t(f"why.kind_{kind}") for kind in KINDS[:-1]]
    if result.words is not None:
        grid, labels = result.words, list(pair.labels)
    rows, columns = (Axis(labels, t("why.at", word=name)) for name in names)
    values = grid[: len(labels), : len(labels)]
    matrix = Matrix(values=values, rows=rows, columns=columns, kind="signed", numbers=True, scale=True)
    rest = float(grid.sum() - values.sum())
    sums = [float(show_matrix(t, matrix, key="why", alt=sentence).sum()) + rest]
    st.caption(t("why.rest", rest=number(rest), total=number(split.total, 3)))
    with st.expander(t("heads.why_parts")):
        for side, column in enumerate(st.columns(2)):
            amounts = split.sides[side]
            by_size = sorted(amounts, key=lambda of: -abs(amounts[of]))
            bars = {name_part(t, of): amounts[of] for of in sorted(by_size[:ROWS], key=lambda of: (of.layer, of))}
            bars[t("why.other_parts", n=len(by_size[ROWS:]))] = sum(amounts[of] for of in by_size[ROWS:])
            with column:
                sums.append(_draw_bars(f"why_parts_{side}", bars, t("why.at", word=names[side]), t("view.what_scores")))
    with st.expander(t("heads.exchange")):
        bars = {t("heads.now"): split.weight} | {name_part(t, of): after for of, after in result.without.items()}
        _draw_bars("why_exchange", bars, t("heads.exchange_of", word=names[split.side]), t("heads.compare_after"), 1.0)
    error = max(abs(total - split.total) for total in sums)
    tolerance = EXACT * sum(abs(amount) for side in split.sides for amount in side.values())
    checks = [check("heads.check_parts", max(error, result.error or 0.0), tolerance)]
    if result.by_rows is not None:
        of, error = result.by_rows
        checks.append(check("heads.check_part", error, tolerance, part=f"{of.layer}.{of.head}"))
    return checks


def _draw_bars(key: str, bars: dict[str, float], title: str, value_title: str, top: float | None = None) -> float:
    """Draw bars, and return the sum of what is drawn."""
    values = torch.tensor([*bars.values()])
    show_bars(BarChart([*bars], {title: values}, title=title, value_title=value_title, top=top), key=key, alt=title)
    return float(values.sum())


def subject(page: HeadsContext) -> "Subject":
    """Return what a score is made of, by kinds and by words; nothing where it cannot be split."""
    pair, choice, facts = chosen_pair(page), page.scene.choice, dict[str, float]()
    with suppress(ModelError):
        split, words, *_ = reason(choice.source, (choice.layer, page.head), (pair.query, pair.key))
        facts = {kind: float(split.grid[i, i]) for i, kind in enumerate(KINDS[:-1])}
        facts |= {"total": split.total, "query": pair.query, "key": pair.key}
        if words is not None:
            row, column = divmod(int(words[:-2, :-2].argmax()), len(words) - 2)
            facts |= {"mine": row, "met": column, "amount": float(words[row, column])}
    return pair.subject(facts)
