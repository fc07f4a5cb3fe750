"""The table: counts by loops, paths by spreading from word to word, the crossings."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from viz.core import masks
from viz.core.cost.architectures import (
    ARCHITECTURES,
    Sizes,
    convolution,
    crossing,
    find_architecture,
    gru,
    lstm,
    recurrence,
    self_attention,
    window_pairs,
    windowed_attention,
)


def count_layers_by_spreading(reaches, distance):
    """Return the layers until a word is reached, trying every position that a layer reads."""
    reachable, layers = {0}, 0
    while distance not in reachable:
        reachable |= {place + reach for place in reachable for reach in reaches(layers)}
        layers += 1
    return layers


@pytest.mark.parametrize("k", [3, 5, 7])
@pytest.mark.parametrize("distance", [0, 1, 2, 5, 6, 8, 9, 24, 26, 27])
def test_paths_equal_spreading(k, distance):
    s, both_sides = Sizes(n=29, d=1, k=k), range(-(k // 2), k // 2 + 1)
    for name in ("window", "convolution"):
        assert find_architecture(name).steps(s, distance) == count_layers_by_spreading(lambda _: both_sides, distance)
    gaps = count_layers_by_spreading(lambda layer: [tap * k**layer for tap in range(k)], distance)
    assert find_architecture("dilated").steps(s, distance) == gaps
    assert find_architecture("recurrence").steps(s, distance) == count_layers_by_spreading(lambda _: [0, 1], distance)
    assert find_architecture("self_attention").steps(s, distance) == count_layers_by_spreading(
        lambda _: range(-28, 29), distance
    )


@pytest.mark.parametrize("name", ["window", "convolution", "dilated"])
def test_kernel_of_one_has_no_path(name):
    architecture = find_architecture(name)
    assert architecture.longest_path(Sizes(n=5, d=1, k=1)) is None
    assert architecture.longest_path(Sizes(n=1, d=1, k=1)) == 0


@pytest.mark.parametrize(("n", "reach"), [(1, 0), (1, 3), (7, 0), (7, 2), (7, 6), (7, 7), (7, 50)])
def test_pairs_in_window_equal_mask(n, reach):
    assert window_pairs(n, reach) == int(masks.window(n, n, reach).sum())


def test_text_wide_window_is_full_attention():
    s = Sizes(n=7, d=6, k=13, h=2)
    assert windowed_attention(s) == self_attention(s)


def test_convolution_by_torch():
    n, d, k = 7, 5, 3
    with FlopCounterMode(display=False) as counter:
        nn.Conv1d(d, d, k, padding=k // 2, device="meta")(torch.empty(1, d, n, device="meta"))
    assert convolution(Sizes(n=n, d=d, k=k)) == {"kernel": counter.get_total_flops() // 2}


@pytest.mark.parametrize(
    ("count_parts", "layer"), [(gru, nn.GRU), (lstm, nn.LSTM), (recurrence, nn.RNN)], ids=["gru", "lstm", "rnn"]
)
def test_recurrences_by_torch(count_parts, layer):
    n, d = 7, 5
    module = layer(d, d, batch_first=True, device="meta")
    with FlopCounterMode(display=False) as counter:
        module(torch.empty(1, n, d, device="meta"))
    assert counter.get_total_flops() == 2 * sum(count_parts(Sizes(n=n, d=d)).values())
    matrices = sum(weight.numel() for weight in module.parameters() if weight.dim() == 2)
    assert sum(count_parts(Sizes(n=n, d=d)).values()) == n * matrices, "every weight is used once for every word"


@pytest.mark.parametrize("d", [1, 31, 512])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_crossings_of_the_table(d, k):
    order = {architecture.name: architecture.order for architecture in ARCHITECTURES}
    assert crossing(order["self_attention"], order["recurrence"], Sizes(n=1, d=d)) == d
    assert crossing(order["self_attention"], order["convolution"], Sizes(n=1, d=d, k=k)) == k * d


def test_crossings_of_the_exact_counts():
    count = find_architecture("self_attention").count
    at = Sizes(n=1, d=512, k=7, h=8)
    assert crossing(count, find_architecture("recurrence").count, at) == 1, (
        "4nd² is more than 2nd² from the first word on"
    )
    assert crossing(count, lambda s: sum(gru(s).values()), at) == 512
    assert crossing(count, lambda s: sum(lstm(s).values()), at) == 1024
    assert crossing(count, find_architecture("convolution").count, at) == (7 - 4) * 512 // 2
    assert crossing(find_architecture("window").count, find_architecture("convolution").count, at) is None, (
        "4nd² + 2knd stays below 7nd²"
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda one: one.name)
def test_counts_grow_like_their_order(architecture):
    """At very large sizes only the leading term counts: doubling n, with the window fixed, or d."""
    n = 10**9
    at = Sizes(n=n, d=8, k=3)
    power = 2 if architecture.name == "self_attention" else 1
    assert architecture.count(Sizes(n=2 * n, d=8, k=3)) / architecture.count(at) == pytest.approx(2**power, rel=1e-6)
    assert architecture.order(Sizes(n=2 * n, d=8, k=3)) / architecture.order(at) == 2**power
    assert architecture.longest_path(at) is not None
    assert architecture.waits(at) == (n if architecture.name == "recurrence" else 1)


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"n": 0, "d": 4}, "n=0 must be at least 1"),
        ({"n": 4, "d": -3}, "d=-3 must be at least 1"),
        ({"n": 4, "d": 4, "k": 2}, "k=2 must be odd: an even kernel has no middle"),
        ({"n": 4, "d": 30, "h": 8}, "d=30 is not a multiple of h=8"),
    ],
)
def test_impossible_sizes_raise_value_error(sizes, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Sizes(**sizes)
