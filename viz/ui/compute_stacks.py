"""What the Stacking page keeps: what follows from the blocks of ``compute_blocks.py``, for a whole stack at once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from viz.core.block import stack, stack_parameters
from viz.core.layer_sharing import layers_used
from viz.core.portrait import Portrait, baseline, portrait
from viz.core.reach import cone, moved_by, sensitivity, step
from viz.core.rollout import flow, rollout, with_residual
from viz.core.similarity import mean_cosine, residual_share
from viz.models.blocks import Blocks, model_blocks
from viz.ui import compute, limits
from viz.ui.compute_blocks import blocks, first_stack, reading
from viz.ui.specs import BlockPlan, Mask, Source

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Origins:
    """Where the last layer's tokens have their words from, each (T, T): the last layer's ``weights``, mean over its
    heads, ``rollout`` and ``flow`` through all layers; None for a text too long for that.
    """

    weights: Tensor
    rollout: Tensor
    flow: Tensor | None


@compute.kept
def origins(source: Source, plan: BlockPlan, mask: Mask) -> Origins:
    """Rollout and flow through every layer of a stack."""
    with torch.inference_mode():
        maps = torch.stack([trace.attention.weights for trace in blocks(source, plan, mask)])
        mixed = with_residual(maps)
        n = maps.shape[-1]
        flows = [flow(mixed, query) for query in range(n)] if n <= limits.FLOW_TOKENS else None
        return Origins(
            weights=maps[-1].mean(0), rollout=rollout(mixed)[-1], flow=None if flows is None else torch.stack(flows)
        )


def ordinary(value: T) -> T:
    """The same without tensors of inference mode, of which autograd would know nothing: those are copied."""
    made: Any = value
    if isinstance(value, Tensor):
        made = value.clone() if value.is_inference() else value
    elif isinstance(value, Mapping):
        made = {name: ordinary(part) for name, part in value.items()}
    elif isinstance(value, tuple):
        made = tuple(ordinary(part) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        made = replace(value, **{field.name: ordinary(getattr(value, field.name)) for field in fields(value)})
    return made


def _differentiable(source: Source, plan: BlockPlan, mask: Mask) -> Blocks:
    """As :func:`viz.ui.compute_blocks.first_stack`, of tensors that autograd can follow."""
    with torch.inference_mode(False):
        if source.kind == "model":
            seen = ordinary(reading(source, plan.positions))
            return model_blocks(compute.model(source.model), seen).choose(plan.layers)
        traces = blocks(source, plan, mask)
        weights = tuple(ordinary(trace.weights) for trace in traces)
        return Blocks(x=traces[0].x, weights=weights, design=traces[0].design)


def _levels(own: Blocks, plan: BlockPlan, mask: Mask) -> Callable[[Tensor], tuple[Tensor, ...]]:
    """The stack as a function of the words: they themselves, and every layer's output."""
    allowed, design = mask.allowed(len(own.x), len(own.x)), plan.design(own.design)

    def levels(x: Tensor) -> tuple[Tensor, ...]:
        run = stack(x, own.weights, attentions=own.attentions, allowed=allowed, design=design)
        return (x, *(trace.output for trace in run))

    return levels


@compute.kept
def gradients(source: Source, plan: BlockPlan, mask: Mask, query: int) -> Tensor:
    """How much one token of the last layer reacts to each token of each level, (levels, T), level 0 being the words."""
    own = _differentiable(source, plan, mask)
    return sensitivity(_levels(own, plan, mask), own.x, query)


@dataclass(frozen=True, kw_only=True)
class Field:
    """A receptive field, (levels, T): what the masks let through. ``leak`` is how far noise on every word outside moves
    the token.
    """

    open: Tensor
    leak: float


@compute.kept
def field(source: Source, plan: BlockPlan, mask: Mask, query: int) -> Field:
    """What one token of the last layer can depend on."""
    traces = blocks(source, plan, mask)
    n, residual = len(traces[0].x), traces[0].design.residual
    open_ = cone(torch.stack([step(_looks(trace.attention.masked), n, residual=residual) for trace in traces]), query)
    own = _differentiable(source, plan, mask)
    levels = _levels(own, plan, mask)
    with torch.inference_mode():
        moved = moved_by(lambda x: levels(x)[-1], own.x, ~open_[0])
    return Field(open=open_, leak=float(moved[query]))


def _looks(masked: Tensor) -> Tensor:
    """True where any head may look; a model's own mask may be the lowest number there is in place of -inf."""
    return (masked > torch.finfo(masked.dtype).min / 2).any(0)


@dataclass(frozen=True, kw_only=True)
class Likeness:
    """How alike a stack's tokens are and how long, level by level, (levels,); level 0 is what goes in."""

    cosine: Tensor
    residual: Tensor
    length: Tensor


def _likeness(own: Blocks, allowed: Tensor | None, plan: BlockPlan) -> Likeness:
    traces = own.run(allowed=allowed, design=plan.design(own.design))
    with torch.inference_mode():
        levels = torch.stack([own.x, *(trace.output for trace in traces)])
        return Likeness(
            cosine=mean_cosine(levels), residual=residual_share(levels), length=levels.norm(dim=-1).mean(-1)
        )


DESIGNS = ((True, True), (True, False), (False, True), (False, False))
"""With residuals or not, with norms or not."""


@compute.kept
def likeness(source: Source, plan: BlockPlan, mask: Mask) -> tuple[Likeness, ...]:
    """How alike the tokens of each level are, for each of :data:`DESIGNS`."""
    own = first_stack(source, plan)
    allowed = mask.allowed(len(own.x), len(own.x))
    plans = [replace(plan, residual=residual, normalize=normalize) for residual, normalize in DESIGNS]
    return tuple(_likeness(own, allowed, each) for each in plans)


@compute.kept
def portraits(source: Source, plan: BlockPlan, mask: Mask) -> tuple[tuple[Portrait, ...], Portrait]:
    """Every layer's heads in numbers, and what an even spread over the same keys would score."""
    tokens = reading(source, plan.positions).tokens
    ids, special = torch.tensor(tokens.ids), torch.tensor(tokens.special)
    with torch.inference_mode():
        traces = blocks(source, plan, mask)
        even = baseline(_looks(traces[0].attention.masked), ids, special)
        return tuple(portrait(trace.attention.weights, ids, special) for trace in traces), even


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """A stack with ``n_sets`` sets of weights: its ``parameters``, counted from the tensors, a shared one once; its
    ``flops``, by torch's own counter; and what its activations do.
    """

    n_sets: int
    parameters: int
    flops: int
    likeness: Likeness


@compute.kept
def sharing(source: Source, plan: BlockPlan, mask: Mask, n_sets: int) -> Sharing:
    """The same stack with so many sets of weights."""
    own = first_stack(source, plan)
    tied = own.choose(layers_used(len(plan.layers), n_sets))
    with FlopCounterMode(display=False) as counter:
        alike = _likeness(tied, mask.allowed(len(own.x), len(own.x)), plan)
    parameters, flops = stack_parameters(tied.weights), counter.get_total_flops()
    return Sharing(n_sets=n_sets, parameters=parameters, flops=flops, likeness=alike)


def state_error(source: Source, plan: BlockPlan) -> tuple[float, float]:
    """How far a model's own hidden states are from these blocks', no mask added, and how large they are."""
    own, n = first_stack(source, plan), len(plan.layers)
    whole = n == len(own.states) - 1
    own = replace(own, states=own.states[: n + 1], final=own.final if whole else None)
    return own.state_error(blocks(source, plan, Mask())), max(float(one.abs().max()) for one in own.states)
