"""Comparison of maps: by hand, by properties, and the total variation by another formula."""

import numpy as np
import torch
from torch.testing import assert_close

from viz.core.comparison.alignment import align
from viz.core.comparison.maps import change, place_on_slots, row_change

NAN = torch.nan


def maps(*batch: int, n: int, seed: int) -> torch.Tensor:
    return torch.randn(*batch, n, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).softmax(-1)


def two_texts() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return three heads' maps of texts of 5 and 7 tokens, and the slots of both."""
    alignment = align(["a", "b", "c", "d", "e"], ["a", "x", "y", "c", "d", "e", "f"])
    return maps(3, n=5, seed=1), maps(3, n=7, seed=2), alignment.a, alignment.b


def test_row_without_shared_weight_is_skipped():
    a, b = torch.tensor([[0.0, 1.0], [0.5, 0.5]]), torch.tensor([[0.5, NAN], [0.5, NAN]])
    assert_close(row_change(a, b), torch.tensor([NAN, 0.0]), equal_nan=True)
    assert change(a[:1], b[:1]).isnan()


def test_row_change_equals_other_formula_symmetrically():
    """The change lies between 0 and 1, is the same both ways round, and equals another formula."""
    a, b, of_a, of_b = two_texts()
    on_a, on_b = place_on_slots(a, of_a), place_on_slots(b, of_b)
    distances = row_change(on_a, on_b)
    assert_close(distances, row_change(on_b, on_a), equal_nan=True)
    pairs = [(i, j) for i, j in zip(of_a.tolist(), of_b.tolist(), strict=True) if min(i, j) >= 0]
    rows = np.array([i for i, _ in pairs]), np.array([j for _, j in pairs])
    p, q = (text.numpy()[:, at][..., at] for text, at in zip((a, b), rows, strict=True))
    p, q = (text / text.sum(-1, keepdims=True) for text in (p, q))
    shared = (of_a >= 0) & (of_b >= 0)
    assert_close(distances[:, shared].numpy(), 1 - np.minimum(p, q).sum(-1))
    assert_close(change(on_a, on_b).numpy(), (1 - np.minimum(p, q).sum(-1)).mean(-1))
    assert (distances[:, shared] > 0).all() and (distances[:, shared] < 1).all()
    assert (change(on_a, on_a) == 0).all()
