"""A cache of fixed length: a layer with a window keeps the keys and values of the last tokens, and drops the oldest."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import ScoreMod
from viz.core.variants.kv_sharing import decode_step


@dataclass(frozen=True, kw_only=True)
class RollingTrace:
    """The outputs of a text decoded behind a window, (H, T, d_v), and the keys and values left in the cache."""

    output: Float[Tensor, "H T d_v"]
    keys: Float[Tensor, "G w d_k"]
    values: Float[Tensor, "G w d_v"]


def decode_in_window(
    q: Float[Tensor, "H T d_k"],
    k: Float[Tensor, "G T d_k"],
    v: Float[Tensor, "G T d_v"],
    *,
    size: int,
    bias: Float[Tensor, "*A T T"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
    sink: Float[Tensor, " H"] | None = None,
) -> RollingTrace:
    r"""Attend as a decoder with a window writes: a new key and value come in, and beyond ``size`` the oldest go out.

    .. math:: z_t = \operatorname{softmax}(q_t\, [k_{t-w+1}; \dots; k_t]^\top / \sqrt{d_k})\, [v_{t-w+1}; \dots; v_t]

    The cache never holds more than ``size`` tokens (the rolling buffer of Jiang et al. 2023, sec. 2). The result is
    that of the mask :func:`~viz.core.masks.look_back` on the whole text. Standard where ``size`` is at least T:
    :func:`~viz.core.variants.decoding.decode`.

    The cache holds at most ``size`` tokens, the newest included; the options are those of
    :func:`~viz.core.attention.attend`.

    Raises:
        ValueError: if ``size`` is below 1.

    Example:
        >>> one = torch.ones(1, 3, 1)
        >>> trace = decode_in_window(one, one, torch.tensor([[[0.0], [1.0], [5.0]]]), size=2)
        >>> trace.output.flatten(), trace.values.flatten()
        (tensor([0.0000, 0.5000, 3.0000]), tensor([1., 5.]))
    """
    if size < 1:
        raise ValueError(f"size={size} must be at least 1")
    n_heads, n_tokens, _ = q.shape
    keys, values, rows = k[:, :0], v[:, :0], []
    for t in range(n_tokens):
        keys = torch.cat([keys, k[:, t : t + 1]], 1)[:, -size:]
        values = torch.cat([values, v[:, t : t + 1]], 1)[:, -size:]
        row_bias = None if bias is None else bias[..., t, t + 1 - keys.shape[1] : t + 1].expand(n_heads, -1)
        rows.append(decode_step(q[:, t], keys, values, bias=row_bias, scale=scale, score_mod=score_mod, sink=sink))
    return RollingTrace(output=torch.stack(rows, 1), keys=keys, values=values)


def cached_tokens(n_read: int, n_tokens: int, full: Sequence[bool], *, size: int) -> Bool[Tensor, "L T"]:
    """Tell for each layer which tokens of a text its cache holds, after ``n_read`` of them.

    A full layer holds all that were read, a layer with a window the last ``size`` of them.

    Example:
        >>> cached_tokens(3, 4, (False, True), size=1).int()
        tensor([[0, 0, 1, 0],
                [1, 1, 1, 0]], dtype=torch.int32)
    """
    tokens = torch.arange(n_tokens)
    is_read = tokens < n_read
    return torch.stack([is_read if is_full else is_read & (tokens >= n_read - size) for is_full in full])
