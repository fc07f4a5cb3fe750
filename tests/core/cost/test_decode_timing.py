"""Timing of a decoding step: the bytes that it reads, and the cache that it measures."""

import pytest

from viz.core.cost import decode_timing
from viz.core.cost.decode_timing import DecodePlan, decode_seconds


def test_bytes_by_hand():
    plan = DecodePlan(n_heads=6, d_head=5, n_tokens=7)
    assert [plan.cache_bytes(g) for g in (1, 2, 3, 6)] == [g * 2 * 7 * 5 * 4 for g in (1, 2, 3, 6)]


def test_default_plan_mha_is_134_mb():
    assert DecodePlan().cache_bytes(32) == 2**27


@pytest.mark.parametrize("G", [1, 2, 3, 6])
def test_every_group_count_has_own_cache(G, monkeypatch):
    caches = []

    def step(q, keys, values):
        caches.append((tuple(q.shape), tuple(keys.shape), tuple(values.shape)))

    monkeypatch.setattr(decode_timing, "decode_step", step)
    monkeypatch.setattr(decode_timing, "SETTLE_SECONDS", 0.0)
    assert decode_seconds(DecodePlan(n_heads=6, d_head=5, n_tokens=7), G) > 0
    assert set(caches) == {((6, 5), (G, 7, 5), (G, 7, 5))}
    assert len(caches) == decode_timing.REPEATS + 1


@pytest.mark.parametrize("G", [0, 4])
def test_indivisible_groups_are_refused(G):
    with pytest.raises(ValueError, match="n_kv_heads"):
        decode_seconds(DecodePlan(n_heads=6, d_head=5, n_tokens=7), G)


def test_empty_cache_is_refused():
    with pytest.raises(ValueError, match="n_tokens=0 must be at least 1"):
        DecodePlan(n_tokens=0)
