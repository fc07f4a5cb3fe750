"""A real model's blocks as the core's: its own weights, its own way of attending, run by ``viz.core.stack.stack``."""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from viz.core import norm as norms
from viz.core.block import BlockDesign, BlockTrace, BlockWeights, Place
from viz.core.experts import Network
from viz.core.feed_forward import Activation, FeedForwardWeights
from viz.core.heads import HeadWeights, MultiHeadTrace, merge_heads, multi_head, project, split_heads
from viz.core.masks import combine
from viz.core.norm import NormWeights
from viz.core.stack import one_by_one, stack
from viz.errors import ModelError
from viz.models.capture import Call, Capture
from viz.models.layers.experts import ExpertsLayout, chooses_groups, experts_activation, read_experts
from viz.models.layers.positions import Change, norm_weights, query_key_change, unchanged
from viz.models.layout import LoadedModel, linear


@dataclass(frozen=True, kw_only=True)
class BlockLayout:
    """Structure of some families' blocks, and the paths of their parts (``blocks.toml``)."""

    families: tuple[str, ...]
    stack: str
    norm: Place | Literal["parallel"]
    normalize: str
    layer: str
    w_out: str
    attention_norm: str = ""
    feed_forward_norm: str = ""
    w_in: str = ""
    activation: str = ""
    w_gate: str = ""
    fused: bool = False
    cross_norm: str = ""
    final_norm: str = ""
    attention_out_norm: str = ""
    cross_out_norm: str = ""
    feed_forward_out_norm: str = ""
    out_scale: str = ""
    projection: str = ""
    network: str = ""
    experts: ExpertsLayout | None = None
    when: Mapping[str, Any] = field(default_factory=dict)

    def fits(self, config: Any) -> bool:
        """Return whether the layout describes models with this configuration."""
        return config.model_type in self.families and all(getattr(config, n) == v for n, v in self.when.items())

    @property
    def is_whole(self) -> bool:
        """True if the core has such blocks: one part after the other, with one feed-forward network or experts."""
        return self.norm != "parallel" and bool(self.w_in) and not self.out_scale

    @property
    def tensors(self) -> set[str]:
        """The paths of the tensors outside of attention that the core's block is made of."""
        norms = (getattr(self, field.name) for field in fields(self) if field.name.endswith("_norm"))
        modules = (*norms, self.w_in, self.w_gate, self.w_out)
        of_experts = self.experts.tensors if self.experts else ()
        return {f"{path}.{kind}" for path in modules if path for kind in ("weight", "bias")} | {*of_experts}

    @property
    def difference(self) -> str:
        """Name of what is different about a block that is not computed here: the end of an error's code."""
        if self.norm in ("post", "parallel"):
            return self.norm
        return "scaled" if self.out_scale else "experts"


@cache
def block_layouts() -> tuple[BlockLayout, ...]:
    """Every stack of every family known."""
    tables = tomllib.loads((Path(__file__).parent / "blocks.toml").read_text("utf-8"))["block"]
    return tuple(
        BlockLayout(**table | {"families": tuple(table["families"]), "experts": experts and ExpertsLayout(**experts)})
        for table, experts in ((table, table.get("experts")) for table in tables)
    )


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """One stack of blocks ready to run, a model's or seeded ones.

    ``x`` is what the first block reads and ``memory`` what decoder blocks read; ``attentions`` are each layer's own
    ways of attending, and ``is_standard`` says whether these are the paper's: scores times 1/sqrt(d_k), nothing added,
    nothing turned. ``final`` is the norm behind the last block, ``projection`` the matrix behind that, if any;
    ``states`` are the model's own hidden states.
    """

    x: Tensor
    weights: tuple[BlockWeights, ...]
    design: BlockDesign
    memory: Tensor | None = None
    attentions: tuple[Mapping[str, Any], ...] | None = None
    is_standard: bool = True
    final: NormWeights | None = None
    projection: Tensor | None = None
    states: tuple[Tensor, ...] = ()

    def run(self, **options: Any) -> tuple[BlockTrace, ...]:
        """Run the stack; ``options`` as in :func:`viz.core.stack.stack`, e.g. ``allowed``, ``design``."""
        with torch.inference_mode():
            return stack(self.x, self.weights, **self._options | options)

    def outputs(self, **options: Any) -> tuple[Tensor, ...]:
        """Output of each block, as in :meth:`run`; nothing else stays in memory."""
        with torch.inference_mode():
            return tuple(trace.output for trace in one_by_one(self.x, self.weights, **self._options | options))

    @property
    def _options(self) -> dict[str, Any]:
        return {"memory": self.memory, "attentions": self.attentions, "design": self.design}

    def choose(self, layers: Sequence[int]) -> "Blocks":
        """The same with other layers, e.g. (0, 0, 0) for one that is used three times."""
        attentions = None if self.attentions is None else tuple(self.attentions[i] for i in layers)
        return replace(self, weights=tuple(self.weights[i] for i in layers), attentions=attentions)

    def finish(self, output: Tensor, design: BlockDesign | None = None) -> Tensor:
        """Return what the stack makes of its last block's output: its final norm, in a design, and its projection."""
        if self.final is not None:
            output = (design or self.design).normalize(output, self.final)
        return output if self.projection is None else output @ self.projection

    def state_error(self, traces: Sequence[BlockTrace]) -> float:
        """Largest difference of the blocks' outputs from the model's own hidden states, over all layers."""
        return max(self.state_off(layer, trace.output) for layer, trace in enumerate(traces))

    def state_off(self, layer: int, output: Tensor) -> float:
        """The same of one layer; of the last one's output what the stack makes of it is compared."""
        output = self.finish(output) if layer == len(self.weights) - 1 else output
        return float((output - self.states[layer + 1]).abs().max())


