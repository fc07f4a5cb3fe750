"""Cached computations of the Block page: outputs of a stack, as built and with one change."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pages.block.equations import equations_error
from viz.core.analysis.checks import largest, largest_ratio, rows_rounding, worst
from viz.core.analysis.token_similarity import mean_cosine
from viz.core.analysis.torch_layers import torch_layer_error
from viz.core.block import BlockTrace, Place
from viz.core.experts import ExpertsTrace
from viz.frame import compute
from viz.frame.compute import blocks
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.specs import Mask, Source
from viz.models.blocks import Blocks

SEEDED_BLOCKS = 6
"""Seeded blocks that stand on each other where a whole stack is looked at: as many as the default model has."""


def stack_of(source: Source, target: str, plan: BlockPlan, mask: Mask) -> tuple[Blocks, dict[str, Tensor | None]]:
    """The decoder stack for a target, else the first stack; and its masks.

    Raises:
        ModelError: "empty", if the target has no word.
    """
    if target:
        stack = blocks.decoder_stack(source, target, plan, mask)
        assert stack.memory is not None
        return stack, blocks.decoder_masks(mask, len(stack.x), len(stack.memory))
    stack = blocks.first_stack(source, plan)
    return stack, {"allowed": mask.allowed(len(stack.x), len(stack.x))}


def deep(source: Source, plan: BlockPlan) -> BlockPlan:
    """A plan for a whole stack: a model's is as deep as it is, of seeded blocks there are a few."""
    return plan if source.kind == "model" else replace(plan, layers=tuple(range(SEEDED_BLOCKS)))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Result of a whole stack: the mean ``lengths`` of the tokens before and after each block.

    ``alike`` is the mean cosine between two tokens at its end, NaN if a vector has nothing but zeros: no direction.
    ``error`` is how far its blocks are from the equations written out, as a share of their largest numbers.
    """

    alike: float
    lengths: tuple[float, ...]
    error: float


@compute.cached
def outcome(source: Source, target: str, plan: BlockPlan, mask: Mask) -> Outcome:
    """Run a whole stack for its result alone; without a target, the first one."""
    plan = deep(source, plan)
    stack, masks = stack_of(source, target, plan, mask)
    traces = stack.run(**masks, design=plan.design(stack.design))
    levels = torch.stack([stack.x, *(trace.output for trace in traces)])
    alike = float(mean_cosine(levels[-1])) if bool(levels[-1].any(-1).all()) else math.nan
    lengths = tuple(levels.norm(dim=-1).mean(-1).tolist())
    return Outcome(alike=alike, lengths=lengths, error=equations_error(stack, traces, masks))


Off = tuple[float, float]
"""Error of a block against another one, and the tolerance for rounding."""


@dataclass(frozen=True, kw_only=True)
class BothPlaces:
    """One block run on the same tokens with its norm after the sum, "post", and inside the branch.

    ``error`` is as in :class:`Outcome`; ``torch_errors`` are as of :func:`torch_error`.
    """

    traces: Mapping[Place, BlockTrace]
    error: float
    torch_errors: Mapping[Place, Off | None]


def places(built: Place) -> tuple[Place, Place]:
    """Places to compare: after the sum; and inside the branch, where the block's own norms stand if they do."""
    return "post", "pre" if built == "post" else built


@compute.cached
def both_places(source: Source, target: str, mask: Mask, layer: int) -> BothPlaces:
    """One block with its norms in both places, on the same input from the stack."""
    stack, masks = stack_of(source, target, BlockPlan(), mask)
    if target:
        traces = blocks.decoder_blocks(source, target, BlockPlan(), mask)
    else:
        traces = blocks.blocks(source, BlockPlan(), mask)
    block = replace(stack.choose((layer,)), x=traces[layer].x)
    runs = {place: block.run(**masks, design=replace(stack.design, norm=place)) for place in places(stack.design.norm)}
    return BothPlaces(
        traces={place: run[0] for place, run in runs.items()},
        error=worst(equations_error(block, run, masks) for run in runs.values()),
        torch_errors={place: torch_error(run[0], stack) for place, run in runs.items()},
    )


def torch_error(trace: BlockTrace, stack: Blocks) -> Off | None:
    """Error of a block against torch's own layer, as a share of its largest intermediate, and the tolerance.

    Both are of the token with the largest error relative to its tolerance. Large scores make rounding move weights.

    None where torch has no such layer, or a row is fully masked, for which torch returns NaN.
    """
    if not stack.is_standard or isinstance(trace.feed_forward, ExpertsTrace):
        return None
    attentions = [steps for steps in (trace.attention, trace.cross) if steps is not None]
    if any(bool((steps.weights.amax(-1) == 0).any()) for steps in attentions):
        return None
    on_the_way = [*trace.points.values(), trace.feed_forward.active]
    if trace.cross is not None:
        on_the_way.append(trace.cross.memory)
    try:
        # Rounding grows with the largest number on the way, not with what comes out.
        off = torch_layer_error(trace) / max(map(largest, on_the_way))
    except ValueError:
        return None
    weight_errors = [rows_rounding(steps.q, steps.k, allowed=steps.allowed).amax(0) for steps in attentions]
    tolerance = 1e-6 + 2 * torch.stack(weight_errors).amax(0)
    return largest_ratio(off, tolerance)


@dataclass(frozen=True, kw_only=True)
class BlockErrors:
    """Errors of one block against other implementations, as shares of its largest intermediate.

    ``equations`` are written out with torch's functions, ``torch_layer`` is torch's own, ``model_state`` what the model
    itself handed on; None where there is nothing to compare with.
    """

    equations: float
    torch_layer: Off | None
    model_state: float | None


@compute.cached
def block_errors(source: Source, target: str, plan: BlockPlan, mask: Mask) -> tuple[BlockErrors, ...]:
    """The errors of every block of a stack; without a target, of the first stack."""
    stack, masks = stack_of(source, target, plan, mask)
    traces = blocks.decoder_blocks(source, target, plan, mask) if target else blocks.blocks(source, plan, mask)
    may_compare = stack.states and plan.as_is and mask.kind == "own"
    return tuple(
        BlockErrors(
            equations=equations_error(replace(stack.choose((layer,)), x=trace.x), (trace,), masks),
            torch_layer=torch_error(trace, stack),
            model_state=stack.state_off(layer, trace.output) / largest(stack.states[layer + 1])
            if may_compare
            else None,
        )
        for layer, trace in enumerate(traces)
    )
