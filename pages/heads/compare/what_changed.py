"""The heads that carry the change of a weight from one text to the other, and their exchange."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from torch import Tensor

from pages.heads.compare import compute
from pages.heads.compare.compute import ComparisonKey, Sides, sides
from pages.heads.compare.one_row import Pair, chosen_pair, draw_lists, draw_rows, on_slots, pair_names
from pages.heads.compare.picture import labels_of
from pages.heads.compare.second import TEXT_B, ask_second
from pages.heads.context import HeadsContext
from viz.errors import ModelError
from viz.frame.checks import Check, check
from viz.frame.examples import counterpart
from viz.frame.format import number, part
from viz.frame.specs import Source, View

if TYPE_CHECKING:
    from viz.lessons.subject import Subject


def draw(page: HeadsContext) -> list[Check]:
    """The second text, both rows of the head, the heads that carry the change, and both rows after the exchange."""
    scene, t = page.scene, page.t
    second = ask_second(scene)
    if second is None:
        return []
    pair = chosen_pair(page)
    draw_lists(pair)
    between = None if second.other_model else change_between(pair, second.scene.choice.source)
    if between is None:
        st.info(t("heads.changed_needs"))
        return []
    both, word, key, result = between
    query_name, key_name = pair_names(pair, both)
    sentence = t(
        "heads.changed_by" if result.heads else "heads.changed_none",
        query=query_name, key=key_name, other=pair.labels[result.against], word=labels_of(both)["difference"][word],
        total=number(result.total, 3), heads=", ".join(f"{of.layer}.{of.head}" for of in result.heads),
        amount=number(sum(amount for amount, _ in result.heads.values()), 3),
        looks=", ".join(part(weight) for _, weight in result.heads.values()),
    )  # fmt: skip
    draw_change = partial(_draw_rows, page, both, sentence)
    draw_change("before", result.rows["before"])
    st.text(sentence)
    if result.heads:
        with st.expander(t("heads.exchange_two")):
            draw_change("after", result.rows["after"])
            draw_change("rivals", result.rows["rivals"])
            values = {name: part(weight) for name, weight in result.weights(pair.key, key).items()}
            st.text(t("heads.changed_swap", key=key_name, **values))
    if result.error is None:
        return []
    return [check("heads.check_parts", result.error, 1e-4 * max(1.0, result.size))]


def _draw_rows(page: HeadsContext, both: Sides, alt: str, name: str, rows: list[Tensor]) -> None:
    series = dict(zip((page.t("compare.first"), page.t("compare.second")), on_slots(both, *rows), strict=True))
    title = page.t("heads.compare_after" if name == "before" else f"heads.rows_{name}")
    draw_rows(page.t, both, series, key=f"changed_{name}", title=title, alt=alt, top=1.0)


def change_between(pair: Pair, source: Source) -> tuple[Sides, int, int, compute.Change] | None:
    """Return the slots of both texts, that of the word that changed, the key in the second text, and the change.

    None if a word of the pair is in one text only, no word stands for another, or no model reads them.
    """
    choice = pair.scene.choice
    if choice.source.kind != "model":
        return None
    both = sides(ComparisonKey(a=choice.source, b=source, mask=choice.mask, view=View()))
    slots = both.alignment.slots
    query, key = (slots[both.of[place]].b for place in (pair.query, pair.key))
    word = next((i for i, slot in enumerate(slots) if slot.kind == "replaced"), -1)
    if word < 0 or query is None or key is None:
        return None
    places = tuple((slot.a, slot.b) for slot in slots if slot.a is not None and slot.b is not None)
    edges, at = ((pair.query, pair.key), (query, key)), (choice.layer, pair.head)
    result = compute.score_change((choice.source, source), at, edges, places, both.of.index(word))
    return both, word, key, result


def subject(page: HeadsContext) -> "Subject":
    """Return a key's weights in both texts, before and after the exchange; nothing where there is none."""
    pair, source, facts = chosen_pair(page), page.scene.choice.source, dict[str, float]()
    with suppress(ModelError):
        between = change_between(pair, replace(source, text=TEXT_B.read(counterpart(source.text) or source.text)))
        facts = {"key": pair.key, **between[3].weights(pair.key, between[2])} if between else facts
    return pair.subject(facts)
