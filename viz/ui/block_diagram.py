"""The diagram of the Block page: what the browser is told about each box, and which one is open."""

from typing import Any

import streamlit as st

from viz.core.norm import moments, no_norm
from viz.figures.palette import GREY, HEADS
from viz.ui import state
from viz.ui.block import Stage, Tower
from viz.views.mount import mount

DIAGRAM = "block_diagram"
HUES = {"attention": 0, "cross": 1, "feed_forward": 2, "hidden": 2}
"""Which of the palette's hues a box has; the others are grey."""


def kind_of(code: str) -> str:
    """What a box is, without its side: "attention", "attention_add", "memory"."""
    return code.partition("_")[2]


def choose(stage: Stage) -> str:
    """Draw the diagram and say which box is open."""
    codes = [code for tower in stage.towers for code in tower.boxes]
    usual = next(code for code in codes if kind_of(code) == "attention")
    chosen = state.choice("box", usual, codes)
    data = {
        "chosen": chosen, "hues": [*HEADS, GREY], "words": {"alt": stage.t("block.diagram_alt")},
        "towers": [_tower(stage, tower) for tower in stage.towers],
    }  # fmt: skip
    mount("block", key=DIAGRAM, data=data, on_chosen_change=_open)
    return chosen


def _open() -> None:
    code = st.session_state[DIAGRAM].get("chosen")
    if isinstance(code, str):
        state.put("box", code)


def name_of(stage: Stage, code: str) -> str:
    """What a box is called, e.g. "Masked self-attention"."""
    tower, kind = stage.tower(code), kind_of(code)
    if kind == "attention" and tower.trace.attention.allowed is not None:
        kind = "masked"
    if kind == "sum" and "position" not in tower.inputs:  # nothing is added that could be shown
        kind = "start"
    if kind.endswith("_add"):
        return stage.t("block.name_add")
    if kind.endswith("_norm"):
        return stage.t("block.name_norm")
    return stage.t(f"block.name_{kind}", layer=tower.layer - 1)


def long_name(stage: Stage, code: str) -> str:
    """A box's name that no other box of its tower has, e.g. "Add (after the feed-forward network)"."""
    kind = kind_of(code)
    if not kind.endswith(("_add", "_norm")):
        return name_of(stage, code)
    part = kind.removesuffix("_add").removesuffix("_norm")
    return stage.t("block.name_of", name=name_of(stage, code), part=name_of(stage, f"{stage.tower(code).side}_{part}"))


def _box(stage: Stage, code: str, look: str = "") -> dict[str, Any]:
    t, tower, kind = stage.t, stage.tower(code), kind_of(code)
    tensor, design = tower.boxes[code], tower.trace.design
    off = (kind.endswith("_add") and not design.residual) or (kind.endswith("_norm") and design.normalize is no_norm)
    rows, columns = tensor.shape
    detail = t("block.detail", rows=rows, columns=columns, std=f"{float(moments(tensor).std.mean()):.2f}")
    say = t("block.say_off" if off else "block.say", name=long_name(stage, code), rows=rows, columns=columns)
    return {
        "code": code, "name": name_of(stage, code), "detail": detail, "say": say,
        "look": f"{look} off" if off else look, "hue": HUES.get(kind),
    }  # fmt: skip


def tower_name(stage: Stage, tower: Tower) -> str:
    """What a tower is called, e.g. "Block with a mask"."""
    masked = tower.trace.attention.allowed is not None
    return stage.t(f"block.tower_{'decoder' if tower.side == 'dec' else 'causal' if masked else 'encoder'}")


def _tower(stage: Stage, tower: Tower) -> dict[str, Any]:
    t, side, trace = stage.t, tower.side, tower.trace
    boxes, n = list(tower.boxes), len(tower.traces)
    inputs = [code for code in boxes if kind_of(code) in (*tower.inputs, "sum", "x")]
    looks = {f"{side}_embedding": "first", f"{side}_position": "plus"}
    looks[f"{side}_x"] = "far"  # the blocks in between are not drawn
    if not tower.inputs:
        looks[f"{side}_sum"] = "first"
    parts = []
    for name in ("attention", "cross", "feed_forward"):
        own = [code for code in boxes if kind_of(code).startswith(name)]
        if name == "cross" and own:
            own.insert(own.index(f"{side}_cross"), f"{side}_memory")
        if name == "feed_forward":
            own.insert(own.index(f"{side}_feed_forward"), f"{side}_hidden")
        if own:
            end = own.index(f"{side}_{name}_add") + 1
            made = [_box(stage, code, "aside" if kind_of(code) == "memory" else "") for code in own]
            parts.append({"boxes": made[:end], "tail": made[end:], "residual": trace.design.residual})
    return {
        "name": tower_name(stage, tower),
        "times": t("block.times" if n > 1 else "block.once", layer=tower.layer, n=n),
        "inputs": [_box(stage, code, looks.get(code, "")) for code in inputs],
        "parts": parts,
    }
