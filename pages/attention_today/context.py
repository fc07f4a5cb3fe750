"""The first tokens of a text, a layer's heads on them, and one head: the base of every section."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz import limits
from viz.core.attention import AttentionTrace, attend, options_of_first
from viz.core.heads import HeadWeights, share_kv
from viz.core.variants.today.sinks import first_token_share
from viz.frame.checks import asked_of
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, SceneContext, chosen_head


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer's heads on the first tokens: x (n, d_model), q, k and v (H, n, d), and the options of its attention.

    A score_mod of the model's own is among the options; no sink is: ``sink`` (H,) has the model's own, if it has one.
    """

    x: Tensor
    q: Tensor
    k: Tensor
    v: Tensor
    weights: HeadWeights
    options: dict[str, Any]
    sink: Tensor | None = None

    @property
    def scale(self) -> float:
        """The factor of the scores."""
        return float(self.options.get("scale") or self.q.shape[-1] ** -0.5)

    def mask_of(self, head: int) -> Tensor | None:
        """A head's own mask, (n, n); None where it may look everywhere."""
        allowed: Tensor | None = self.options.get("allowed")
        if allowed is None or allowed.ndim < 3:
            return allowed
        return allowed[head] if len(allowed) > 1 else allowed[0]

    def attend(self, **options: Any) -> AttentionTrace:
        """Attend with the layer's own options, of which ``options`` replace some."""
        return attend(self.q, self.k, self.v, **{**self.options, **options})


@dataclass(frozen=True, kw_only=True)
class TodayContext(SceneContext):
    """The first ``n`` tokens of a text, and one head of the layer that is chosen.

    The numbers come from the cache when they are first asked for.
    """

    n: int
    head: int

    @property
    def labels(self) -> tuple[str, ...]:
        """The tokens, as they are written."""
        return self.scene.labels[: self.n]

    @property
    def is_model(self) -> bool:
        """True where the heads are a model's own."""
        return self.scene.choice.source.kind == "model"

    @lazy
    def layer(self) -> Layer:
        """The chosen layer on the first tokens, under the chosen mask."""
        return layer_of(self.scene, self.n)

    @lazy
    def standard(self) -> AttentionTrace:
        """Every step of standard attention in the layer."""
        return self.layer.attend()


def layer_of(scene: Scene, n: int) -> Layer:
    """Return the heads of a scene's layer on the first ``n`` tokens, with keys and values for each query head."""
    trace, H = scene.trace, len(scene.trace.q)
    options = options_of_first(asked_of(scene), n)
    sink = options.pop("sink", None)
    return Layer(
        x=trace.x[:n],
        q=trace.q[:, :n],
        k=share_kv(trace.k, H)[:, :n],
        v=share_kv(trace.v, H)[:, :n],
        weights=trace.projections,
        options=options,
        sink=sink,
    )


def open_today(scene: Scene) -> TodayContext:
    """Draw the chip of the head; at first it is the one that looks most at the first token."""
    t, n = scene.t, min(len(scene.labels), limits.PLACED_TOKENS)
    H = scene.trace.projections.spec.H
    shares = first_token_share(scene.trace.weights) if len(scene.labels) > 1 else torch.zeros(H)
    head = chosen_head(scene, t("attention_today.head"), H, int(shares.argmax()))
    if n < len(scene.labels) and scene.reads_head:
        st.caption(t("attention_today.first", n=n))
    return TodayContext(scene=scene, n=n, head=head)
