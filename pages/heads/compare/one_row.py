"""One head and one word that looks, on two texts: its scores side by side, and the weights they become.

Or a head of another model, on the same text: weight beside weight, token by token, or word by word where the two models
cut the text into other tokens.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st
import torch
from torch import Tensor

from pages.heads.compare import by_numpy, compute
from pages.heads.compare.checks import apart
from pages.heads.compare.compute import ComparisonKey, Sides
from pages.heads.compare.next_word import PAIR
from pages.heads.compare.picture import labels_of, numbers_of_layers, second_parameters
from pages.heads.compare.second import Second, ask_second, compared_of
from pages.heads.context import HeadsContext, check_row
from viz.components.bars import BarChart
from viz.core.analysis.one_head import Cell, by_hand
from viz.frame.checks import Check, check
from viz.frame.first_pair import pair_places
from viz.frame.format import number, part
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, SceneContext
from viz.frame.shared import KEY, QUERY, Places
from viz.frame.show import show_bars
from viz.frame.specs import View
from viz.models.capture import Head
from viz.text import Translate, paragraph
from viz.text.naming import list_token, name_token

if TYPE_CHECKING:
    from viz.lessons.subject import Subject


@dataclass(frozen=True, kw_only=True)
class Pair(SceneContext):
    """A query and a key of one head of a scene's layer."""

    head: int
    query: int
    key: int
    queries: Places
    keys: Places

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each token."""
        return self.scene.labels

    @lazy
    def cell(self) -> Cell:
        """Every intermediate of their weight."""
        return by_hand(self.scene.trace, self.head, self.query, self.key)

    def subject(self, facts: dict[str, float]) -> "Subject":
        """Return what a lesson may ask of them: numbers of a section."""
        from viz.lessons.subject import Subject

        scene, trace = self.scene, self.scene.trace
        return Subject(
            labels=self.labels, special=scene.capture.tokens.special, trace=trace, layer=scene.choice.layer,
            weights_of=lambda _: trace.weights, facts=facts, about=repr((scene.choice.source, self.head, facts)),
        )  # fmt: skip


def draw(page: HeadsContext) -> list[Check]:
    """The second text or model; the row's scores of both as paired bars, and below them the weights."""
    second = ask_second(page.scene)
    if second is None:
        return []
    context = chosen_pair(page)
    checks = _draw_row(context, second)
    draw_lists(context)
    return checks


def _draw_row(context: Pair, second: Second) -> list[Check]:
    """Draw the row's scores of both as paired bars, and below them the weights."""
    t = context.t
    comparison = compared_of(context.scene, second, View(), context.head)
    sides = compute.sides(comparison)
    wrong = check("second.check_pairs", by_numpy.wrong_pairs(comparison), 0)
    head = _second_head(context, second, comparison)
    if second.by_words:
        return [wrong, *_by_words(context, second, comparison, head)]
    slots = sides.alignment.slots
    query, key = (slots[sides.of[place]].b for place in (context.query, context.key))
    if query is None:
        st.text(t("heads.compare_alone", query=name_token(context.labels, context.query)))
        return [wrong, check_row(context.scene, context.head)]
    scene = _at(second.scene, head[0])
    second_pair = replace(context, scene=scene, head=head[1], query=query, key=query if key is None else key)
    pair = pair_names(context, sides)
    if second.other_model and key is not None:
        sentence = _say_models(context, second, head, (context.cell.weight, second_pair.cell.weight), pair)
    else:
        sentence = _say(context, second_pair, pair, has_key=key is not None)
    names = _names(context, second)
    for when, rows in (
        ("before", (context.cell.row, second_pair.cell.row)),
        ("after", (context.cell.weights, second_pair.cell.weights)),
    ):
        series, top = dict(zip(names, on_slots(sides, *rows), strict=True)), 1.0 if when == "after" else None
        draw_rows(t, sides, series, key=f"compare_{when}", title=t(f"heads.compare_{when}"), alt=sentence, top=top)
    st.text(sentence)
    return [wrong, check_row(context.scene, context.head), check_row(scene, head[1], "heads.check_second")]


def draw_rows(
    t: Translate, sides: Sides, series: dict[str, Tensor], *, key: str, title: str, alt: str, top: float | None
) -> None:
    """Draw a row of both, on the slots of both, as paired bars."""
    labels = labels_of(sides)["difference"]
    chart = BarChart(labels, series, title=t("axis.keys"), value_title=title, top=top, hues=PAIR)
    show_bars(chart, key=key, alt=alt)


def chosen_pair(page: HeadsContext) -> Pair:
    """Return the query and the key that are chosen."""
    queries, keys = pair_places(page.scene, page.head)
    head, query, key = page.head, QUERY.read(queries), KEY.read(keys)
    return Pair(scene=page.scene, head=head, query=query, key=key, queries=queries, keys=keys)


