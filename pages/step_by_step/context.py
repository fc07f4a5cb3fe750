"""Context of the Step by step page: one head of the layer, one query and one key."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from viz.core.analysis.one_head import Cell, alone, by_hand, group_of
from viz.core.heads import HeadWeights, MultiHeadTrace
from viz.core.spec import AttentionSpec
from viz.frame.first_pair import pair_places
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, SceneContext, chosen_head
from viz.frame.shared import KEY, QUERY, Places
from viz.text import Translate
from viz.text.naming import list_token


@dataclass(frozen=True, kw_only=True)
class StepByStepContext(SceneContext):
    """One head of the scene's layer, one query (the word that looks) and one key (the word it looks at)."""

    head: int
    query: int
    key: int

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
        """The label of each token."""
        return self.scene.labels

    @lazy
    def head_weights(self) -> HeadWeights:
        """The head's part of the layer's weights."""
        return alone(self.trace.projections, self.head)

    @property
    def projections(self) -> dict[str, tuple[int, Tensor, Tensor | None]]:
        """Head index, matrix and bias (or None) of Q, K and V."""
        w = self.head_weights
        return {"Q": (self.head, w.w_q, w.b_q), "K": (self.group, w.w_k, w.b_k), "V": (self.group, w.w_v, w.b_v)}

    @lazy
    def cell(self) -> Cell:
        """The selected cell, computed by hand."""
        return by_hand(self.trace, self.head, self.query, self.key)

    def rows_of(self, letter: str) -> tuple[str, Tensor]:
        """Return the input of W_Q, W_K or W_V and its symbol: X, that of an earlier layer, or latent vectors."""
        latent = self.scene.call.latent
        if letter == "Q":
            return "X" if latent is None or latent.c_q is None else "C_{Q}", self.trace.x
        if (source := self.scene.call.source) is not None:
            return rf"X_{{{source}}}", self.trace.memory
        return "X" if latent is None else "C_{KV}", self.trace.memory

    @property
    def is_changed(self) -> bool:
        """True if q and k are rotated or normalised after the projection."""
        return self.scene.call.is_changed

    @property
    def options(self) -> dict[str, Any]:
        """The head's bias and soft cap, applied between the scaled scores and the softmax; None where it has none."""
        call_options: Mapping[str, Any] = self.scene.call.options
        return {"bias": self.of_head(call_options.get("bias")), "score_mod": call_options.get("score_mod")}

    def of_head(self, per_head: Tensor | None) -> Tensor | None:
        """The head's (Q, K) part of a mask or bias, which may be the same for all heads."""
        return per_head if per_head is None or per_head.ndim == 2 else per_head[self.head]


def open_step_by_step(scene: Scene) -> StepByStepContext:
    """Draw the chips of the head and the pair, and return the context they select."""
    t = scene.t
    head = chosen_head(scene, t("step_by_step.head"), scene.trace.projections.spec.H)
    queries, keys = pair_places(scene, head)
    query, key = QUERY.read(queries), KEY.read(keys)
    # Without a head there is no query and key.
    if scene.reads_head:
        # The label is Markdown, so it has no words of the text.
        with scene.chips.add("pair", t("step_by_step.chip_pair", query=query, key=key)):
            _pair(t, queries, keys)
    return StepByStepContext(scene=scene, head=head, query=query, key=key)


def _pair(t: Translate, queries: Places, keys: Places) -> None:
    """Draw the lists of the word that looks and of the word it looks at."""
    names = [list_token(i, label) for i, label in enumerate(queries.words)]
    QUERY.selectbox(t("axis.queries"), queries, says=names.__getitem__)
    KEY.selectbox(t("axis.keys"), keys, says=names.__getitem__)
