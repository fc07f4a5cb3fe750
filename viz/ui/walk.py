"""Where a visitor of the Step by step page stands: which step, which head, which pair of tokens; and how to move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.one_head import Cell, alone, by_hand, group_of
from viz.core.spec import AttentionSpec
from viz.models.tokens import SPACE
from viz.text import Translate
from viz.ui import state
from viz.ui.controls import KEEP
from viz.ui.layout import Scene

ALL = 0
ORDER = (1, 2, 3, 4, 5, 6, 7, 8, 9, ALL)
"""The steps as the buttons go through them; the last place is all of them at once."""

FAMOUS = ("it", "animal")
"""The pair to look at first, where the text has it."""


@dataclass(frozen=True, kw_only=True)
class Walk:
    """What is shown: a step (0: all), one head of the scene's layer, one query and one key."""

    scene: Scene
    step: int
    head: int
    query: int
    key: int

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t

    @property
    def trace(self) -> MultiHeadTrace:
        """Every intermediate of the layer."""
        return self.scene.trace

    @property
    def spec(self) -> AttentionSpec:
        """The sizes of the layer."""
        return self.trace.projections.spec

    @property
    def group(self) -> int:
        """The key/value head this head uses."""
        return group_of(self.spec, self.head)

    @property
    def labels(self) -> tuple[str, ...]:
        """What to write for each token."""
        return self.scene.labels

    @cached_property
    def own(self) -> HeadWeights:
        """The head's own part of the layer's weights."""
        return alone(self.trace.projections, self.head)

    @cached_property
    def cell(self) -> Cell:
        """The chosen cell, by hand."""
        return by_hand(self.trace, self.head, self.query, self.key)

    @property
    def rotary(self) -> bool:
        """The model turns q and k by their position (RoPE) after projecting."""
        return self.scene.capture.calls[self.scene.choice.layer].rotary

    @property
    def options(self) -> dict[str, Any]:
        """The bias and the soft cap between the scaled scores and the softmax, if any, as this head has them."""
        given: Mapping[str, Any] = self.scene.capture.calls[self.scene.choice.layer].options
        return {"bias": self.of_head(given.get("bias")), "score_mod": given.get("score_mod")}

    def of_head(self, per_head: Tensor | None) -> Tensor | None:
        """The head's (Q, K) part of a mask or bias, which may be the same for all heads."""
        return per_head if per_head is None or per_head.ndim == 2 else per_head[self.head]


def first_query(labels: Sequence[str], special: Sequence[bool], weights: Tensor) -> int:
    """Which query to show before one is chosen: the famous pair's, else the one with the strongest link to a word."""
    words = _words(labels)
    return words.index(FAMOUS[0]) if set(FAMOUS) <= set(words) else int(_links(special, weights).amax(-1).argmax())


def first_key(labels: Sequence[str], special: Sequence[bool], weights: Tensor, query: int) -> int:
    """Which key to show before one is chosen: the famous one for the famous query, else the query's strongest link."""
    words = _words(labels)
    famous = FAMOUS[1] in words and words[query] == FAMOUS[0]
    return words.index(FAMOUS[1]) if famous else int(_links(special, weights)[query].argmax())


def _words(labels: Sequence[str]) -> list[str]:
    return [label.removeprefix(SPACE).casefold() for label in labels]


def _links(special: Sequence[bool], weights: Tensor) -> Tensor:
    """Weights between two words; special tokens, and a word's weight on itself, do not count."""
    plain = ~torch.tensor(special)
    return weights.where(plain & plain[:, None] & ~torch.eye(len(weights), dtype=torch.bool), -1.0)


def begin(scene: Scene) -> Walk:
    """Draw the stepper and the pickers, and say what was chosen."""
    step = state.pick("step", 1, ORDER)
    head = state.whole("head", 1, 0, scene.trace.projections.spec.H - 1)
    special, weights, places = scene.capture.tokens.special, scene.trace.weights[head], range(len(scene.labels))
    state.belong_to((scene.labels, scene.labels), "query", "key")
    query = state.pick("query", first_query(scene.labels, special, weights), places)
    key = state.pick("key", first_key(scene.labels, special, weights, query), places)
    _stepper(scene.t, step)
    _pickers(scene)
    return Walk(scene=scene, step=step, head=head, query=query, key=key)


def _go(places: int) -> None:
    state.put("step", ORDER[ORDER.index(st.session_state["step"]) + places])


def _stepper(t: Translate, step: int) -> None:
    """Back and Next, also on the arrow keys, and a button for each step."""
    with st.container(horizontal=True, gap="small", key="stepper"):
        st.button(
            t("step_by_step.back"), key="back", shortcut="Left", on_click=_go, args=(-1,), disabled=step == ORDER[0]
        )
        st.button(
            t("step_by_step.next"), key="next", shortcut="Right", on_click=_go, args=(1,), disabled=step == ORDER[-1],
            type="primary",
        )  # fmt: skip
        for n in ORDER:
            st.button(
                t(f"step_by_step.short_{n}"), key=f"to_{n}", on_click=state.put, args=("step", n),
                type="secondary" if n == step else "tertiary",
            )  # fmt: skip


def _pickers(scene: Scene) -> None:
    t, labels, tokens = scene.t, scene.labels, list(range(len(scene.labels)))
    with st.container(horizontal=True, gap="small"):
        st.selectbox(
            t("step_by_step.head"),
            list(range(scene.trace.projections.spec.H)),
            key="head",
            persist_state=KEEP,
            width=90,
        )
        for name in ("query", "key"):
            st.selectbox(
                t(f"step_by_step.{name}"), tokens, key=name, persist_state=KEEP, width=190,
                format_func=lambda i: f"{i} · {labels[i]}",
            )  # fmt: skip
