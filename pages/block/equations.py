"""A block's two equations written out with torch's own parts, to hold against what the pages show."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from viz.core.analysis.checks import largest
from viz.core.block import BlockDesign, BlockTrace, Place
from viz.core.experts import ExpertsTrace, ExpertsWeights
from viz.core.feed_forward import FeedForwardWeights
from viz.core.heads import multi_head
from viz.core.norm import NormWeights, no_norm, rms_norm
from viz.models.blocks import Blocks

Part = Callable[[Tensor], Tensor]


def same(u: Tensor) -> Tensor:
    """Identity, in the place of a norm that a design does not have."""
    return u


def sublayer(
    x: Tensor, part: Part, *, before: Part = same, behind: Part = same, after: Part = same, residual: bool
) -> Tensor:
    """One part of a block, with its residual and its norms: before the part, behind it, after the sum."""
    return after(behind(part(before(x))) + (x if residual else 0))


PLACES: Mapping[Place, tuple[str, ...]] = {
    "post": ("after",),
    "pre": ("before",),
    "output": ("behind",),
    "sandwich": ("before", "behind"),
}
"""The places of a design's norms, of the first and of the second one."""


def normed(design: BlockDesign, weights: NormWeights) -> Part:
    """The design's norm, as torch computes it."""
    width, gain, shift, eps = weights.gain.shape, weights.gain, weights.shift, weights.eps
    if design.normalize is no_norm:
        return lambda u: u
    if design.normalize is rms_norm:
        return lambda u: functional.rms_norm(u, width, gain, eps) + (0 if shift is None else shift)
    return lambda u: functional.layer_norm(u, width, gain, shift, eps)


def feed_forward(weights: FeedForwardWeights, design: BlockDesign) -> Part:
    """The feed-forward network, as torch computes it."""

    def run(u: Tensor) -> Tensor:
        hidden = functional.linear(u, weights.w_in.T, weights.b_in)
        if weights.w_gate is None:
            active = design.activation(hidden)
        else:
            active = design.activation(functional.linear(u, weights.w_gate.T, weights.b_gate)) * hidden
        return functional.linear(active, weights.w_out.T, weights.b_out)

    return run


SLACK = 1e-6
"""Rounding of a router's scores: between experts that are closer than that, either may be chosen."""


def experts(weights: ExpertsWeights, design: BlockDesign, numbers: Tensor) -> Part:
    """The experts, as torch computes them; infinite if the ``numbers`` (T, k) are not those with the largest scores."""
    router, shared = weights.router, weights.shared

    def run(u: Tensor) -> Tensor:
        logits = functional.linear(u, router.w.T, router.b)
        scores = logits.sigmoid() if router.score == "sigmoid" else functional.softmax(logits, dim=-1)
        ranked = scores if router.correction is None else scores + router.correction
        is_chosen = torch.zeros_like(scores).scatter(-1, numbers, 1.0) == 1
        least, most = ranked.masked_fill(~is_chosen, torch.inf).amin(-1), ranked.masked_fill(is_chosen, -torch.inf)
        if bool((is_chosen.sum(-1) != router.k).any()) or bool((most.amax(-1) > least + SLACK).any()):
            return torch.full_like(u, torch.inf)
        gates = scores.where(is_chosen, 0.0)
        if router.renormalize:
            gates = gates / gates.sum(-1, keepdim=True)
        output = torch.zeros_like(u)
        for gate, is_here, expert in zip((router.scale * gates).mT, is_chosen.mT, weights.experts, strict=True):
            if is_here.any():
                output[is_here] += gate[is_here, None] * feed_forward(expert, design)(u[is_here])
        if shared is None:
            return output
        of_shared = 1.0 if weights.w_shared is None else functional.linear(u, weights.w_shared.T).sigmoid()
        return output + of_shared * feed_forward(shared, design)(u)

    return run


def network(trace: BlockTrace) -> Part:
    """The part of a block behind its heads: one feed-forward network, or experts."""
    weights, steps = trace.weights.feed_forward, trace.feed_forward
    if isinstance(weights, ExpertsWeights):
        assert isinstance(steps, ExpertsTrace)
        return experts(weights, trace.design, steps.routing.numbers)
    return feed_forward(weights, trace.design)


def block_output(stack: Blocks, layer: int, trace: BlockTrace, masks: Mapping[str, Any]) -> Tensor:
    """A block's output by the equations; its attention is checked against torch elsewhere."""
    weights, design = trace.weights, trace.design
    ways = {} if stack.attentions is None else stack.attentions[layer]

    def attention(u: Tensor) -> Tensor:
        attend = ways.get("attention", multi_head)
        output: Tensor = attend(u, u, weights.attention, allowed=masks.get("allowed")).output
        return output

    def cross(u: Tensor) -> Tensor:
        attend = ways.get("cross", multi_head)
        output: Tensor = attend(u, stack.memory, weights.cross, allowed=masks.get("memory_allowed")).output
        return output

    parts: list[tuple[Part, NormWeights, NormWeights | None]] = [
        (attention, weights.attention_norm, weights.attention_out_norm)
    ]
    if weights.cross_norm is not None:
        parts.append((cross, weights.cross_norm, weights.cross_out_norm))
    parts.append((network(trace), weights.feed_forward_norm, weights.feed_forward_out_norm))
    x = trace.x
    for part, *learned in parts:
        places = zip(PLACES[design.norm], learned, strict=False)
        norms = {place: normed(design, norm) for place, norm in places if norm is not None}
        x = sublayer(x, part, residual=design.residual, **norms)
    return x


def equations_error(stack: Blocks, traces: Sequence[BlockTrace], masks: Mapping[str, Any]) -> float:
    """The largest relative error of a block against the equations; infinite where inputs and outputs do not match.

    Both get the same input, so that rounding does not add up over layers. Where a block overflows, the equations
    must overflow, too.
    """
    worst, came_in = 0.0, stack.x
    with torch.inference_mode():
        for layer, trace in enumerate(traces):
            if not torch.equal(trace.x.nan_to_num(), came_in.nan_to_num()):
                return float("inf")
            expected = block_output(stack, layer, trace, masks)
            off = (expected.nan_to_num() - trace.output.nan_to_num()).abs().max()
            worst = max(worst, float(off) / largest(trace.output))
            came_in = trace.output
    return worst
