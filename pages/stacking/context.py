"""The context of every section of the Stacking page: a stack of blocks on one text, and a token of its last layer."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.stacking import compute
from viz.core.analysis.checks import largest_ratio, rounding, sdpa_weights
from viz.frame.checks import Check, check
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.compute.blocks import blocks, reading
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, SceneContext, mask_has_effect, source_line
from viz.frame.specs import Mask, Source
from viz.models.tokens import Tokens
from viz.params import Int, Scope, TokenIndex
from viz.text import Translate, join_names, paragraph
from viz.text.naming import name_token

SEEDED_LAYERS, MOST_LAYERS = 6, 12
"""Default and largest number of seeded layers; a model has its own."""
WIDTH = 200
"""Width of a control, in pixels."""
NEAREST = 3
"""Words to name: those with the largest values."""
DEPTH = Int(
    "depth",
    lambda trained: trained or SEEDED_LAYERS,
    low=1,
    high=lambda trained: trained or MOST_LAYERS,
)
"""Layers of the stack."""


def _default_token(tokens: Tokens) -> int:
    """Return the place of *it*, else of the last word."""
    if "it" in tokens.labels:
        return tokens.labels.index("it")
    plain = [i for i, special in enumerate(tokens.special) if not special]
    words = [i for i in plain if any(map(str.isalnum, tokens.labels[i]))]
    return (words or plain or [0])[-1]


FROM_TOKEN = TokenIndex(
    "from_token", _default_token, high=lambda tokens: len(tokens.ids) - 1, scope=Scope(lambda tokens: tokens.labels)
)
"""The token of the last layer."""


@dataclass(frozen=True, kw_only=True)
class StackingContext(SceneContext):
    """A text, a stack of layers with the chips' mask in each, and one token of the last layer."""

    plan: BlockPlan
    query: int
    tokens: Tokens

    @property
    def source(self) -> Source:
        """Source of the numbers."""
        return self.scene.choice.source

    @property
    def mask(self) -> Mask:
        """The mask of every layer, from the chips."""
        return self.scene.choice.mask

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the tokens."""
        return self.tokens.labels

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.plan.layers)

    @lazy
    def rollouts(self) -> compute.Rollouts:
        """The last layer's weights, and the rollout through 1, 2 … L layers."""
        return compute.rollouts(self.source, self.plan, self.mask)

    def token_control(self) -> None:
        """Draw the control of the token, in the first section that needs it."""
        if not self.draws_first("from_token"):
            return
        t, labels = self.t, self.labels
        names = [t("stacking.this_token", i=i, token=label) for i, label in enumerate(labels)]
        FROM_TOKEN.selectbox(
            t("stacking.token"),
            self.tokens,
            says=names.__getitem__,
            width=WIDTH,
            label_visibility="collapsed",
        )

    def layers(self, n: int) -> str:
        """Return a number of layers in words."""
        return _layers(self.t, n)

    def most(self, values: Tensor) -> list[int]:
        """Return the few words with the largest values, largest first."""
        return values.argsort(descending=True, stable=True)[:NEAREST].tolist()

    def names(self, places: list[int]) -> str:
        """Return quoted words; for ``st.text`` only, since they are the user's."""
        return join_names(self.t, (f"“{name_token(self.labels, i)}”" for i in places))


def open_stacking(scene: Scene) -> StackingContext:
    """Draw the control of the number of layers, and return the context."""
    t, source = scene.t, scene.choice.source
    trained = scene.capture.n_layers if source.kind == "model" else 0
    tokens = reading(source).tokens
    n = len(tokens.ids)
    if n < len(scene.labels):
        st.caption(t("note.first", n=n))
    depth = DEPTH.read(trained)
    if len(DEPTH.options(trained)) > 1:
        with scene.chips.add("depth", _layers(t, depth)):
            DEPTH.slider(t("stacking.depth"), trained, help=t("stacking.depth_help"))
    plan = BlockPlan(layers=tuple(range(depth)))
    return StackingContext(scene=scene, plan=plan, query=FROM_TOKEN.read(tokens), tokens=tokens)


def _layers(t: Translate, n: int) -> str:
    return t("stacking.one_layer") if n == 1 else t("stacking.n_layers", n=n)


def about(scene: Scene) -> None:
    """Describe the source of the numbers: a whole stack, with the mask in every layer."""
    t, source, masked = scene.t, scene.choice.source, mask_has_effect(scene)
    line = source_line(scene, "stacking", layers=scene.capture.n_layers)
    st.caption(line if masked or source.kind != "model" else paragraph(line, t("source.model_own")))
    if masked:
        st.caption(t("stacking.masked", mask=t(f"mask.{scene.choice.mask.kind}")))


def layer_options(context: StackingContext, layer: int) -> dict[str, Any]:
    """Return the options of a layer's attention: those of its source, under the user's mask."""
    n, options = len(context.labels), dict[str, Any]()
    if context.source.kind == "model":
        options.update(reading(context.source, context.plan.positions).calls[layer].options)
    return with_mask(options, mask_by_rule(context.mask, n, n))


def weights_check(context: StackingContext) -> Check:
    """Check the weights of every head of every layer against those inside torch's own attention."""
    by_layer = []
    for layer, trace in enumerate(blocks(context.source, context.plan, context.mask)):
        steps, options = trace.attention, layer_options(context, layer)
        error = (sdpa_weights(steps.q, steps.k, **options) - steps.weights).abs().max()
        by_layer.append((error, rounding(steps.q, steps.k, options.get("scale"))))
    off = largest_ratio(*torch.tensor(by_layer, dtype=torch.float64).T)
    return check("stacking.check_weights", *off, layers=context.layers(context.depth))


def state_checks(context: StackingContext) -> list[Check]:
    """Check a model's own hidden states against those of the page's blocks, where the page adds no mask."""
    if context.source.kind != "model":
        return []
    error, size = compute.state_error(context.source, context.plan)
    return [check("stacking.check_states", error, 1e-5 * max(1.0, size), layers=context.layers(context.depth))]
