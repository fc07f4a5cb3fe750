"""The picture of two texts on a page, and what the visitor chose in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from pages.heads.compare import compute
from pages.heads.compare.compute import Compared, Sides
from pages.heads.compare.second import Second
from viz.components.comparison import unpacked
from viz.components.head_grid import Packed
from viz.components.mount import count_choices, mount
from viz.core.comparison.alignment import Slot
from viz.figures.palette import BLUE, GREY, HEADS, ORANGE
from viz.frame import controls, locks, state
from viz.frame.first_pair import first_query
from viz.frame.head_grid.grid import opening_query
from viz.frame.scene import Scene
from viz.models.capture import Head
from viz.text import words_of

KEY = "comparison"
LONGEST = 120
"""Characters of each text below a picture that is saved."""
COMPARED = ("weights", "arrives")
NONE = "–"
"""What stands in place of a token that a text does not have."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the browser was sent, and of which heads."""

    compared: Compared
    wall: Packed
    two: Packed
    heads: tuple[Head, Head]
    what: str


def picture(scene: Scene, second: Second, compared: Compared, head: int) -> Shown:
    """Show two maps and their difference, one row of them as bars, and how every head changes."""
    wall = compute.differences(compared)
    first = scene.choice.layer, head
    other = second_head(second, compared) if compared.head else first
    what = state.choice("compared", COMPARED[0], COMPARED)
    two = compute.two(compared, what, first, other)
    sides = compute.sides(compared)
    chosen = {"layer": first[0], "head": first[1]}
    if compared.head:  # else nobody has chosen a second head
        chosen |= {"layer_b": other[0], "head_b": other[1]}
    data = {
        "channel": "compare",
        "wall": wall.id,
        "two": two.id,
        "n": count_choices(KEY, "n"),
        "fixed": compared.head is not None,
        "choice": {**chosen, "query": _query(scene, sides), "compared": what},
        "of": sides.of,
        "labels": labels_of(sides),
        **_said(scene, second),
        "colours": {"positive": BLUE, "negative": ORANGE, "first": GREY, "second": HEADS[2]},
    }
    with st.container(key=f"{KEY}_box", gap=None):
        mount("compare/compare", key=f"{KEY}_wall", data=wall.data)
        mount("compare/compare", key=f"{KEY}_two", data=two.data)
        mount(
            "compare/compare",
            key=KEY,
            data=data,
            on_choice_change=partial(_take, scene.capture.numbers, second.scene.capture.numbers),
        )
    return Shown(compared=compared, wall=wall, two=two, heads=(first, other), what=what)


def second_head(second: Second, compared: Compared) -> Head:
    """The head of the second model; at first the one that is most alike."""
    capture, changes = second.scene.capture, unpacked(compute.differences(compared))["measures"]
    usual = 0 if np.isnan(changes).all() else int(np.nanargmin(changes))
    usual_layer, numbers = capture.number(usual // capture.n_heads), capture.numbers or range(capture.n_layers)
    layer = numbers.index(controls.nearest("layer_b", usual_layer, numbers))
    return layer, state.whole("head_b", usual % capture.n_heads, 0, capture.n_heads - 1)


def _query(scene: Scene, sides: Sides) -> int:
    """The row whose bars are drawn: what is locked in the head grid, else the example's, else one of both."""
    locks.follow("query", scene.labels)
    opening = opening_query(scene)
    if opening < 0:
        opening = first_query(scene.labels, scene.capture.tokens.special, scene.trace.weights.mean(0))
        of_both = [i for i, slot in enumerate(sides.of) if slot >= 0 and sides.alignment.slots[slot].b is not None]
        words = [i for i in of_both if not scene.capture.tokens.special[i]]
        opening = opening if opening in words else next(iter(words or of_both), opening)
    return state.pick("query", opening, range(len(scene.labels)))


def labels_of(sides: Sides) -> dict[str, list[str]]:
    """What every slot is called in the first text, "a", in the second, "b", and where both are meant, "difference"."""
    a, b = ([label or NONE for label in side] for side in sides.labels)
    both = [_label(slot, *names) for slot, *names in zip(sides.alignment.slots, a, b, strict=True)]
    return {"a": a, "b": b, "difference": both}


def _label(slot: Slot, a: str, b: str) -> str:
    """A slot's name where both texts are meant.

    Example:
        >>> _label(Slot("replaced", 3, 3), "tired", "wide"), _label(Slot("inserted", None, 2), "–", "very")
        ('tired → wide', '+ very')
    """
    return {"replaced": f"{a} → {b}", "inserted": f"+ {b}", "removed": f"− {a}"}.get(slot.kind, b)


def _said(scene: Scene, second: Second) -> dict[str, Any]:
    """The words of the view: what stands over the maps says of which text, or of which model, each is."""
    words = words_of(scene.choice.lang, "compare")
    models = scene.choice.source.model, second.scene.choice.source.model
    titles = models if second.other_model else (words["first"], words["second"])
    texts = scene.choice.source.text, second.scene.choice.source.text
    named = (f"{title}: “{' '.join(text.split())[:LONGEST]}”" for title, text in zip(titles, texts, strict=True))
    return {
        "words": {**words, "alt": "; ".join(named)},  # below a picture that is saved
        "titles": [*titles, words["difference"]],
        "models": dict(zip(("model", "model_b"), models, strict=True)),
    }


def _take(numbers: Sequence[int], numbers_b: Sequence[int]) -> None:
    """Take over what was chosen in the browser; the rules of each parameter are applied in the run that follows.

    The browser counts the layers that attend; ``numbers`` are the first model's own, ``numbers_b`` the second's.
    """
    for name, value in read_choice(st.session_state[KEY].get("choice")).items():
        layers = {"layer": numbers, "layer_b": numbers_b}.get(name, ())
        state.put(name, layers[value] if layers and 0 <= value < len(layers) else value)


def read_choice(sent: Any) -> dict[str, Any]:
    """What a browser sent as a choice, as far as it has the right types.

    Example:
        >>> read_choice({"head": 2, "query": "x", "compared": "arrives", "layer_b": True, "n": 7})
        {'head': 2, 'compared': 'arrives'}
    """
    if not isinstance(sent, Mapping):
        return {}
    numbers = ("layer", "head", "layer_b", "head_b", "query")
    found: dict[str, Any] = {name: sent[name] for name in numbers if type(sent.get(name)) is int}
    if isinstance(sent.get("compared"), str):
        found["compared"] = sent["compared"]
    return found
