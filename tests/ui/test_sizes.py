"""What a result is taken to hold."""

from dataclasses import dataclass

import torch

from viz.ui.sizes import size_of


@dataclass(frozen=True)
class Two:
    name: str
    values: tuple


def test_a_size_counts_every_storage_once_and_not_what_lies_elsewhere():
    weights, own = torch.zeros(7, 11), torch.zeros(13)
    value = Two(name="ab", values=(weights.T, own, own[:5], {"k": b"12345"}))
    plain = size_of(value, set())
    assert size_of(Two(name="", values=()), set()) < 100
    assert plain - size_of(value, {weights.data_ptr()}) == 4 * 7 * 11
    assert 4 * (77 + 13) + 4 * 3 + 5 <= plain < 4 * (77 + 13) + 250
    assert size_of(torch.nn.Linear(3, 5), set()) >= 4 * (15 + 5)
