"""The heads that carry the change of a weight from one text to the other, and their exchange."""

from functools import partial

import streamlit as st
from torch import Tensor

from pages.heads import compute
from pages.heads.compare.compute import ComparisonKey, Sides, sides
from pages.heads.compare.next_word import PAIR
from pages.heads.compare.one_row import Pair, chosen_pair, draw_lists, on_slots, pair_names
from pages.heads.compare.picture import labels_of
from pages.heads.compare.second import ask_second
from pages.heads.context import HeadsContext
from pages.heads.why import EXCHANGE
from viz.components.bars import BarChart
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.show import show_bars
from viz.frame.specs import Source, View
from viz.text import Translate


def draw(page: HeadsContext) -> list[Check]:
    """The second text, both rows of the head, the heads that carry the change, and both rows after the exchange."""
    scene, t = page.scene, page.t
    second = ask_second(scene)
    if second is None:
        return []
    pair = chosen_pair(page)
    draw_lists(pair)
    source = second.scene.choice.source
    is_one_model = not second.other_model and source.kind == "model"
    between = change_between(pair, source) if is_one_model else None
    if between is None:
        st.text(t("heads.changed_needs"))
        return []
    both, word, key, result = between
    names = pair_names(pair, both)
    sentence = t(
        "heads.changed_by" if result.heads else "heads.changed_none",
        **dict(zip(("query", "key"), names, strict=True)),
        other=pair.labels[result.against],
        word=labels_of(both)["difference"][word],
        total=number(result.total, 3),
        heads=", ".join(f"{scene.capture.number(of.layer)}.{of.head}" for of in result.heads),
        amount=number(sum(amount for amount, _ in result.heads.values()), 3),
        looks=", ".join(part(weight) for _, weight in result.heads.values()),
    )
    draw_rows = partial(_draw_rows, t, both, sentence)
    draw_rows("before", result.rows)
    st.text(sentence)
    if result.heads and EXCHANGE.toggle(t("heads.exchange_two")):
        draw_rows("after", result.after)
        draw_rows("rivals", result.rivals)
        values = {
            f"{name}{which}": part(float(row[place]))
            for name, rows in (("before", result.rows), ("after", result.after), ("rivals", result.rivals))
            for which, row, place in zip(("", "_b"), rows, (pair.key, key), strict=True)
        }
        st.text(t("heads.changed_swap", key=names[1], **values))
    if result.error is None:
        return []
    return [check("heads.check_change", result.error, 1e-4 * max(1.0, result.size))]


def change_between(pair: Pair, source: Source) -> tuple[Sides, int, int, compute.Change] | None:
    """Return the slots of both texts, that of the word that changed, the key in the second text, and the change.

    None if a word of the pair is in one text only, or no word stands for another.
    """
    choice = pair.scene.choice
    both = sides(ComparisonKey(a=choice.source, b=source, mask=choice.mask, view=View()))
    slots = both.alignment.slots
    query, key = (slots[both.of[place]].b for place in (pair.query, pair.key))
    word = next((i for i, slot in enumerate(slots) if slot.kind == "replaced"), -1)
    if word < 0 or query is None or key is None:
        return None
    places = tuple((slot.a, slot.b) for slot in slots if slot.a is not None and slot.b is not None)
    edges = (pair.query, pair.key), (query, key)
    at, place = (choice.layer, pair.head), slots[word].a
    assert place is not None
    return both, word, key, compute.change(choice.source, source, at, edges, places, place)


def _draw_rows(t: Translate, both: Sides, alt: str, name: str, rows: tuple[Tensor, Tensor]) -> None:
    series = dict(zip((t("compare.first"), t("compare.second")), on_slots(both, *rows), strict=True))
    title, labels = t(f"heads.rows_{name}"), labels_of(both)["difference"]
    chart = BarChart(labels, series, title=t("axis.keys"), value_title=title, top=1.0, hues=PAIR)
    show_bars(chart, key=f"changed_{name}", alt=alt)
