"""Masks as a link names them: each is the core's, on any numbers of queries and keys."""

import pytest
import torch

from viz.core import masks
from viz.frame import specs
from viz.frame.mask_code import to_code

HAND = torch.arange(25).view(5, 5) % 3 == 0


@pytest.mark.parametrize(("n_queries", "n_keys"), [(7, 7), (3, 7), (7, 3), (1, 1)])
def test_kinds_equal_the_cores(n_queries, n_keys):
    sizes = n_queries, n_keys
    real = (torch.arange(n_keys) < n_keys - 2).expand(n_queries, -1)
    padded = (torch.arange(n_keys) >= min(2, n_keys)).expand(n_queries, -1)
    full = torch.ones(sizes).bool()
    full[:5, :5] = HAND[:n_queries, :n_keys]
    expected = {
        ("own",): None, ("causal",): masks.causal(*sizes), ("padding",): real, ("padding", "left"): padded,
        ("both",): masks.causal(*sizes) & real, ("both", "left"): masks.causal(*sizes) & padded,
        ("window",): masks.window(*sizes, 2), ("dilated",): masks.dilated(*sizes, 2, 3),
        ("prefix",): masks.prefix(*sizes, min(2, n_keys)), ("painted",): full,
        ("blocks",): masks.blocks(*sizes, 2),
    }  # fmt: skip
    assert {kind for kind, *_ in expected} == set(specs.MASKS)
    for (kind, *side), expected_mask in expected.items():
        mask = specs.Mask(kind=kind, width=2, gap=3, pad=2, pad_left=bool(side), painted=to_code(HAND))
        actual = mask.allowed(*sizes)
        assert actual is None if expected_mask is None else torch.equal(actual, expected_mask), (kind, side)


def test_nothing_painted_blocks_nothing():
    assert specs.Mask(kind="painted").allowed(3, 5) is None
