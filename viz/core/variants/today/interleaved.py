"""Stacks whose layers differ: most look back a little, some look back to the beginning."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

from viz.core.masks import causal, chunks, look_back

Near = Literal["window", "chunks"]
"""Masks of the layers that look back a little."""


PERIODS = {"five": 6, "three": 4, "one": 2, "full": 1, "none": 0}
"""Layers from one full layer to the next, by the name of the pattern; 0 for none."""


def full_layers(n_layers: int, *, period: int, starts_full: bool = False) -> tuple[bool, ...]:
    """Say for each layer if it is one of the few that look at the whole text: the last of each ``period``.

    A period of 6 is "5:1" (Gemma 3), 4 is "3:1" (Cohere 2, OLMo 3, EXAONE 4, Llama 4), 2 is "1:1" (gpt-oss), 1 makes
    every layer full, 0 none. With ``starts_full`` it is the first of each period (ModernBERT, 3). Layers without
    positions (Llama 4, SmolLM3) follow the same pattern.

    Raises:
        ValueError: if there are no layers, or the period is negative.

    Example:
        >>> full_layers(5, period=2), full_layers(5, period=3, starts_full=True)
        ((False, True, False, True, False), (True, False, False, True, False))
    """
    for name, number, least in (("n_layers", n_layers, 1), ("period", period, 0)):
        if number < least:
            raise ValueError(f"{name}={number} must be at least {least}")
    place = 0 if starts_full else period - 1
    return tuple(bool(period) and layer % period == place for layer in range(n_layers))


def interleaved_masks(
    n_tokens: int, full: Sequence[bool], *, size: int, near: Near = "window"
) -> Bool[Tensor, "L T T"]:
    """Make the mask of every layer: causal where it is full, else a window or chunks of ``size`` tokens.

    Standard where ``size`` is at least ``n_tokens``: every layer is causal.

    Example:
        >>> interleaved_masks(3, (False, True), size=1).sum(-1)
        tensor([[1, 1, 1],
                [1, 2, 3]])
    """
    masks = {"window": look_back, "chunks": chunks}
    local, causal_mask = masks[near](n_tokens, n_tokens, size), causal(n_tokens, n_tokens)
    return torch.stack([causal_mask if is_full else local for is_full in full])


def earliest_token(query: int, full: Sequence[bool], *, size: int, near: Near = "window") -> int:
    r"""Return the earliest token that can have a say in what a stack makes of token ``query``.

    .. math:: i - L (w - 1) \text{ behind windows}, \qquad w \lfloor i / w \rfloor \text{ in chunks}

    at least 0; and 0 as soon as a single layer is full. A window reaches further with each layer, a chunk never does.
    The rule of :func:`viz.core.analysis.receptive_field.cone` for these masks.

    Example:
        >>> earliest_token(100, [False] * 5, size=8), earliest_token(100, [False] * 5, size=8, near="chunks")
        (65, 96)
    """
    if any(full):
        return 0
    return query // size * size if near == "chunks" else max(0, query - len(full) * (size - 1))
