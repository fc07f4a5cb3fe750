"""The picture of two texts on a page, and what the user chose in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from pages.heads.compare import compute
from pages.heads.compare.compute import ComparisonKey, Sides
from pages.heads.compare.second import Second
from viz.components.comparison import unpacked
from viz.components.head_grid import Packed
from viz.components.kinds import Fields, Integer, OneOf, Optional
from viz.components.view import View
from viz.core.comparison.alignment import Slot
from viz.frame.first_pair import first_query
from viz.frame.head_grid.grid import opening_query
from viz.frame.scene import Scene
from viz.frame.shared import HEAD, LAYER, QUERY, Places
from viz.models.capture import Head
from viz.params import Choice, Int, Parameter

KEY = "comparison"
LONGEST = 120
"""Characters of each text below a picture that is saved."""
COMPARE = Choice("compared", among=("weights", "arrives"))
LAYER_B, HEAD_B = LAYER.variant(name="layer_b"), HEAD.variant(name="head_b")
BROWSER_PARAMETERS: Mapping[str, Parameter[Any]] = {
    parameter.name: parameter for parameter in (LAYER, HEAD, LAYER_B, HEAD_B, QUERY, COMPARE)
}
"""The parameters that the browser sends, by name."""
_HEAD = Optional(Integer())
CHOICE = Fields(
    **dict.fromkeys(("layer", "head", "layer_b", "head_b"), _HEAD),
    query=Optional(Integer(-1)),
    compared=Optional(OneOf(*COMPARE.options())),
)
VIEW = View("compare/compare", words="compare.", sends={"choice": CHOICE}, colours=True)
NUMBERS = View("compare/compare")
"""The same view, which keeps numbers until its words and choices come."""
NONE = "–"
"""Placeholder of a token that a text does not have."""


@dataclass(frozen=True, kw_only=True)
class PictureData:
    """Data sent to the browser, and its heads."""

    comparison_key: ComparisonKey
    wall: Packed
    two: Packed
    heads: tuple[Head, Head]
    what: str


def picture(scene: Scene, second: Second, comparison: ComparisonKey, head: int) -> PictureData:
    """Show two maps and their difference, one row of them as bars, and how every head changes."""
    wall = compute.differences(comparison)
    first = scene.choice.layer, head
    head_b = second_head(second, comparison) if comparison.head else first
    what = COMPARE.read()
    two = compute.two(comparison, what, first, head_b)
    sides = compute.sides(comparison)
    selection = {"layer": first[0], "head": first[1]}
    # Without a head nobody has chosen a second one.
    if comparison.head:
        selection |= {"layer_b": head_b[0], "head_b": head_b[1]}
    titles = _titles(scene, second)
    data = {
        "channel": "compare",
        "wall": wall.id,
        "two": two.id,
        "fixed": comparison.head is not None,
        "choice": {**selection, "query": _query(scene, sides), "compared": what},
        "of": sides.of,
        "labels": labels_of(sides),
        **titles,
    }
    with st.container(key=f"{KEY}_box", gap=None):
        NUMBERS.mount(key=f"{KEY}_wall", data=wall.data)
        NUMBERS.mount(key=f"{KEY}_two", data=two.data)
        numbers = scene.capture.numbers, second.scene.capture.numbers
        VIEW.mount(
            key=KEY,
            data=data,
            words={"alt": _alt(scene, second, titles["titles"][:2])},
            on={"choice": partial(_choose, *numbers)},
        )
    return PictureData(comparison_key=comparison, wall=wall, two=two, heads=(first, head_b), what=what)


def second_parameters(second: Second, comparison: ComparisonKey) -> tuple[Int, Int]:
    """Return the layer and the head of the second model; at first those of the head that is most alike."""
    capture, changes = second.scene.capture, unpacked(compute.differences(comparison))["measures"]
    default = 0 if np.isnan(changes).all() else int(np.nanargmin(changes))
    layer = capture.number(default // capture.n_heads)
    return LAYER_B.variant(default=layer), HEAD_B.variant(default=default % capture.n_heads)


def numbers_of_layers(second: Second) -> Sequence[int]:
    """Return the second model's numbers of the layers that attend."""
    capture = second.scene.capture
    return capture.numbers or range(capture.n_layers)


def second_head(second: Second, comparison: ComparisonKey) -> Head:
    """Return the head of the second model."""
    (layer, head), numbers = second_parameters(second, comparison), numbers_of_layers(second)
    return numbers.index(layer.read(numbers)), head.read(second.scene.capture.n_heads)


def _query(scene: Scene, sides: Sides) -> int:
    """Return the row whose bars are drawn: the locked one, else the example's, else one of both texts."""
    opening = opening_query(scene)
    if opening < 0:
        opening = first_query(scene.labels, scene.capture.tokens.special, scene.trace.weights.mean(0))
        of_both = [i for i, slot in enumerate(sides.of) if slot >= 0 and sides.alignment.slots[slot].b is not None]
        words = [i for i in of_both if not scene.capture.tokens.special[i]]
        opening = opening if opening in words else next(iter(words or of_both), opening)
    return QUERY.read(Places(scene.labels, opening, range(len(scene.labels))))


def labels_of(sides: Sides) -> dict[str, list[str]]:
    """The labels of every slot in the first text, "a", in the second, "b", and where both are meant, "difference"."""
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


def _titles(scene: Scene, second: Second) -> dict[str, Any]:
    """The titles of the maps name their text or their model."""
    t, models = scene.t, (scene.choice.source.model, second.scene.choice.source.model)
    titles = models if second.other_model else (t("compare.first"), t("compare.second"))
    return {
        "titles": [*titles, t("compare.difference")],
        "models": dict(zip(("model", "model_b"), models, strict=True)),
    }


def _alt(scene: Scene, second: Second, titles: Sequence[str]) -> str:
    """The two texts, as a note below a saved picture."""
    texts = scene.choice.source.text, second.scene.choice.source.text
    return "; ".join(
        f"{title}: “{' '.join(text.split())[:LONGEST]}”" for title, text in zip(titles, texts, strict=True)
    )


def _choose(numbers: Sequence[int], numbers_b: Sequence[int], choice: Mapping[str, Any]) -> None:
    """Set the parameters from the browser's choice; the next run validates them.

    The browser counts the layers that attend; ``numbers`` are the first model's own, ``numbers_b`` the second's.
    """
    for name, value in choice.items():
        layers = {"layer": numbers, "layer_b": numbers_b}.get(name, ())
        BROWSER_PARAMETERS[name].set(layers[value] if layers and value < len(layers) else value)
