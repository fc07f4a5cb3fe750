"""One head and one word that looks, on two texts: its scores side by side, and the weights they become.

Or a head of another model, on the same text: weight beside weight, token by token, or word by word where the two models
cut the text into other tokens.
"""

import math
from dataclasses import replace

import streamlit as st
import torch
from torch import Tensor

from pages.step_by_step import reference
from pages.step_by_step.context import StepByStepContext
from viz.components.bars import BarChart
from viz.frame.checks import Check, check
from viz.frame.compare.checks import apart
from viz.frame.compare.next_word import HUES
from viz.frame.compare.picture import labels_of, second_head
from viz.frame.compare.second import Second, ask_second, compared_of
from viz.frame.compute import comparison, comparison_by_numpy
from viz.frame.compute.comparison import Compared, Sides
from viz.frame.controls import KEEP
from viz.frame.format import number, part
from viz.frame.scene import Scene
from viz.frame.show import show_bars
from viz.frame.specs import View
from viz.models.capture import Head
from viz.text import paragraph


def draw(context: StepByStepContext) -> list[Check]:
    """The second text or model; the row's scores of both as paired bars, and below them the weights."""
    t = context.t
    second = ask_second(context.scene)
    if second is None:
        return []
    compared = compared_of(context.scene, second, View(), context.head)
    sides = comparison.sides(compared)
    wrong = check("second.check_pairs", comparison_by_numpy.wrong_pairs(compared), 0)
    head = _second_head(context, second, compared)
    if second.by_words:
        return [wrong, *_by_words(context, second, compared, head)]
    slots = sides.alignment.slots
    query, key = (slots[sides.of[place]].b for place in (context.query, context.key))
    if query is None:
        st.text(t("step_by_step.compare_alone", query=context.labels[context.query]))
        return [wrong, reference.weights_check(context)]
    scene = _at(second.scene, head[0])
    other = replace(context, scene=scene, head=head[1], query=query, key=query if key is None else key)
    if second.other_model and key is not None:
        sentence = _say_models(context, second, head, (context.cell.weight, other.cell.weight))
    else:
        sentence = _say(context, other, has_key=key is not None)
    st.text(sentence)
    names, labels = _names(context, second), labels_of(sides)["difference"]
    for when, rows in (
        ("before", (context.cell.row, other.cell.row)),
        ("after", (context.cell.weights, other.cell.weights)),
    ):
        series = dict(zip(names, _on_slots(sides, *rows), strict=True))
        title = t(f"step_by_step.compare_{when}")
        top = 1.0 if when == "after" else None
        drawn = BarChart(labels, series, title=t("axis.keys"), value_title=title, top=top, hues=HUES)
        show_bars(drawn, key=f"compare_{when}", alt=sentence)
    by_torch = reference.weights_check(other)
    return [wrong, reference.weights_check(context), replace(by_torch, key="step_by_step.check_second")]


def _names(context: StepByStepContext, second: Second) -> tuple[str, str]:
    """What the bars are of: two models, or two texts."""
    if second.other_model:
        return context.scene.choice.source.model, second.scene.choice.source.model
    return context.t("compare.first"), context.t("compare.second")


def _second_head(context: StepByStepContext, second: Second, compared: Compared) -> Head:
    """The head that is compared with: the same one, or one of another model, at first the one that is most alike."""
    if compared.head is None:
        return second.scene.choice.layer, context.head
    layer, head = second_head(second, compared)
    capture = second.scene.capture
    with st.container(key="head_b_row", horizontal=True, gap="small"):
        for name, last in (("layer_b", capture.n_layers - 1), ("head_b", capture.n_heads - 1)):
            st.number_input(context.t(f"second.{name}"), 0, last, key=name, persist_state=KEEP, width=220)
    st.caption(context.t("second.most_alike"))
    return layer, head


def _at(scene: Scene, layer: int) -> Scene:
    """The scene at another layer."""
    return replace(scene, choice=replace(scene.choice, layer=layer))


def _by_words(context: StepByStepContext, second: Second, compared: Compared, head: Head) -> list[Check]:
    """The weights alone: those of pieces add up to a word's, and scores do not."""
    t, sides, heads = context.t, comparison.sides(compared), ((context.scene.choice.layer, context.head), head)
    st.caption(paragraph(t("second.by_words"), t("second.scores_do_not_add_up")))
    query, key = sides.of[context.query], sides.of[context.key]
    both = comparison.maps(compared, *heads)
    expected = comparison_by_numpy.two_by_torch(compared, "weights", *heads)
    off = max(apart(found.numpy(), right) for found, right in zip(both, expected, strict=True))
    rows = [side[query] for side in both]
    if sides.alignment.slots[query].b is None:
        st.text(t("step_by_step.compare_alone", query=sides.labels[0][query]))
        return [check("second.check_words", off, 1e-5)]
    pair = float(rows[0][key]), float(rows[1][key])
    sentence = _say_models(context, second, head, pair, (sides.labels[0][query], sides.labels[0][key]))
    st.text(sentence)
    series = dict(zip(_names(context, second), rows, strict=True))
    drawn = BarChart(
        labels_of(sides)["difference"],
        series,
        title=t("axis.keys"),
        value_title=t("step_by_step.compare_after"),
        top=1.0,
        hues=HUES,
    )
    show_bars(drawn, key="compare_after", alt=sentence)
    return [check("second.check_words", off, 1e-5)]


def _say_models(
    context: StepByStepContext,
    second: Second,
    head: Head,
    weights: tuple[float, float],
    pair: tuple[str, str] | None = None,
) -> str:
    """What a word gives to another in either model; the words as they stand here, or as ``pair`` writes them."""
    query, key = pair or (context.labels[context.query], context.labels[context.key])
    if math.isnan(weights[1]):
        return context.t("step_by_step.compare_no_key", query=query, key=key)
    model, model_b = _names(context, second)
    numbers = {"layer": context.scene.choice.layer, "head": context.head, "layer_b": head[0], "head_b": head[1]}
    weight, weight_b = map(part, weights)
    return context.t(
        "step_by_step.compare_models",
        query=query, key=key, model=model, model_b=model_b, weight=weight, weight_b=weight_b, **numbers,
    )  # fmt: skip


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
