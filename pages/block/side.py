"""One side of the page's diagram, an encoder's or a decoder's: its block, and what goes into it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from viz.core.block import BlockTrace
from viz.core.experts import ExpertsTrace, NetworkTrace
from viz.core.heads import MultiHeadTrace
from viz.core.norm import no_norm
from viz.frame.compute import blocks
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.compute.mask_rule import mask_by_rule, with_mask
from viz.frame.specs import Mask, Source
from viz.models.blocks import Blocks
from viz.text import Translate

Attention = tuple[MultiHeadTrace, Mapping[str, Any]]
"""Trace of a layer of heads, with the options of ``attend`` by the source and the mask."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """A stack of blocks, one of which is shown, with what goes into it: tensors by name, and whose tokens they are.

    ``inputs`` are the embedding and the positions, as far as there are any; ``traces`` are all layers of the stack, of
    which ``layer`` is shown. ``lent``: the model has no such block, and this one is seeded. ``asked`` says how the
    heads of the block shown were asked to attend, those of cross-attention last.
    """

    code: Literal["enc", "dec"]
    labels: tuple[str, ...]
    inputs: Mapping[str, Tensor]
    stack: Blocks
    traces: tuple[BlockTrace, ...]
    layer: int
    lent: bool
    asked: tuple[Mapping[str, Any], ...]

    @property
    def attentions(self) -> list[Attention]:
        """The attention of the block that is shown, or both of a decoder's."""
        traces = (self.trace.attention, self.trace.cross)
        return [(steps, parameters) for steps, parameters in zip(traces, self.asked, strict=False) if steps is not None]

    @property
    def trace(self) -> BlockTrace:
        """The block that is shown."""
        return self.traces[self.layer]

    @property
    def is_outgrown(self) -> bool:
        """Return whether numbers of the block, their lengths or its scores overflow float32.

        Only a block without norms may overflow: with norms a NaN is an error, which the checks report.
        """
        if self.trace.design.normalize is not no_norm:
            return False
        heads = [steps.scores for steps, _ in self.attentions]
        return not all(bool(numbers.norm(dim=-1).isfinite().all()) for numbers in (*self.boxes.values(), *heads))

    @property
    def has_experts(self) -> bool:
        """Return whether experts stand in the place of the block's feed-forward network."""
        return isinstance(self.trace.feed_forward, ExpertsTrace)

    @property
    def is_masked(self) -> bool:
        """Return whether self-attention is masked."""
        return self.trace.attention.allowed is not None

    @property
    def boxes(self) -> dict[str, Tensor]:
        """Every tensor that can be opened, by its code, in order of computation."""
        trace, boxes = self.trace, dict(self.inputs) | {"sum": self.traces[0].x}
        for name, point in trace.points.items():
            if name == "cross" and trace.cross is not None:
                boxes["memory"] = trace.cross.memory
            if name == "feed_forward":
                boxes |= _inside(trace.feed_forward)
            if name != "x" or self.layer > 0:
                boxes[name] = point
        return {f"{self.code}_{name}": tensor for name, tensor in boxes.items()}


def _inside(steps: NetworkTrace) -> dict[str, Tensor]:
    """The box inside a feed-forward network: its hidden layer, or of experts the weights from their router."""
    if isinstance(steps, ExpertsTrace):
        return {"router": steps.routing.by_expert}
    return {"hidden": steps.active}


def encoder_side(source: Source, plan: BlockPlan, mask: Mask, layer: int) -> Side:
    """The source's own first stack."""
    reading, traces = blocks.reading(source, plan.positions), blocks.blocks(source, plan, mask)
    n, shown_layer = len(reading.tokens.ids), min(layer, len(traces) - 1)
    return Side(
        code="enc",
        labels=reading.tokens.labels,
        stack=blocks.first_stack(source, plan),
        traces=traces,
        layer=shown_layer,
        lent=False,
        asked=(with_mask(reading.calls[shown_layer].options, mask_by_rule(mask, n, n)),),
        inputs=blocks.inputs(source, plan),
    )


