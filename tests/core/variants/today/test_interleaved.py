"""Stacks of unlike layers: their patterns as published, and their reach by spreading from layer to layer."""

import pytest
import torch

from viz.core.analysis.receptive_field import cone
from viz.core.masks import causal
from viz.core.variants.today.interleaved import earliest_token, full_layers, interleaved_masks

T = 23


def test_published_patterns():
    """5:1, 3:1 and 1:1 end their period with a full layer; ModernBERT begins with it."""
    assert [i for i, full in enumerate(full_layers(26, period=6)) if full] == [5, 11, 17, 23]
    assert [i for i, full in enumerate(full_layers(13, period=4)) if full] == [3, 7, 11]
    assert full_layers(5, period=2) == (False, True, False, True, False)
    assert [i for i, full in enumerate(full_layers(22, period=3, starts_full=True)) if full] == [*range(0, 22, 3)]
    assert all(full_layers(7, period=1))


def test_masks_follow_the_pattern():
    """Full layers are causal, the others windows or chunks; as wide as the text all are causal."""
    full = (False, True, False)
    window, chunk = (interleaved_masks(T, full, size=5, near=near) for near in ("window", "chunks"))
    for masks in (window, chunk):
        assert torch.equal(masks[1], causal(T, T)) and torch.equal(masks[0], masks[2])
    assert window[0, 11].nonzero().flatten().tolist() == [7, 8, 9, 10, 11]
    assert chunk[0, 11].nonzero().flatten().tolist() == [10, 11]
    for near in ("window", "chunks"):
        assert (interleaved_masks(T, full, size=T, near=near) == causal(T, T)).all()


PATTERNS = [(False,), (False,) * 3, (False,) * 5, (False, True), (True, False, False), full_layers(7, period=6)]


def test_reach_equals_spreading():
    """The earliest token by the rule is the one that a path of allowed cells leads to, in every row."""
    for full in PATTERNS:
        for near in ("window", "chunks"):
            for size in (1, 2, 5, T):
                masks = interleaved_masks(T, full, size=size, near=near)
                want = [int(cone(masks, i)[0].int().argmax()) for i in range(T)]
                assert [earliest_token(i, full, size=size, near=near) for i in range(T)] == want


def test_sizes_are_refused():
    """A period of 0 has no full layer."""
    assert not any(full_layers(3, period=0))
    with pytest.raises(ValueError, match=r"^period=-1 must be at least 0$"):
        full_layers(3, period=-1)
    with pytest.raises(ValueError, match=r"^n_layers=0 must be at least 1$"):
        full_layers(0, period=3)
