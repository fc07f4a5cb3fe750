"""The Block page's controls, and what they make: an encoder's block, a decoder's, or both, each a tower of tensors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import streamlit as st
from torch import Tensor

from viz.core.block import BlockTrace
from viz.models.blocks import Blocks
from viz.models.registry import ModelError
from viz.text import Translate
from viz.ui import compute_blocks, limits, state
from viz.ui.controls import KEEP, pairs
from viz.ui.layout import Scene, blocks_more, end_here, say_error
from viz.ui.specs import BlockPlan, Mask, Source

KINDS = ("encoder", "decoder", "both")
UNEVEN = 10
"""From this ratio of lengths on, a map between two texts is a strip, and the page says so."""
Side = Literal["enc", "dec"]


@dataclass(frozen=True, kw_only=True)
class Tower:
    """One block with what goes into it: tensors by name, in order of computation, and whose tokens they belong to.

    ``inputs`` are the embedding and the positions, as far as there are any; ``traces`` are all layers of the stack, of
    which ``layer`` is shown. ``lent``: the model has no such block, and this one is seeded.
    """

    side: Side
    labels: tuple[str, ...]
    inputs: Mapping[str, Tensor]
    stack: Blocks
    traces: tuple[BlockTrace, ...]
    layer: int
    lent: bool

    @property
    def trace(self) -> BlockTrace:
        """The block that is shown."""
        return self.traces[self.layer]

    @property
    def boxes(self) -> dict[str, Tensor]:
        """Every tensor that can be opened, by its code."""
        trace, own = self.trace, dict(self.inputs) | {"sum": self.traces[0].x}
        for name, point in trace.points.items():
            if name == "cross" and trace.cross is not None:
                own["memory"] = trace.cross.memory
            if name == "feed_forward":
                own["hidden"] = trace.feed_forward.active
            if name != "x" or self.layer > 0:
                own[name] = point
        return {f"{self.side}_{name}": tensor for name, tensor in own.items()}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What the page shows."""

    t: Translate
    scene: Scene
    source: Source
    plan: BlockPlan
    mask: Mask
    target: str
    towers: tuple[Tower, ...]

    def tower(self, code: str) -> Tower:
        """The tower a box belongs to."""
        return next(tower for tower in self.towers if code.startswith(tower.side))

    def labels_of(self, code: str) -> tuple[str, ...]:
        """The tokens a box's rows stand for: the memory's are the source's."""
        if code == "dec_memory":
            return compute_blocks.reading(self.source, self.plan.positions).tokens.labels
        return self.tower(code).labels


def about(scene: Scene) -> None:
    """Where the numbers come from: seeded blocks here have positions, and a mask is laid over every block."""
    t, source, spec, masked = scene.t, scene.choice.source, scene.trace.projections.spec, blocks_more(scene)
    line = t(
        f"block.{source.kind}_line", model=source.model, seed=source.seed, H=spec.H, G=spec.G, d_model=spec.d_model,
        d_ff=compute_blocks.WIDER * spec.d_model, n=len(scene.labels), layer=scene.choice.layer,
        last=scene.capture.n_layers - 1,
    )  # fmt: skip
    st.caption(line if masked or source.kind != "model" else f"{line} {t('source.model_own')}")
    if masked:
        st.caption(t("block.masked", mask=t(f"mask.{scene.choice.mask.kind}")))


def controls(scene: Scene) -> tuple[str, BlockPlan]:
    """Which block, and how it is put together.

    Where the norm stands is "own" or the other place, so that the next model begins as it was trained, too.

    Raises:
        ModelError: "block", if it is not known how this model's blocks are put together.
    """
    t, trained = scene.t, "_trained" if scene.choice.source.kind == "model" else ""
    own = compute_blocks.own_norm(scene.choice.source)
    kind = state.choice("block", "encoder", KINDS)
    places = ("own", "pre" if own == "post" else "post")
    norm = state.choice("norm", places[0], places)
    residual, normalize = state.flag("residual", True), state.flag("normalize", True)
    columns = st.columns([4, 4, 3], vertical_alignment="bottom")
    columns[0].segmented_control(
        t("block.which"), KINDS, key="block", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"block.which_{code}"),
    )  # fmt: skip
    columns[1].segmented_control(
        t("block.norm"), places, key="norm", required=True, persist_state=KEEP, help=t("block.norm_help"),
        format_func=lambda code: t(f"block.norm_{own}{trained}" if code == "own" else f"block.norm_{code}"),
    )  # fmt: skip
    with columns[2]:
        st.toggle(t("block.residual"), key="residual", persist_state=KEEP, help=t("block.residual_help"))
        st.toggle(t("block.normalize"), key="normalize", persist_state=KEEP, help=t("block.normalize_help"))
    return kind, BlockPlan(norm=norm, residual=residual, normalize=normalize)