def _as_trained(call: Call, change: Change) -> Callable[..., MultiHeadTrace]:
    """Attention with a layer's own mask, bias, scale and positions; a further mask narrows its own."""

    def attend(x: Tensor, memory: Tensor, weights: HeadWeights, *, allowed: Tensor | None = None) -> MultiHeadTrace:
        options = {**call.options, "allowed": combine(call.options.get("allowed"), allowed)}
        if not call.is_changed:
            return multi_head(x, memory, weights, **options)
        s = weights.spec
        q = split_heads(project(x, weights.w_q, weights.b_q), s.H)
        k = split_heads(project(x, weights.w_k, weights.b_k), s.G)
        v = split_heads(project(x, weights.w_v, weights.b_v), s.G)
        return merge_heads(*change(q, k), v, weights, x=x, memory=x, **options)

    return attend


def _is_standard(call: Call) -> bool:
    """Return whether a layer attends as in the paper, apart from its mask."""
    scale, root = call.options.get("scale"), call.projections.spec.d_k**-0.5
    is_scaled = scale is None or math.isclose(scale, root, rel_tol=1e-6)
    return is_scaled and not call.is_changed and all(call.options.get(name) is None for name in ("bias", "score_mod"))


def _feed_forward(layer: nn.Module, layout: BlockLayout) -> Network:
    if layout.experts and (experts := read_experts(layer, layout.experts)):
        return experts
    (w_in, b_in), (w_out, b_out) = (linear(layer.get_submodule(name)) for name in (layout.w_in, layout.w_out))
    gate, b_gate = linear(layer.get_submodule(layout.w_gate)) if layout.w_gate else (None, None)
    if layout.fused:
        gate, w_in = w_in.chunk(2, dim=1)
        b_gate, b_in = (None, None) if b_in is None else b_in.chunk(2)
    return FeedForwardWeights(w_in=w_in, b_in=b_in, w_out=w_out, b_out=b_out, w_gate=gate, b_gate=b_gate)


def _activation(layer: nn.Module, layout: BlockLayout) -> Activation:
    of_experts: Activation | None = experts_activation(layer, layout.experts) if layout.experts else None
    return of_experts or layer.get_submodule(layout.activation)


def _weights(layer: nn.Module, layout: BlockLayout, call: Call, cross: Call | None) -> BlockWeights:
    def norm(path: str) -> NormWeights:
        return norm_weights(layer.get_submodule(path))

    def second(path: str) -> NormWeights | None:
        return norm(path) if path and layout.norm == "sandwich" else None

    return BlockWeights(
        attention=call.projections,
        attention_norm=norm(layout.attention_norm or layout.attention_out_norm),
        attention_out_norm=second(layout.attention_out_norm),
        cross=None if cross is None else cross.projections,
        cross_norm=None if cross is None else norm(layout.cross_norm),
        cross_out_norm=second(layout.cross_out_norm),
        feed_forward=_feed_forward(layer, layout),
        feed_forward_norm=norm(layout.feed_forward_norm or layout.feed_forward_out_norm),
        feed_forward_out_norm=second(layout.feed_forward_out_norm),
    )


