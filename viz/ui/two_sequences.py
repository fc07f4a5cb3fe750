"""One text asks another: the first parts of the page Two sequences."""

from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st
import torch

from viz.core.checks import largest
from viz.core.cost import attention_flops, parameters
from viz.core.heads import project, split_heads
from viz.models.registry import ModelError
from viz.ui import compute, limits, state
from viz.ui.compute_two import itself
from viz.ui.controls import KEEP, pairs
from viz.ui.layout import Check, Scene, attention_checks, check, end_here, say_error

BETWEEN = ("target", "cross", "source")
"""Whose map is shown: the target's by itself, the target's of the source, the source's by itself."""


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """The same heads at work on each of two texts by itself, and between the two. ``checks`` grows as parts run."""

    target: Scene
    cross: Scene
    source: Scene
    checks: list[Check] = field(default_factory=list)

    @property
    def n_queries(self) -> int:
        """Tokens that ask."""
        return self.cross.trace.weights.shape[-2]

    @property
    def n_keys(self) -> int:
        """Tokens that answer."""
        return self.cross.trace.weights.shape[-1]

    @property
    def trained(self) -> bool:
        """Whether the heads between the two were trained for this: an encoder-decoder's own."""
        return "decoder" in self.cross.capture.stacks


def _take_pair() -> None:
    chosen = st.session_state["_pair"]
    if chosen is not None:
        one = next(pair for pair in pairs() if pair.code == chosen)
        state.put("text", one.text)
        state.put("target", one.target)
        st.session_state["_pair"] = None


def _swap() -> None:
    text, target = st.session_state["text"], st.session_state["target"]
    state.put("text", target)
    state.put("target", text)


def about(_: Scene) -> None:
    """Nothing yet: where the numbers come from is said of the map that is shown (:func:`whose`)."""


def target_text(scene: Scene) -> str:
    """The text that asks, in a box of its own; the one that answers is the sidebar's."""
    t, lang, by_code = scene.t, scene.choice.lang, {pair.code: pair for pair in pairs()}
    text = state.text("target", pairs()[0].target, limits.CHARACTERS)
    columns = st.columns([3, 2])
    with columns[0]:
        st.text_area(t("two_sequences.target"), key="target", height=80, persist_state=KEEP)
    with columns[1]:
        st.selectbox(
            t("two_sequences.pairs"), list(by_code), index=None, key="_pair", on_change=_take_pair,
            placeholder=t("two_sequences.pairs_placeholder"),
            format_func=lambda code: f"{by_code[code].target} · {by_code[code].why[lang]}",
        )  # fmt: skip
        st.button(t("two_sequences.swap"), on_click=_swap, type="tertiary", icon=":material/swap_vert:")
    if len(text) > limits.CHARACTERS:
        st.warning(t("note.dropped_characters", n=len(text) - limits.CHARACTERS))
    return text[: limits.CHARACTERS]


def _see(scene: Scene, source: compute.Source, mask: compute.Mask) -> Scene:
    """The page's heads on other texts."""
    capture = compute.read(source)
    layer = min(scene.choice.layer, capture.n_layers - 1)
    choice = replace(scene.choice, source=source, layer=layer, mask=mask)
    return Scene(t=scene.t, choice=choice, capture=capture, trace=compute.trace(source, layer, mask))


def meet(scene: Scene, target: str) -> Meeting:
    """Let the heads read both texts, each by itself, and then ask the one with the other; or say why not, and stop."""
    t, source, mask = scene.t, scene.choice.source, scene.choice.mask
    try:
        alone = _see(scene, replace(source, text=target), mask)
        cross = _see(scene, replace(source, target=target), compute.Mask())
    except ModelError as error:
        if error.code == "empty":
            st.error(t("two_sequences.empty"))
        else:
            say_error(t, error)
        end_here(t)
    if dropped := cross.capture.queries.dropped:
        st.warning(t("two_sequences.dropped", n=dropped, kept=len(cross.capture.queries.ids)))
    return Meeting(target=alone, cross=cross, source=scene)


