"""What a result is taken to hold."""

from dataclasses import dataclass

import torch

from viz.scheduler.sizes import size_of


@dataclass(frozen=True)
class Two:
    name: str
    values: tuple


@dataclass(frozen=True)
class Hidden:
    name: str
    held_bytes: int = 10_007


def test_a_size_counts_every_storage_once_and_says_where_it_lies():
    weights, own = torch.zeros(7, 11), torch.zeros(13)
    storages = {}
    plain = size_of(Two(name="ab", values=(weights.T, own, own[:5], {"k": b"12345"})), storages)
    assert storages == {weights.data_ptr(): 4 * 7 * 11, own.data_ptr(): 4 * 13}
    assert 4 * 3 + 5 <= plain < 250
    storages.clear()
    size_of(torch.nn.Linear(3, 5), storages)
    assert sum(storages.values()) == 4 * (15 + 5)


def test_what_a_result_says_it_holds_beside_is_counted():
    assert 10_007 < size_of((Hidden(name="ab"),), {}) < 10_007 + 100
