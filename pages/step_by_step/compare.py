"""One head and one word that looks, on two texts: its scores side by side, and the weights they become."""

from dataclasses import replace

import streamlit as st
import torch
from torch import Tensor

from pages.step_by_step import reference
from pages.step_by_step.context import StepByStepContext
from viz.figures.bars import bars
from viz.frame.checks import Check, check
from viz.frame.compare.next_word import HUES
from viz.frame.compare.picture import labels_of
from viz.frame.compare.second import ask_second, compared_of
from viz.frame.compute import comparison, comparison_by_numpy
from viz.frame.compute.comparison import Sides
from viz.frame.format import number, part
from viz.frame.show import show
from viz.frame.specs import View


def draw(context: StepByStepContext) -> list[Check]:
    """The second text; the row's scores of both as paired bars, and below them the weights."""
    t = context.t
    second = ask_second(context.scene, models=False)
    if second is None:
        return []
    compared = compared_of(context.scene, second, View(), context.head)
    sides = comparison.sides(compared)
    wrong = check("second.check_pairs", comparison_by_numpy.wrong_pairs(compared), 0)
    slots = sides.alignment.slots
    query, key = (slots[sides.of[place]].b for place in (context.query, context.key))
    if query is None:
        st.text(t("step_by_step.compare_alone", query=context.labels[context.query]))
        return [wrong, reference.weights_check(context)]
    other = replace(context, scene=second.scene, query=query, key=query if key is None else key)
    sentence = _say(context, other, has_key=key is not None)
    st.text(sentence)
    names, labels = (t("compare.first"), t("compare.second")), labels_of(sides)["difference"]
    for when, rows in (
        ("before", (context.cell.row, other.cell.row)),
        ("after", (context.cell.weights, other.cell.weights)),
    ):
        series = dict(zip(names, _on_slots(sides, *rows), strict=True))
        title = t(f"step_by_step.compare_{when}")
        top = 1.0 if when == "after" else None
        fig = bars(labels, series, title=t("axis.keys"), value_title=title, top=top, hues=HUES)
        show(fig, key=f"compare_{when}", alt=sentence)
    by_torch = reference.weights_check(other)
    return [wrong, reference.weights_check(context), replace(by_torch, key="step_by_step.check_second")]


def _say(context: StepByStepContext, other: StepByStepContext, *, has_key: bool) -> str:
    """What becomes of the chosen pair, if the second text has it."""
    labels = context.labels
    named = {"query": labels[context.query], "key": labels[context.key]}
    if not has_key:
        return context.t("step_by_step.compare_no_key", **named)
    cells = {"": context.cell, "_b": other.cell}
    scores = {f"score{which}": number(cell.masked, 3) for which, cell in cells.items()}
    weights = {f"weight{which}": part(cell.weight) for which, cell in cells.items()}
    return context.t("step_by_step.compare_pair", **named, **scores, **weights)


def _on_slots(sides: Sides, *rows: Tensor) -> list[Tensor]:
    """A row of either text on the slots of both; NaN, which no bar is drawn for, where a text has no such word."""
    places = sides.alignment.a, sides.alignment.b
    return [row[at.clamp(min=0)].where(at >= 0, torch.nan) for row, at in zip(rows, places, strict=True)]
