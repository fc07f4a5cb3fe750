"""Counts of one layer against hand values, the tensors, and torch's own counter."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from viz.core.cost.attention import (
    attention_flops,
    kv_cache_bytes,
    parameters,
    shortest,
    softmax_exponentials,
    streaming_numbers,
)
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec

CLASSIC = AttentionSpec(d_model=512, n_heads=8)
ODD = AttentionSpec(d_model=7, n_heads=6, n_kv_heads=2, d_head=5, d_value=3, d_memory=11, d_output=13)


def test_parameters_are_the_tensors_numel():
    weights = HeadWeights.random(ODD, seed=0)
    counts = parameters(ODD, bias=True)
    for name in ("w_q", "w_k", "w_v", "w_o"):
        assert counts.parts()[name] == getattr(weights, name).numel()
    biases = {name: torch.zeros(getattr(weights, f"w_{name[-1]}").shape[1]) for name in ("b_q", "b_k", "b_v", "b_o")}
    assert counts.biases == sum(bias.numel() for bias in biases.values())
    with_biases = HeadWeights(**(vars(weights) | biases))
    assert counts.total == with_biases.n_parameters()


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8, 16, 64, 512])
def test_golden_flops_independent_of_heads(n_heads):
    spec = AttentionSpec(d_model=512, n_heads=n_heads)
    flops = attention_flops(spec, n_queries=10, n_keys=10)
    assert flops.q == flops.k == flops.v == flops.output == 2 * 2_621_440
    assert flops.scores == flops.mixing == 2 * 51_200
    assert (flops.multiply_adds, flops.total) == (10_588_160, 21_176_320)
    assert attention_flops(spec, n_queries=1000, n_keys=1000).multiply_adds == 2_072_576_000
    assert parameters(spec).total == 1_048_576
    assert softmax_exponentials(spec, n_queries=10, n_keys=10) == 100 * n_heads


def test_total_equals_torch_counter():
    x, memory = torch.randn(5, 7), torch.randn(3, 11)
    weights = HeadWeights.random(ODD, seed=0)
    with FlopCounterMode(display=False) as counter:
        multi_head(x, memory, weights)
    assert counter.get_total_flops() == attention_flops(ODD, n_queries=5, n_keys=3).total


def test_fewer_pairs_save_only_pairs():
    full, half = (attention_flops(ODD, n_queries=5, n_keys=5, n_pairs=pairs) for pairs in (25, 15))
    assert (full.q, full.k, full.v, full.output) == (half.q, half.k, half.v, half.output)
    assert half.scores == 2 * 15 * ODD.H * ODD.d_k


def test_streaming_softmax_stores_one_line():
    """A streaming softmax stores numbers in proportion to N, where the weights take N²."""
    small = streaming_numbers(CLASSIC, n_queries=10, n_keys=10)
    assert small == 8 * (20 + 100), "a text shorter than a tile is one tile"
    at = {n: streaming_numbers(CLASSIC, n_queries=n, n_keys=n) for n in (4096, 8192)}
    assert at[8192] - at[4096] == 8 * 2 * 4096


def test_cache_is_bytes_of_kv():
    k, v = torch.zeros(7, ODD.G, 5, ODD.d_k, dtype=torch.half), torch.zeros(7, ODD.G, 5, ODD.d_v, dtype=torch.half)
    assert kv_cache_bytes(ODD, n_tokens=5, n_layers=1, batch=7) == k.nbytes + v.nbytes


@pytest.mark.parametrize("size", ["n_queries", "n_keys"])
def test_zero_tokens_raise_value_error(size):
    sizes = {"n_queries": 5, "n_keys": 3} | {size: 0}
    for count in (attention_flops, softmax_exponentials, streaming_numbers):
        with pytest.raises(ValueError, match=rf"^{size}=0 must be at least 1$"):
            count(CLASSIC, **sizes)
    with pytest.raises(ValueError, match=r"^n_layers=-1 must be at least 1$"):
        kv_cache_bytes(CLASSIC, n_tokens=1, n_layers=-1)


@pytest.mark.parametrize("first", [1, 2, 3, 64, 65, 2**61 + 7])
def test_shortest_finds_the_first(first):
    assert shortest(lambda n: n >= first) == first


def test_shortest_gives_up():
    assert shortest(lambda _: False) is None