def decoder_side(source: Source, target: str, plan: BlockPlan, mask: Mask, layer: int) -> Side:
    """The blocks that write the target: the source's own, or seeded ones lent to it.

    Raises:
        ModelError: "empty", if the target has no word.
    """
    has_own = blocks.has_decoder(source)
    traces = blocks.decoder_blocks(source, target, plan, mask)
    shown_layer = min(layer, len(traces) - 1)
    as_trained: list[Mapping[str, Any]] = [{}, {}]
    if has_own:
        stacks = blocks.reading(source, target=target).stacks
        as_trained = [stacks[name][shown_layer].options for name in ("decoder", "cross")]
    return Side(
        code="dec",
        labels=blocks.target_tokens(source, target, plan).labels,
        traces=traces,
        stack=blocks.decoder_stack(source, target, plan, mask),
        layer=shown_layer,
        asked=tuple(map(with_mask, as_trained, _decoder_rules(traces[shown_layer], mask))),
        lent=source.kind == "model" and not has_own,
        inputs={} if has_own else blocks.inputs(blocks.writer(source, target), plan),
    )


def _decoder_rules(trace: BlockTrace, mask: Mask) -> tuple[Tensor, Tensor | None]:
    """Masks of the target on itself, always causal, and on the source: the padding is the source's."""
    assert trace.cross is not None
    n, m = len(trace.x), len(trace.cross.memory)
    so_far = torch.ones(n, n, dtype=torch.bool).tril()
    if mask.kind in ("padding", "both"):
        return so_far, mask_by_rule(replace(mask, kind="padding"), n, m)
    further = mask_by_rule(mask, n, n)
    return so_far if further is None else so_far & further, None


def kind_of(code: str) -> str:
    """The kind of a box, without its side: "attention", "attention_add", "memory".

    Example:
        >>> kind_of("enc_attention_add")
        'attention_add'
    """
    return code.partition("_")[2]


def part_of(kind: str) -> str:
    """The kind of the part that a sum or a norm belongs to; every other box's own.

    Example:
        >>> part_of("feed_forward_out_norm"), part_of("hidden")
        ('feed_forward', 'hidden')
    """
    return kind.removesuffix("_add").removesuffix("_norm").removesuffix("_out")


def box_name(t: Translate, side: Side, kind: str) -> str:
    """The name of a box, e.g. "Masked self-attention"."""
    if kind == "attention" and side.is_masked:
        kind = "masked"
    if kind == "feed_forward" and side.has_experts:
        kind = "experts"
    # Without positions nothing is added that could be shown.
    if kind == "sum" and "position" not in side.inputs:
        kind = "start"
    if kind.endswith("_add"):
        return t("block.name_add")
    if kind.endswith("_out_norm"):
        return t("block.name_out_norm")
    if kind.endswith("_norm"):
        return t("block.name_norm")
    return t(f"block.name_{kind}", layer=side.layer - 1)


def part_name(t: Translate, side: Side, kind: str) -> str:
    """The part a sum or a norm belongs to, e.g. "Feed-forward"; "" for every other box."""
    part = part_of(kind)
    return "" if part == kind else box_name(t, side, part)


def long_name(t: Translate, side: Side, kind: str) -> str:
    """A box's name that no other box of its side has, e.g. "Add · Feed-forward"."""
    name, part = box_name(t, side, kind), part_name(t, side, kind)
    return t("block.name_of", name=name, part=part) if part else name


def side_name(t: Translate, side: Side) -> str:
    """The name of a side, e.g. "Block with a mask"."""
    return t(f"block.side_{'decoder' if side.code == 'dec' else 'causal' if side.is_masked else 'encoder'}")


def torch_name(side: Side) -> str:
    """Torch's own layer of that kind."""
    return "TransformerDecoderLayer" if side.code == "dec" else "TransformerEncoderLayer"