def find_block_layout(model: LoadedModel, stack_name: str, *, of_stream: bool = False) -> BlockLayout:
    """Find the layout of the blocks of a model's "encoder" or "decoder".

    ``of_stream`` is True where it is enough to know what is written into the residual stream, and where.

    Raises:
        ModelError: "block", if the family's blocks are not known; "block_" and what is different about known ones.
    """
    config, whose = model.model.config, {"model": model.entry.id, "family": model.model.config.model_type}
    known_layouts = [layout for layout in block_layouts() if (layout.norm != "post" if of_stream else layout.is_whole)]
    matches = [layout for layout in known_layouts if layout.fits(config) and layout.stack == stack_name]
    if not matches:
        for layout in block_layouts():
            if layout.fits(config) and layout.stack == stack_name:
                raise ModelError(f"block_{layout.difference}", **whose)
        known_families = {family for layout in known_layouts for family in layout.families} - {config.model_type}
        raise ModelError("block", **whose, n=len(known_families))
    difference, name = ("", "") if of_stream else _find_difference(model, matches[0])
    if difference:
        raise ModelError(f"block_{difference}", **whose, name=name)
    if of_stream and _projection(model, matches[0]) is not None:
        raise ModelError("block_projected", **whose)
    return matches[0]


def _find_difference(model: LoadedModel, layout: BlockLayout) -> tuple[str, str]:
    """Return what the core leaves out though the model computes it, "groups" or "tensor", and the tensor's path."""
    stacked = [layer for layer in model.layers if layer.layout.stack == layout.stack]
    attentions = {part for layer in model.layers for part in (layer.attention, layer.output, *layer.projections)}
    for path in dict.fromkeys(layout.layer.format(i=layer.index) for layer in stacked):
        block = model.model.base_model.get_submodule(path)
        if layout.experts and chooses_groups(block, layout.experts):
            return "groups", ""
        parts = [f"{name}." for name, part in block.named_modules() if part in attentions or name == layout.activation]
        for name in block.state_dict(keep_vars=True):
            if name not in layout.tensors and not name.startswith(tuple(parts)):
                return "tensor", f"{path}.{name}"
    return "", ""


def _projection(model: LoadedModel, layout: BlockLayout) -> Tensor | None:
    """Return the matrix behind the last norm; None for most models."""
    if not layout.projection:
        return None
    place, _, name = layout.projection.rpartition(".")
    module = getattr(model.model.base_model.get_submodule(place), name)
    return None if module is None else linear(module)[0]


def model_blocks(model: LoadedModel, capture: Capture, stack_name: str | None = None) -> Blocks:
    """Return the blocks of one stack of a model, the first unless it is named, as they read a text.

    Raises:
        ModelError: "block", if the family's blocks are not known.
    """
    name = stack_name or next(iter(capture.stacks))
    layout = find_block_layout(model, name)
    assert layout.norm != "parallel"
    calls = capture.stacks[name]
    nothing = (None,) * len(calls)
    # A decoder alone has none.
    crosses = capture.stacks.get("cross", nothing) if layout.cross_norm else nothing
    base = model.model.base_model
    layers = [base.get_submodule(layout.layer.format(i=i)) for i in range(len(calls))]
    stacked = [layer for layer in model.layers if layer.layout.stack == name]
    changes = [query_key_change(model, layer, call.rotation) for layer, call in zip(stacked, calls, strict=True)]
    ways = list(map(_as_trained, calls, changes))
    return Blocks(
        x=capture.states[name][0],
        weights=tuple(_weights(*parts) for parts in zip(layers, [layout] * len(layers), calls, crosses, strict=True)),
        attentions=tuple(
            {"attention": way} | ({} if cross is None else {"cross": _as_trained(cross, unchanged)})
            for way, cross in zip(ways, crosses, strict=True)
        ),
        is_standard=all(_is_standard(call) for call in (*calls, *crosses) if call is not None),
        memory=capture.states["encoder"][-1] if crosses[0] is not None else None,
        design=BlockDesign(
            norm=layout.norm,
            normalize=getattr(norms, layout.normalize),
            activation=_activation(layers[0], layout),
        ),
        final=norm_weights(base.get_submodule(layout.final_norm)) if layout.final_norm else None,
        projection=_projection(model, layout),
        states=capture.states[name],
    )
