"""The attentions that ``generate()`` keeps, a tuple of layers for each step, put together to whole maps."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def shape_of(layers: Any) -> tuple[int, int] | None:
    """Return (queries, keys) of the first layer that has weights; None if there is none."""
    is_list = isinstance(layers, tuple | list)
    layer_with_map = next((layer for layer in layers if layer is not None), None) if is_list else None
    shape = tuple(getattr(layer_with_map, "shape", ()))
    return (shape[-2], shape[-1]) if len(shape) >= 2 else None


def are_steps(parts: Sequence[Any]) -> bool:
    """True if parts are the steps of one growing text: as many layers each, and rows where the last ones ended.

    A step without a cache has all rows again. Keys are all tokens so far; of a step of one token, as many as the cache
    keeps (a window) or has room for.
    """
    sizes = [size for part in parts if (size := shape_of(part))]
    if not parts or len(sizes) < len(parts) or len({len(part) for part in parts}) != 1:
        return False
    total, first_keys = sizes[0]
    if first_keys < total:
        return False
    if all(rows == columns == total + i for i, (rows, columns) in enumerate(sizes)):
        return True
    for rows, columns in sizes[1:]:
        total += rows
        if columns != total and (rows != 1 or columns < 2):
            return False
    return True


def join_steps(steps: Sequence[Any]) -> tuple[Any, ...]:
    """Return one map (1, H, T, T) a layer of a text that grew step by step."""
    if _have_all_rows(steps):
        return tuple(steps[-1])
    for number, step in enumerate(steps[1:], 1):
        _check_own_key(step, sum(rows for rows, _ in map(_size, steps[: number + 1])))
    return tuple(_grown([step[i] for step in steps]) for i in range(len(steps[0])))


def join_rows(steps: Sequence[Any]) -> tuple[Any, ...]:
    """Return one map (1, H, T, K) a layer of cross-attention, whose keys stay the same from step to step."""
    if _have_all_rows(steps):
        return tuple(steps[-1])
    return tuple(torch.cat([_one_text(step[i]) for step in steps], -2) for i in range(len(steps[0])))


def _have_all_rows(steps: Sequence[Any]) -> bool:
    """True if each step has one row more than the last, as without a cache: the last has them all."""
    rows = [rows for rows, _ in map(_size, steps)]
    return len(rows) > 1 and rows == list(range(rows[0], rows[0] + len(rows)))


def _check_own_key(step: Any, end: int) -> None:
    """Refuse a step whose last row gives nothing to its own token in any head of a layer: its keys may be others.

    transformers 5.23 cuts the first steps of assisted generation out of the rows of the prompt, and where tokens were
    guessed, a window's keys go on behind the token. A row with all keys so far and gaps between those with weight is
    its token's: its model chooses the keys, and may leave the token itself out.
    """
    for number, layer in enumerate(step):
        block = None if layer is None else torch.as_tensor(layer)
        if block is None or end < 2:
            continue
        has_weight = (block[..., -1, :end] != 0).flatten(0, -2).any(0)
        places = has_weight.nonzero().flatten()
        has_gaps = len(places) > 0 and int(places[-1] - places[0]) >= len(places)
        if not bool(has_weight[-1]) and not (has_gaps and block.shape[-1] >= end):
            raise ValueError(
                f"The step that read token {end} gives it no weight in any head of layer {number}, so where the keys "
                "of this step stand in the text cannot be known: they are so where tokens were guessed ahead (an "
                "assistant, prompt lookup), or where a model chooses its keys. Let the model read what was written, in "
                "one pass: viz.show(model, tokenizer, sequences[0])."
            )


def _size(step: Any) -> tuple[int, int]:
    return shape_of(step) or (0, 1)


def _one_text(layer: Any) -> Tensor:
    """A layer's weights, (1, H, rows, keys).

    Raises:
        ValueError: if they are of several texts.
    """
    weights = torch.as_tensor(layer)
    if weights.dim() == 4 and len(weights) != 1:
        raise ValueError(
            f"generate() kept the attentions of {len(weights)} texts or beams at once: "
            "let it write one text, with num_beams=1 and num_return_sequences=1."
        )
    return weights


def _grown(blocks: Sequence[Any]) -> Tensor | None:
    """A layer's blocks of rows below each other, each with as many columns as there are tokens in the end.

    Zeros behind the last token are a cache's room for tokens to come; a window keeps the last keys.
    """
    if all(block is None for block in blocks):
        return None
    blocks = [_one_text(block) for block in blocks]
    total, end = sum(block.shape[-2] for block in blocks), 0
    grown_map = blocks[0].new_zeros((*blocks[0].shape[:-2], total, total))
    for block in blocks:
        start, end = end, end + block.shape[-2]
        if bool((block[..., end:] != 0).any()):
            raise ValueError(
                f"A step has weights on {block.shape[-1]} keys, and its rows and those of the steps before are {end}: "
                "a part of the text was read before these steps, or they are of cross-attention alone. Hand over all "
                "that generate() gave, or let the model read the text: viz.show(model, tokenizer, sequences[0])."
            )
        keys = min(block.shape[-1], end)
        grown_map[..., start:end, end - keys : end] = block[..., :keys]
    return grown_map
