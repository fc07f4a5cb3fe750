"""The exact parts of one word's score, and whether its largest part is the cause."""

import streamlit as st
import torch

from pages.heads import compute
from pages.heads.compare.one_row import chosen_pair, draw_lists
from pages.heads.context import HeadsContext
from viz.components.bars import BarChart
from viz.components.matrix import Axis, Matrix
from viz.core.analysis.score_parts import KINDS, Amounts, Part
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.show import show_bars, show_matrix
from viz.models.capture import Capture
from viz.params import Flag
from viz.text import Translate
from viz.text.naming import name_token

EXCHANGE = Flag("exchange")
ROWS = 8
"""Largest parts of a side; the rest stands in one bar."""
EXACT = 5e-5
"""A sum of parts in float32, as a share of the sum of their sizes."""


def name_part(t: Translate, capture: Capture, of: Part) -> str:
    """Name a part, with its layer and head if it has any."""
    return t(f"why.part_{of.kind}", layer=capture.number(max(of.layer, 0)), head=of.head)


def draw(page: HeadsContext) -> list[Check]:
    """The sentence, the grid, both columns of bars, and the exchange."""
    pair = chosen_pair(page)
    draw_lists(pair)
    t, scene, edge = page.t, page.scene, (pair.query, pair.key)
    if scene.choice.source.kind != "model":
        st.text(t("error.split"))
        return []
    result = compute.reason(scene.choice.source, (scene.choice.layer, page.head), edge)
    split, capture = result.split, scene.capture
    names = [name_token(pair.labels, place) for place in edge]
    key, side, of, amount = split.statement()
    numbers = {"total": number(split.total, 3), "amount": number(amount, 3), "at": names[side]}
    weights = {"before": part(split.weight), "after": part(split.after)}
    sentence = t(
        f"why.{key}", query=names[0], key=names[1], part=name_part(t, capture, of), kind=t(f"why.kind_{of.kind}"),
        **weights, **numbers,
    )  # fmt: skip
    st.text(sentence)
    is_by_word = len(result.words) > len(KINDS)
    labels = pair.labels if is_by_word else [t(f"why.kind_{kind}") for kind in KINDS[:-1]]
    rows, columns = (Axis(labels, t("why.at", word=name)) for name in names)
    values = result.words[: len(labels), : len(labels)].float()
    matrix = Matrix(values=values, rows=rows, columns=columns, kind="signed", numbers=True, scale=True)
    sent = show_matrix(t, matrix, key="why", alt=sentence)
    rest = split.total - float(values.sum())
    st.caption(t("why.rest", rest=number(rest), total=numbers["total"]))
    error = abs(float(sent.sum()) + rest - split.total)
    with st.expander(t("heads.why_parts")):
        for at, column in enumerate(st.columns(2)):
            with column:
                error = max(error, abs(_bars(t, capture, split.sides[at], names[at], at) - split.total))
    if EXCHANGE.toggle(t("heads.exchange")):
        weights_without = {split.part: split.after, **result.rivals}
        bars = [t("heads.now"), *(name_part(t, capture, of) for of in weights_without)]
        chart = BarChart(
            bars,
            {t("heads.compare_after"): torch.tensor([split.weight, *weights_without.values()])},
            title=t("heads.exchange_of", word=names[split.side]),
            value_title=t("heads.compare_after"),
            top=1.0,
        )
        show_bars(chart, key="why_exchange", alt=t("heads.exchange_of", word=names[split.side]))
    sizes = sum(abs(amount) for amounts in split.sides for amount in amounts.values())
    checks = [check("heads.check_parts", max(error, result.error or 0.0), EXACT * sizes)]
    if result.by_rows is not None:
        checks.append(check("heads.check_part", result.by_rows[0], EXACT * sizes, part=result.by_rows[1]))
    return checks


def _bars(t: Translate, capture: Capture, amounts: Amounts, word: str, side: int) -> float:
    """Draw one side's largest parts and the rest; return their sum as it is drawn."""
    by_size = sorted(amounts, key=lambda of: -abs(amounts[of]))
    largest = sorted(by_size[:ROWS], key=lambda of: -amounts[of])
    values = [amounts[of] for of in largest] + [sum(amounts[of] for of in by_size[ROWS:])]
    labels = [*(name_part(t, capture, of) for of in largest), t("why.other_parts", n=len(by_size[ROWS:]))]
    series, title = torch.tensor(values), t("why.at", word=word)
    chart = BarChart(labels, {title: series}, title=title, value_title=t("view.what_scores"))
    show_bars(chart, key=f"why_parts_{side}", alt=title)
    return float(series.sum())
