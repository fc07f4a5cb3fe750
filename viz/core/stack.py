"""Blocks upon blocks: each reads what the last one handed on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from jaxtyping import Float
from torch import Tensor

from viz.core.block import BlockTrace, BlockWeights, decoder_block, encoder_block

Ways = Mapping[str, Any]
"""A layer's own ``attention`` (and ``cross``)."""


def stack_parameters(weights: Iterable[BlockWeights]) -> int:
    """Numbers learned by a stack: weights that several layers share (the same object) are counted once."""
    return sum(block.n_parameters() for block in {id(block): block for block in weights}.values())


def stack(
    x: Float[Tensor, "*B T d_model"],
    weights: Sequence[BlockWeights],
    *,
    memory: Float[Tensor, "*B K d_mem"] | None = None,
    attentions: Sequence[Ways] | None = None,
    **options: Any,
) -> tuple[BlockTrace, ...]:
    """Run one block after the other, each on what the last one handed on.

    Layers that share their weights (ALBERT, Lan et al. 2020) are the same object several times.

    Args:
        x: the tokens.
        weights: one block's for each layer.
        memory: what decoder blocks read; None makes encoder blocks of them all.
        attentions: for each layer its own ``attention`` (and ``cross``), where a model's layers differ in them.
        options: for every layer, as in :func:`~viz.core.block.encoder_block` and :func:`~viz.core.block.decoder_block`.

    Example:
        >>> import torch
        >>> from viz.core.spec import AttentionSpec
        >>> shared = BlockWeights.random(AttentionSpec(d_model=4, n_heads=2), 8, seed=0)
        >>> layers = stack(torch.eye(4), [shared] * 3)
        >>> len(layers), torch.equal(layers[1].x, layers[0].output), stack_parameters([shared] * 3)
        (3, True, 144)
    """
    return tuple(one_by_one(x, weights, memory, attentions, **options))


def one_by_one(
    x: Tensor, weights: Iterable[BlockWeights], memory: Tensor | None, attentions: Iterable[Ways] | None, **options: Any
) -> Iterator[BlockTrace]:
    """Yield the layers of :func:`stack` one at a time, so that each can be freed before the next."""
    for block, ways in zip(weights, repeat({}) if attentions is None else attentions, strict=attentions is not None):
        run = encoder_block if memory is None else partial(decoder_block, memory=memory)
        trace = run(x, weights=block, **ways, **options)
        x = trace.output
        yield trace
        # Otherwise it stays in memory while the next one is computed.
        del trace