def target(t: Translate) -> str:
    """The text a decoder writes, shared with every page that has two texts."""
    text = state.text("target", pairs()[0].target, limits.CHARACTERS)
    st.text_area(t("block.target"), key="target", height=68, persist_state=KEEP, help=t("block.target_help"))
    return text[: limits.CHARACTERS]


def build(scene: Scene) -> Stage:
    """Draw the controls and compute what they ask for; or say why that cannot be had, and stop."""
    t, choice = scene.t, scene.choice
    source, towers = replace(choice.source, target=""), []
    try:
        kind, plan = controls(scene)
        written = target(t) if kind != "encoder" else ""
        if kind != "decoder":
            towers.append(encoder(source, plan, choice.mask, choice.layer))
        if kind != "encoder":
            towers.append(decoder(source, written, plan, choice.mask, choice.layer))
    except ValueError as error:
        if isinstance(error, ModelError) and error.code == "empty":  # the source's own words were found before
            st.error(t("block.no_target"))
        else:
            say_error(t, error)
        end_here(t)
    stage = Stage(
        t=t, scene=scene, source=source, plan=plan, mask=choice.mask, target=written, towers=tuple(towers)
    )  # fmt: skip
    _notes(stage)
    return stage


def encoder(source: Source, plan: BlockPlan, mask: Mask, layer: int) -> Tower:
    """The source's own first stack."""
    seen, traces = compute_blocks.reading(source, plan.positions), compute_blocks.blocks(source, plan, mask)
    return Tower(
        side="enc", labels=seen.tokens.labels, stack=compute_blocks.first_stack(source, plan), traces=traces,
        layer=min(layer, len(traces) - 1), lent=False,
        inputs=compute_blocks.inputs(source, plan),
    )  # fmt: skip


def decoder(source: Source, text: str, plan: BlockPlan, mask: Mask, layer: int) -> Tower:
    """The blocks that write the target: the source's own, or seeded ones lent to it."""
    own = compute_blocks.has_decoder(source)
    traces = compute_blocks.decoder_blocks(source, text, plan, mask)
    return Tower(
        side="dec", labels=compute_blocks.written(source, text, plan).labels, traces=traces,
        stack=compute_blocks.decoder_stack(source, text, plan, mask), layer=min(layer, len(traces) - 1),
        lent=source.kind == "model" and not own,
        inputs={} if own else compute_blocks.inputs(compute_blocks.writer(source, text), plan),
    )  # fmt: skip


def _notes(stage: Stage) -> None:
    """What a visitor must know before believing the picture."""
    t, source = stage.t, stage.source
    if source.kind == "model" and not stage.plan.as_is:
        st.warning(t("block.not_trained", model=source.model))
    for tower in stage.towers:
        if tower.lent:
            real = stage.plan.as_is and stage.mask.kind == "own"
            reads = t("block.lent_real" if real else "block.lent_changed")
            st.caption(f"{t('block.lent', model=source.model)} {reads}")
    if len(stage.scene.labels) > limits.STACK_TOKENS:
        st.caption(t("block.first", n=limits.STACK_TOKENS))
    if stage.towers[-1].side == "dec":
        n, m = len(stage.towers[-1].labels), len(stage.labels_of("dec_memory"))
        if max(n, m) >= UNEVEN * min(n, m):
            st.info(t("block.uneven", target=n, source=m))
    elif "decoder" in stage.scene.capture.stacks and not compute_blocks.has_decoder(source):
        st.caption(t("block.decoder_only", model=source.model))
