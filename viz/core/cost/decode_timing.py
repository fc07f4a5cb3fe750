"""Time of one step of decoding on this machine, for each number of key/value heads."""

import time
from dataclasses import dataclass

import torch

from viz.core.cost.attention import at_least_one, kv_cache_bytes
from viz.core.spec import AttentionSpec
from viz.core.variants.kv_sharing import decode_step

BYTES = 4
"""Bytes of a float32: half precision is slow on most CPUs."""

SETTLE_SECONDS, REPEATS = 0.25, 5
"""A step is repeated for a quarter of a second and at least 5 times; the shortest counts: other work only ever adds."""


@dataclass(frozen=True, kw_only=True)
class DecodePlan:
    """One layer in the middle of a text: ``n_heads`` query heads of width ``d_head``, ``n_tokens`` in the cache.

    Raises:
        ValueError: if a size is below 1.
    """

    n_heads: int = 32
    d_head: int = 128
    n_tokens: int = 4096

    def __post_init__(self) -> None:
        at_least_one(n_heads=self.n_heads, d_head=self.d_head, n_tokens=self.n_tokens)

    def cache_bytes(self, n_kv_heads: int) -> int:
        """Bytes one step reads: every key and value of the layer's cache, once."""
        spec = AttentionSpec(
            d_model=self.n_heads * self.d_head, n_heads=self.n_heads, n_kv_heads=n_kv_heads, d_head=self.d_head
        )
        return kv_cache_bytes(spec, n_tokens=self.n_tokens, n_layers=1, bytes_per_value=BYTES)


def decode_seconds(plan: DecodePlan, n_kv_heads: int) -> float:
    """Time :func:`~viz.core.variants.kv_sharing.decode_step`: one new token asks the whole cache.

    Raises:
        ValueError: if the plan's heads are not a multiple of ``n_kv_heads``.
    """
    plan.cache_bytes(n_kv_heads)  # refuses what cannot be shared
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(plan.n_heads, plan.d_head, generator=generator)
    keys, values = (torch.randn(n_kv_heads, plan.n_tokens, plan.d_head, generator=generator) for _ in "kv")
    durations: list[float] = []
    with torch.inference_mode():
        decode_step(q, keys, values)  # the first time, buffers are made
        while len(durations) < REPEATS or sum(durations) < SETTLE_SECONDS:
            start = time.perf_counter()
            decode_step(q, keys, values)
            durations.append(time.perf_counter() - start)
    return min(durations)
