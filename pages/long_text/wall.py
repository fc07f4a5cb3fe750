"""Every head, small, and which of three shapes it has: click one to open it."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import streamlit as st
import torch

from pages.long_text import compute
from pages.long_text.checks import wall_checks
from pages.long_text.context import LongTextContext, say_whose_text, unless_stopped
from pages.long_text.pack import pack_wall
from viz.components.kinds import Integer, Many
from viz.components.view import View
from viz.core.long.shapes import SHAPES, SHORTEST, Fit
from viz.frame.checks import Check
from viz.frame.shared import HEAD, LAYER, SECTION
from viz.text import paragraph

VIEW = View("long/long_wall", words="long_text.long_wall.", sends={"chosen": Many(Integer(), 2, 2)}, colours=True)
SHARE = r"\text{share} = \frac{1}{|R|} \sum_{i \in R} \; \sum_{j \,:\, (i, j) \,\in\, \text{shape}} w_{ij}"
NONE = "none"
"""A head that has none of the shapes."""
SHORT = "short"
"""A head of a text too short to name a shape."""


@unless_stopped
def draw(context: LongTextContext) -> list[Check]:
    """The wall, layer by layer, and how many heads have each shape."""
    t, layers = context.t, []
    place = st.empty()
    n_layers = len(context.seen.layers)
    for layer in range(n_layers):
        layers.append(compute.small_maps(context.text, layer))
        if layer % 5 == 4 and layer + 1 < n_layers:
            place.progress((layer + 1) / n_layers, text=t("long_text.fitting", done=layer + 1, n=n_layers))
    place.empty()
    fits = [fit for small in layers for fit in small.fits]
    numbers = [context.scene.capture.number(layer) for layer in range(n_layers)]
    data = pack_wall(
        torch.stack([small.cells for small in layers]),
        [_about(fit) for fit in fits],
        shapes=[*SHAPES, NONE if context.n >= SHORTEST else SHORT],
        numbers=numbers,
    )
    VIEW.mount(key="long_wall", data=data, on={"chosen": partial(open_head, numbers)})
    _say(context, fits)
    return wall_checks(context)


def _about(fit: Fit) -> list[float | int]:
    """A head's shape, and how much of its attention each of the three has."""
    shape_index = SHAPES.index(fit.name) if fit.name else len(SHAPES)
    return [shape_index, *(round(fit.shares[name], 4) for name in SHAPES)]


def _say(context: LongTextContext, fits: list[Fit]) -> None:
    t, counts = context.t, Counter(fit.name or NONE for fit in fits)
    if context.n < SHORTEST:
        st.markdown(t("long_text.short", least=SHORTEST, n=context.n))
    else:
        parts = [t(f"long_text.count_{name}", n=counts[name]) for name in (*SHAPES, NONE) if counts[name]]
        st.markdown(t("long_text.wall_found", n=len(fits), counts=" · ".join(parts)))
    say_whose_text(context)


def formula(context: LongTextContext | None) -> None:
    """Draw the formula of a shape's share, and say which rows and how many keys it was computed with."""
    st.latex(SHARE)
    # Without a context the pass was stopped.
    if context is not None:
        t, n = context.t, context.n
        parts = [t("long_text.wall_rows", rows=min(compute.SAMPLED, n), n=n)]
        if n >= SHORTEST:
            fits = [
                fit for layer in range(len(context.seen.layers)) for fit in compute.small_maps(context.text, layer).fits
            ]
            even = min(fit.even for fit in fits)
            parts.append(t("long_text.wall_note", budget=fits[0].budget, even=f"{even:.0%}"))
        st.markdown(paragraph(*parts))


def open_head(numbers: Sequence[int], place: list[int]) -> None:
    """Open the head that was chosen; the browser counts the layers that attend, ``numbers`` are the model's own."""
    layer, head = place
    if layer < len(numbers):
        LAYER.choose(numbers[layer])
    HEAD.choose(head)
    SECTION.set("map")
