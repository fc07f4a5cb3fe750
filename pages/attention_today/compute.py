"""Cached results of the page: the heads of small decoders before their training, and the stream of a text."""

import torch
from torch import Tensor

from viz.frame.compute import cached
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.compute.blocks import first_stack
from viz.frame.specs import Source
from viz.models.trained.today.train import RECIPE, Heads, build, measure_heads


@cached
def untrained_heads(variant: str, seed: int) -> Heads:
    """Build a decoder as its training begins, and measure its heads as they were measured then."""
    return measure_heads(build(variant, RECIPE, seed=seed).eval(), RECIPE)


@cached
def stream(source: Source) -> Tensor:
    """Return a text's residual stream in front of each layer and at the end, (L + 1, T, d_model); of six seeded layers.

    Raises:
        ModelError: "block", if it is not known how this model's blocks are put together.
    """
    stacked = first_stack(source, BlockPlan(layers=() if source.kind == "model" else tuple(range(6))))
    return torch.stack([stacked.x, *stacked.outputs()])


def stream_error(source: Source) -> float:
    """Return the largest difference of a model's stream from its own hidden states, as a share of their size."""
    stacked = first_stack(source, BlockPlan())
    off = max(stacked.state_off(layer, output) for layer, output in enumerate(stream(source)[1:]))
    return off / max(1.0, *(float(state.abs().max()) for state in stacked.states))