def draw_lists(context: Pair) -> None:
    """Draw the lists of the query and the key."""
    t, labels = context.t, context.labels
    with st.container(key="pair", horizontal=True, gap="xsmall", vertical_alignment="center"):
        for parameter, name, places in ((QUERY, "queries", context.queries), (KEY, "keys", context.keys)):
            parameter.selectbox(
                t(f"axis.{name}"),
                places,
                says=lambda i: list_token(i, labels[i]),
                width=138,
                label_visibility="collapsed",
            )
            if parameter is QUERY:
                st.markdown(t("heads.looks_at"), width="content")


def pair_names(context: Pair, sides: Sides) -> tuple[str, str]:
    """Name the query and the key."""
    query, key = (_name(sides, sides.of[at], name_token(context.labels, at)) for at in (context.query, context.key))
    return query, key


def _name(sides: Sides, slot: int, label: str) -> str:
    """Name a word of the first text; one that is another word in the second, by both."""
    return f"{label} → {sides.labels[1][slot]}" if sides.alignment.slots[slot].kind == "replaced" else label


def _names(context: Pair, second: Second) -> tuple[str, str]:
    """The names of the bars: two models, or two texts."""
    if second.other_model:
        return context.scene.choice.source.model, second.scene.choice.source.model
    return context.t("compare.first"), context.t("compare.second")


def _second_head(context: Pair, second: Second, comparison: ComparisonKey) -> Head:
    """The head that is compared with: the same one, or one of another model, at first the one that is most alike."""
    if comparison.head is None:
        return second.scene.choice.layer, context.head
    (layer, head), numbers = second_parameters(second, comparison), numbers_of_layers(second)
    with st.container(key="head_b_row", horizontal=True, gap="small"):
        label, every = context.t(f"second.{layer.name}"), isinstance(layer.options(numbers), range)
        # In some models only some layers attend.
        draw_layer = layer.number_input if every else layer.selectbox
        draw_layer(label, numbers, width=220)
        head.number_input(context.t(f"second.{head.name}"), second.scene.capture.n_heads, width=220)
    st.caption(context.t("second.most_alike"))
    return numbers.index(layer.value), head.value


def _at(scene: Scene, layer: int) -> Scene:
    """The scene at another layer."""
    return replace(scene, choice=replace(scene.choice, layer=layer))


def _by_words(context: Pair, second: Second, comparison: ComparisonKey, head: Head) -> list[Check]:
    """The weights alone: those of pieces add up to a word's, and scores do not."""
    t, sides, heads = context.t, compute.sides(comparison), ((context.scene.choice.layer, context.head), head)
    st.caption(paragraph(t("second.by_words"), t("second.scores_do_not_add_up")))
    query, key = sides.of[context.query], sides.of[context.key]
    both = compute.maps(comparison, *heads)
    expected = by_numpy.two_by_torch(comparison, "weights", *heads)
    off = max(apart(weights.numpy(), right) for weights, right in zip(both, expected, strict=True))
    rows = [side[query] for side in both]
    if sides.alignment.slots[query].b is None:
        st.text(t("heads.compare_alone", query=sides.labels[0][query]))
        return [check("second.check_words", off, 1e-5)]
    pair = float(rows[0][key]), float(rows[1][key])
    query_name, key_name = (_name(sides, slot, sides.labels[0][slot]) for slot in (query, key))
    sentence = _say_models(context, second, head, pair, (query_name, key_name))
    series = dict(zip(_names(context, second), rows, strict=True))
    draw_rows(t, sides, series, key="compare_after", title=t("heads.compare_after"), alt=sentence, top=1.0)
    st.text(sentence)
    return [check("second.check_words", off, 1e-5)]


def _say_models(
    context: Pair,
    second: Second,
    head: Head,
    weights: tuple[float, float],
    pair: tuple[str, str],
) -> str:
    """The weights between the words of a pair in both models."""
    query, key = pair
    if math.isnan(weights[1]):
        return context.t("heads.compare_no_key", query=query, key=key)
    model, model_b = _names(context, second)
    layers = {"layer": context.scene.layer_number, "layer_b": second.scene.capture.number(head[0])}
    numbers = layers | {"head": context.head, "head_b": head[1]}
    weight, weight_b = map(part, weights)
    return context.t(
        "heads.compare_models",
        query=query, key=key, model=model, model_b=model_b, weight=weight, weight_b=weight_b, **numbers,
    )  # fmt: skip


def _say(context: Pair, second_pair: Pair, pair: tuple[str, str], *, has_key: bool) -> str:
    """Describe the change of the selected pair, if the second text has it."""
    labels_by_role = dict(zip(("query", "key"), pair, strict=True))
    if not has_key:
        return context.t("heads.compare_no_key", **labels_by_role)
    cells = {"": context.cell, "_b": second_pair.cell}
    scores = {f"score{which}": number(cell.masked, 3) for which, cell in cells.items()}
    weights = {f"weight{which}": part(cell.weight) for which, cell in cells.items()}
    return context.t("heads.compare_pair", **labels_by_role, **scores, **weights)


def on_slots(sides: Sides, *rows: Tensor) -> list[Tensor]:
    """A row of either text on the slots of both; NaN, which no bar is drawn for, where a text has no such word."""
    places = sides.alignment.a, sides.alignment.b
    return [row[at.clamp(min=0)].where(at >= 0, torch.nan) for row, at in zip(rows, places, strict=True)]
