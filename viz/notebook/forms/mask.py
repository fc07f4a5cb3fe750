"""Masks beside token ids: of padding, with a number for each token, or of attention, with one for each pair."""

import torch
from torch import Tensor


def check_mask(mask: Tensor, n: int) -> None:
    """Refuse a mask that does not fit the tokens.

    Args:
        mask: (1, n), or with an axis for queries and one for keys.
        n: tokens of the text.

    Raises:
        ValueError: a sentence on what a mask has.
    """
    size = " × ".join(map(str, mask.shape))
    if mask.dim() == 2 and mask.shape != (1, n):
        raise ValueError(
            f"The attention_mask is {size}, and the token ids are 1 × {n}: it has a number for each of them."
        )
    if mask.dim() == 2 and not bool(((mask == 0) | (mask == 1)).all()):
        other_value = mask[(mask != 0) & (mask != 1)][0].item()
        raise ValueError(
            f"The attention_mask is {size} and holds {other_value}: a mask of padding has 1 for each token and 0 for "
            f"padding. What is added to scores has an axis for queries and one for keys, 1 × 1 × {n} × {n}."
        )
    if mask.dim() > 4 or (mask.dim() > 2 and mask.shape[-1] != n):
        raise ValueError(
            f"The attention_mask is {size}, and the token ids are 1 × {n}: a mask of attention is 1 × 1 × {n} × {n}."
        )


def as_added(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a mask of attention, (1, heads or 1, queries, keys), as numbers that are added to scores.

    Truth values, and whole numbers in their place, say where a token may look; eager attention would add them.
    """
    mask = mask[:, None] if mask.dim() == 3 else mask
    if mask.is_floating_point():
        return mask
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(mask == 0, torch.finfo(dtype).min)
