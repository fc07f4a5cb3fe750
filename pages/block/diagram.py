"""The diagram of the block, beside the tensor of the open box."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from torch import Tensor

from pages.block import opened_box
from pages.block.checks import added_error, torch_checks, worst_attention_checks
from pages.block.context import BOX, BlockContext, notes, say_outgrown, warn_of_changes
from pages.block.side import Side, box_name, kind_of, part_name, side_name
from viz.components.kinds import Text
from viz.components.view import View
from viz.core.norm import no_norm
from viz.frame.checks import Check, check
from viz.text import Translate

DIAGRAM = "block_diagram"
BLOCK = View("block/block", sends={"chosen": Text(40)}, colours=True)
HUE_OF_KIND = {"attention": 0, "cross": 1, "feed_forward": 2, "hidden": 2, "router": 2}
"""Index of a box's hue in the palette; the others are grey."""


def draw(context: BlockContext) -> list[Check]:
    """The diagram, and the box that is open."""
    warn_of_changes(context)
    if say_outgrown(context, context.sides):
        return []
    left, right = st.columns([1, 1] if len(context.sides) > 1 else [2, 3], gap="medium")
    with left:
        sides = [pack_side(context.t, side) for side in context.sides]
        show_diagram(context.t, sides, key=DIAGRAM, open_box=context.box)
        notes(context, context.sides)
    with right:
        opened_box.draw(context)
    checks = worst_attention_checks(context.sides)
    for side in context.sides:
        if side.trace.design.residual:
            checks.append(check("block.check_add", added_error(side.trace), 0.0, name=side_name(context.t, side)))
    return checks + torch_checks(context)


def show_diagram(t: Translate, sides: Sequence[dict[str, Any]], *, key: str, open_box: str | None = None) -> None:
    """Draw sides beside each other; without a ``chosen`` box none can be opened."""
    words = {"alt": t("block.diagram_alt" if open_box else "block.diagram_alt_still")}
    data = {"chosen": open_box, "sides": list(sides)}
    BLOCK.mount(key=key, data=data, words=words, on={"chosen": _open} if open_box else None)


def _open(code: str) -> None:
    BOX.set(code)


def pack_box(t: Translate, side: Side, code: str, values: Tensor, look: str = "") -> dict[str, Any]:
    """Data of a box for the browser; ``more`` is for screen readers only."""
    kind, design, (rows, columns) = kind_of(code), side.trace.design, values.shape
    off = (kind.endswith("_add") and not design.residual) or (kind.endswith("_norm") and design.normalize is no_norm)
    more = [part_name(t, side, kind), t("block.off") if off else ""]
    return {
        "code": code,
        "name": box_name(t, side, kind),
        "detail": f"{rows} × {columns}",
        "more": " · ".join(word for word in more if word),
        "look": f"{look} off" if off else look,
        "hue": HUE_OF_KIND.get(kind),
    }


def pack_side(t: Translate, side: Side) -> dict[str, Any]:
    """Data of a side for the browser: its inputs, then the parts of its block."""
    boxes, first, n = side.boxes, side.code, len(side.traces)
    inputs = [code for code in boxes if kind_of(code) in (*side.inputs, "sum", "x")]
    looks = {f"{first}_embedding": "first", f"{first}_position": "plus"}
    # The blocks in between are not drawn.
    looks[f"{first}_x"] = "far"
    if not side.inputs:
        looks[f"{first}_sum"] = "first"
    return {
        "code": side.code,
        "name": side_name(t, side),
        "times": t("block.layer_of" if n > 1 else "block.once", layer=side.layer, layers=n),
        "inputs": [pack_box(t, side, code, boxes[code], looks.get(code, "")) for code in inputs],
        "parts": pack_parts(t, side, boxes),
    }


def pack_parts(t: Translate, side: Side, boxes: dict[str, Tensor]) -> list[dict[str, Any]]:
    """Attention, cross-attention and the feed-forward network: each up to its sum, around which the residual goes."""
    packed = []
    for name in ("attention", "cross", "feed_forward"):
        inside = {"cross": ("memory",), "feed_forward": ("hidden", "router")}.get(name, ())
        kinds = (name, f"{name}_add", f"{name}_norm", f"{name}_out_norm", *inside)
        codes = [code for code in boxes if kind_of(code) in kinds and f"{side.code}_{name}" in boxes]
        if codes:
            end = codes.index(f"{side.code}_{name}_add") + 1
            boxes_of_part = [
                pack_box(t, side, code, boxes[code], "aside" if kind_of(code) == "memory" else "") for code in codes
            ]
            residual = side.trace.design.residual
            packed.append({"boxes": boxes_of_part[:end], "tail": boxes_of_part[end:], "residual": residual})
    return packed