def between(meeting: Meeting) -> Scene:
    """Which map is shown: a text asks itself, or the other one."""
    t = meeting.cross.t
    code = state.choice("between", "cross", BETWEEN)
    st.segmented_control(
        t("two_sequences.between"), BETWEEN, key="between", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"two_sequences.between_{code}"), label_visibility="collapsed",
    )  # fmt: skip
    shown: Scene = getattr(meeting, code)
    rows, columns = shown.trace.weights.shape[-2:]
    st.markdown(t(f"two_sequences.map_{'cross' if shown.capture.is_cross else 'self'}", rows=rows, columns=columns))
    return shown


def whose(meeting: Meeting, shown: Scene) -> None:
    """Where the heads come from, and whether they have ever done this before."""
    t, source, said = meeting.cross.t, shown.choice.source, []
    if shown.capture.is_cross:
        kind = "trained" if meeting.trained else source.kind
        said.append(t(f"two_sequences.heads_{kind}", model=source.model, layer=shown.choice.layer, seed=source.seed))
        if any(call.rotary for call in shown.capture.calls):
            said.append(t("two_sequences.rotary"))
        if meeting.source.choice.mask.kind != "own":
            said.append(t("two_sequences.mask"))
    st.caption(" ".join((*said, t(f"two_sequences.switch_{'trained' if meeting.trained else 'same'}"))))


def _sizes(scene: Scene) -> dict[str, Any]:
    trace = scene.trace
    spec, (n_queries, n_keys) = trace.projections.spec, trace.weights.shape[-2:]
    return {
        "Q": n_queries, "K": n_keys, "q": " × ".join(map(str, trace.q.shape)), "k": " × ".join(map(str, trace.k.shape)),
        "v": " × ".join(map(str, trace.v.shape)), "cells": f"{n_queries * n_keys:,}",
        "parameters": f"{parameters(spec).total:,}",
        "flops": f"{attention_flops(spec, n_queries=n_queries, n_keys=n_keys).total:,}",
        "out": " × ".join(map(str, trace.output.shape)),
    }  # fmt: skip


ROWS = ("asks", "answers", "q", "kv", "map", "sum", "out", "parameters", "flops", "mask", "for", "where")


def lead_of_changes(meeting: Meeting) -> str:
    """Where the table's numbers come from: heads drawn at random have one layer, and no slider for it."""
    return f"two_sequences.changes_lead{'' if meeting.source.choice.source.kind == 'model' else '_seeded'}"


def differences(meeting: Meeting) -> None:
    """What changes and what does not, in this input's own numbers."""
    t, own, cross = meeting.cross.t, _sizes(meeting.target), _sizes(meeting.cross)
    lines = [f"| | {t('two_sequences.row_self')} | {t('two_sequences.row_cross')} |", "|---|---|---|"]
    for row in ROWS:
        states = "_trained" if row == "q" and meeting.trained else ""
        cells = (t(f"two_sequences.self_{row}", **own), t(f"two_sequences.cross_{row}{states}", **cross))
        lines.append(f"| **{t(f'two_sequences.row_{row}')}** | {cells[0]} | {cells[1]} |")
    st.markdown("\n".join(lines))


def checks(meeting: Meeting) -> list[Check]:
    """What must hold between two texts, whatever the heads."""
    cross, trace = meeting.cross, meeting.cross.trace
    wanted = (len(cross.capture.queries.ids), len(cross.capture.tokens.ids))
    shape = sum(abs(a - b) for a, b in zip(wanted, trace.weights.shape[-2:], strict=True))
    weights = trace.projections
    with torch.inference_mode():
        v = split_heads(project(trace.memory, weights.w_v, weights.b_v), weights.spec.G)
        values = (v - trace.v).abs().max()
    source, layer = meeting.source, meeting.source.choice.layer
    found = [
        *attention_checks(trace),
        check("two_sequences.check_shape", shape, 0, Q=wanted[0], K=wanted[1]),
        check("two_sequences.check_values", values, 1e-5 * largest(trace.v)),
    ]
    if not source.capture.calls[layer].rotary:
        found.append(check("two_sequences.check_self", itself(source.choice.source, layer), 1e-5))
    return found
