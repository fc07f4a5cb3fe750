"""Weights in few bits, made float32 again: 32 of them share a scale (github.com/ggml-org/ggml, ggml-quants.c)."""

import torch
from torch import Tensor


def _blocks(data: Tensor, n_numbers: int, n_bytes: int) -> tuple[Tensor, Tensor]:
    """The float16 numbers at the head of each block, (blocks, n_numbers), and the bytes behind them."""
    blocks = data.view(torch.uint8).view(-1, 2 * n_numbers + n_bytes)
    return blocks[:, : 2 * n_numbers].contiguous().view(torch.float16).float(), blocks[:, 2 * n_numbers :]


def _nibbles(codes: Tensor, scale: Tensor, less: int = 0) -> Tensor:
    """Byte j of a block holds weight j in its low four bits and weight j + 16 in its high ones; (blocks, 32)."""
    weights = torch.empty(len(codes), 32)
    weights[:, :16], weights[:, 16:] = codes & 15, codes >> 4
    return (weights.sub_(less) if less else weights).mul_(scale)


def q4_0(data: Tensor) -> Tensor:
    """Blocks of a scale d and 16 bytes: a weight is (q - 8) d.

    Example:
        >>> block = torch.tensor([0.5], dtype=torch.float16).view(torch.uint8).tolist() + [0x9A] + 15 * [0x88]
        >>> q4_0(torch.tensor(block, dtype=torch.uint8))[[0, 1, 16]]
        tensor([1.0000, 0.0000, 0.5000])
    """
    scale, codes = _blocks(data, 1, 16)
    return _nibbles(codes, scale, 8).flatten()


def q4_1(data: Tensor) -> Tensor:
    """Blocks of a scale d, a least weight m and 16 bytes: a weight is q d + m."""
    numbers, codes = _blocks(data, 2, 16)
    return _nibbles(codes, numbers[:, :1]).add_(numbers[:, 1:]).flatten()


def q8_0(data: Tensor) -> Tensor:
    """Blocks of a scale d and 32 signed bytes: a weight is q d."""
    scale, codes = _blocks(data, 1, 32)
    return (codes.view(torch.int8) * scale).flatten()
