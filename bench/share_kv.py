"""One code path for every G, beside attention that keeps its weights, written by hand for that G."""

import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.testing import assert_close

from bench.table import Row
from viz.core.variants.kv_sharing import attend_shared

H, D_K, GOAL = 32, 64, 1.15
Attention = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def mha(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """G = H: nothing is shared."""
    weights = torch.softmax(q @ k.mT * D_K**-0.5, -1)
    return weights @ v, weights


def gqa(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """1 < G < H: keys and values are repeated for their group, as transformers' ``repeat_kv`` does."""
    n = len(q) // len(k)
    k, v = (x[:, None].expand(-1, n, -1, -1).reshape(len(q), *x.shape[1:]) for x in (k, v))
    return mha(q, k, v)


def mqa(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """G = 1: one set of keys and values for all, broadcast."""
    return mha(q, k[0], v[0])


def _in_turn(ours: Callable[[], object], theirs: Callable[[], object], seconds: float = 4.0) -> tuple[float, float]:
    """The shortest times in ms: a millisecond is easily doubled by other work, which only ever adds."""
    times: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 9:
        for run, samples in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            run()
            samples.append((time.perf_counter() - start) * 1000)
    return min(times[0]), min(times[1])


def sharing() -> Iterator[Row]:
    """``attend_shared``, which keeps every step, beside the shortest way to write each G."""
    generator = torch.Generator().manual_seed(0)
    for n in (128, 512):
        for n_kv_heads, by_hand in ((32, mha), (8, gqa), (1, mqa)):
            q, k, v = (torch.randn(heads, n, D_K, generator=generator) for heads in (H, n_kv_heads, n_kv_heads))

            def ours(q: Tensor = q, k: Tensor = k, v: Tensor = v) -> object:
                return attend_shared(q, k, v)

            def theirs(q: Tensor = q, k: Tensor = k, v: Tensor = v, by_hand: Attention = by_hand) -> object:
                return by_hand(q, k, v)

            with torch.inference_mode():
                assert_close(attend_shared(q, k, v).output, by_hand(q, k, v)[0], atol=1e-5, rtol=1e-4)
                mine, reference_ms = _in_turn(ours, theirs)
            what = f"attend_shared / by hand, H = {H}, G = {n_kv_heads}, n = {n}, shortest"
            yield Row(what=what, ours=mine, theirs=reference_ms, goal=GOAL)


SECTIONS = (sharing,)
