"""Tests of the size of a result."""

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


def test_size_counts_each_storage_once():
    weights, bias = torch.zeros(7, 11), torch.zeros(13)
    storages = {}
    plain = size_of(Two(name="ab", values=(weights.T, bias, bias[:5], {"k": b"12345"})), storages)
    assert storages == {weights.data_ptr(): 4 * 7 * 11, bias.data_ptr(): 4 * 13}
    assert 4 * 3 + 5 <= plain < 250
    storages.clear()
    size_of(torch.nn.Linear(3, 5), storages)
    assert sum(storages.values()) == 4 * (15 + 5)


def test_size_includes_held_bytes():
    assert 10_007 < size_of((Hidden(name="ab"),), {}) < 10_007 + 100
