"""Masks of windows and chunks for a long text: some rows at a time, and never all of them at once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from viz.cancellation import check
from viz.core.attention import row_softmax
from viz.core.long.rows import ScoreMod
from viz.imports import importing
from viz.models.attention_interface import INTERFACE

STRIP, FEWEST = 1 << 22, 16
"""Scores of all heads that are there at once while a layer attends, and the fewest rows of a strip."""

_by_rows: ContextVar[bool] = ContextVar("by_rows", default=False)


@dataclass(frozen=True)
class RowMask:
    """A layer's mask as transformers' own function of two places: true where a query may look."""

    of_places: Callable[..., Tensor]

    def __call__(self, at: Tensor, n_keys: int) -> Tensor:
        """Return the rows ``at`` of the mask, (R, n_keys)."""
        nothing = torch.zeros(1, 1, 1, 1, dtype=torch.long)
        rows = self.of_places(nothing, nothing, at[None, None, :, None], torch.arange(n_keys)[None, None, None])
        return rows[0, 0].expand(len(at), n_keys)

    def is_floating_point(self) -> bool:
        """Return False, as a tensor of True and False does: the attention interface asks."""
        return False


@contextmanager
def masks_by_rows() -> Iterator[None]:
    """Inside the ``with`` masks with a window come as a :class:`RowMask`."""
    _install()
    token = _by_rows.set(True)
    try:
        yield
    finally:
        _by_rows.reset(token)


@cache
def _install() -> None:
    with importing():
        from transformers.masking_utils import AttentionMaskInterface

    whole = AttentionMaskInterface()[INTERFACE]

    def mask(*args: Any, **kwargs: Any) -> Any:
        size, padding = kwargs.get("local_size"), kwargs.get("attention_mask")
        if _by_rows.get() and size and padding is None and not kwargs.get("q_offset"):
            return RowMask(kwargs["mask_function"])
        return whole(*args, **kwargs)

    AttentionMaskInterface.register(INTERFACE, mask)


def attend_by_rows(
    q: Tensor, k: Tensor, v: Tensor, *, scale: float, causal: bool, allowed: RowMask | None, score_mod: ScoreMod | None
) -> Tensor:
    """Attend a strip of rows at a time, to the keys that any of them may look at: (1, H, T, d_v).

    ``q``, ``k``, ``v`` are of one text, (1, H, T, d), with as many key and value heads as query heads; the options are
    those of :func:`viz.core.long.rows.weights_of_rows`.
    """
    n, output = q.shape[2], q.new_empty((*q.shape[:3], v.shape[3]))
    height = max(FEWEST, STRIP // (n * q.shape[1]))
    for start in range(0, n, height):
        check()
        at = torch.arange(start, min(n, start + height))
        may = torch.ones(len(at), n, dtype=torch.bool) if allowed is None else allowed(at, n)
        if causal:
            may = may & (torch.arange(n) <= at[:, None])
        inside = may.any(0).nonzero()[:, 0]
        keys = slice(int(inside[0]), int(inside[-1]) + 1)
        rows, may = q[:, :, at], may[:, keys]
        if score_mod is None:
            made = scaled_dot_product_attention(rows, k[:, :, keys], v[:, :, keys], attn_mask=may, scale=scale)
        else:
            scores = score_mod(rows @ k[:, :, keys].transpose(-1, -2) * scale)
            made = row_softmax(scores.masked_fill(~may, -torch.inf)) @ v[:, :, keys]
        output[:, :, at] = made
    return output
