"""What every section of the Stacking page stands on: a stack of blocks on one text, and one token of its last layer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.stacking import compute
from viz.components.maps import Panel, pack_maps
from viz.core.analysis.checks import rounding, torchs_weights
from viz.frame.checks import Check, check, with_mask
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.compute.blocks import blocks, reading
from viz.frame.compute.mask_rule import written_out
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, blocks_more
from viz.frame.show import MAPS
from viz.frame.specs import Mask, Source
from viz.models.tokens import Tokens
from viz.params import Int, TokenIndex
from viz.text import Translate, paragraph

SEEDED_LAYERS, MOST_LAYERS = 6, 12
"""Layers of seeded blocks: at first, and at most. A model has as many as it was trained with."""
WIDTH = 200
"""Of a control, in pixels."""
NEAREST = 3
"""Words named: those that count most."""
DEPTH = Int(
    "depth",
    lambda trained: trained or SEEDED_LAYERS,
    low=1,
    high=lambda trained: trained or MOST_LAYERS,
)
"""Layers of the stack."""


def _usual(tokens: Tokens) -> int:
    """The famous *it*, else the last word."""
    if "it" in tokens.labels:
        return tokens.labels.index("it")
    plain = [i for i, special in enumerate(tokens.special) if not special]
    words = [i for i in plain if any(map(str.isalnum, tokens.labels[i]))]
    return (words or plain or [0])[-1]


FROM_TOKEN = TokenIndex(
    "from_token", _usual, high=lambda tokens: len(tokens.ids) - 1, words=lambda tokens: tokens.labels
)
"""The token of the last layer."""


@dataclass(frozen=True, kw_only=True)
class StackingContext:
    """A text, so many layers with weights of their own, the chips' mask in each, and one token of the last layer."""

    scene: Scene
    plan: BlockPlan
    query: int
    tokens: Tokens
    drawn: set[str] = field(default_factory=set)
    """Controls that several sections share and one of them has drawn."""

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t

    @property
    def source(self) -> Source:
        """Where the numbers come from."""
        return self.scene.choice.source

    @property
    def mask(self) -> Mask:
        """The mask of every layer, as the chips say it."""
        return self.scene.choice.mask

    @property
    def labels(self) -> tuple[str, ...]:
        """What to write for each token."""
        return self.tokens.labels

    @property
    def depth(self) -> int:
        """L."""
        return len(self.plan.layers)

    @lazy
    def rollouts(self) -> compute.Rollouts:
        """The last layer's weights, and the rollout through 1, 2 … L layers."""
        return compute.rollouts(self.source, self.plan, self.mask)

    def token_control(self) -> None:
        """Draw the control for the token: where all sections are shown it stands in the first that needs it."""
        if "from_token" in self.drawn:
            return
        self.drawn.add("from_token")
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
        """So many layers, in words."""
        return _layers(self.t, n)

    def map_name(self, code: str) -> str:
        """What a map of the tokens is called: weights or rollout."""
        return self.t(f"stacking.map_{code}", layers=self.layers(self.depth), last=self.depth - 1)

    def most(self, values: Tensor) -> list[int]:
        """The few words with the largest values, the largest first."""
        return values.argsort(descending=True, stable=True)[:NEAREST].tolist()

    def names(self, places: list[int]) -> str:
        """Words by name; for ``st.text`` only, since they are the visitor's."""
        return self.listed(f"“{self.labels[i]}”" for i in places)

    def listed(self, things: Iterable[str]) -> str:
        """Things in a row, as the language parts them."""
        return reduce(lambda before, last: self.t("stacking.listed", before=before, last=last), things)


def open_stacking(scene: Scene) -> StackingContext:
    """Draw the control for the number of layers, and say what was chosen."""
    t, source = scene.t, scene.choice.source
    trained = scene.capture.n_layers if source.kind == "model" else 0
    tokens = reading(source).tokens
    n = len(tokens.ids)
    if n < len(scene.labels):
        st.caption(t("stacking.first", n=n))
    depth = DEPTH.read(trained)
    if len(DEPTH.options(trained)) > 1:
        with scene.chips.add("depth", _layers(t, depth)):
            DEPTH.slider(t("stacking.depth"), trained, help=t("stacking.depth_help"))
    plan = BlockPlan(layers=tuple(range(depth)))
    return StackingContext(scene=scene, plan=plan, query=FROM_TOKEN.read(tokens), tokens=tokens)


def _layers(t: Translate, n: int) -> str:
    return t("stacking.one_layer") if n == 1 else t("stacking.n_layers", n=n)


def about(scene: Scene) -> None:
    """Which numbers these are: a whole stack's, with the mask in every layer."""
    t, source, spec, masked = scene.t, scene.choice.source, scene.trace.projections.spec, blocks_more(scene)
    sizes = {"H": spec.H, "G": spec.G, "d_model": spec.d_model, "layers": scene.capture.n_layers}
    line = t(f"stacking.{source.kind}_line", model=source.model, seed=source.seed, **sizes)
    st.caption(line if masked or source.kind != "model" else paragraph(line, t("source.model_own")))
    if masked:
        st.caption(t("stacking.masked", mask=t(f"mask.{scene.choice.mask.kind}")))


def show_maps(context: StackingContext, maps: Mapping[str, Tensor]) -> None:
    """Maps of all tokens of the last layer by all words, by their code, two abreast."""
    t = context.t
    names = {code: context.map_name(code) for code in maps}
    panels = [Panel(code=code, title=names[code], alt=names[code], labels=context.labels) for code in maps]
    words = {"says": t("stacking.pair_says"), "axes": t("stacking.rollout.axes")}
    packed = pack_maps(panels, torch.stack(list(maps.values())), what="weights", limit=1.0, gutter=True)
    MAPS.mount(key="rollout_maps", data=packed, words=words)


def asked(context: StackingContext, layer: int) -> dict[str, Any]:
    """How a layer was asked to attend: as its source does, under the visitor's mask."""
    n, options = len(context.labels), dict[str, Any]()
    if context.source.kind == "model":
        options.update(reading(context.source, context.plan.positions).calls[layer].options)
    return with_mask(options, written_out(context.mask, n, n))


def weights_check(context: StackingContext) -> Check:
    """The weights of every head of every layer, from which all is drawn, against those inside torch's own attention."""
    by_layer = []
    for layer, trace in enumerate(blocks(context.source, context.plan, context.mask)):
        steps, options = trace.attention, asked(context, layer)
        error = (torchs_weights(steps.q, steps.k, **options) - steps.weights).abs().max()
        tolerance = rounding(steps.q, steps.k, options.get("scale"))
        by_layer.append(check("stacking.check_weights", error, tolerance, layers=context.layers(context.depth)))
    farthest = max(by_layer, key=lambda found: found.error / found.tolerance)
    return next((found for found in by_layer if not found.passed), farthest)


def state_checks(context: StackingContext) -> list[Check]:
    """A model's own hidden states against those of the blocks the page runs, where the page adds no mask."""
    if context.source.kind != "model":
        return []
    error, size = compute.state_error(context.source, context.plan)
    return [check("stacking.check_states", error, 1e-5 * max(1.0, size), layers=context.layers(context.depth))]
