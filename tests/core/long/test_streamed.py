"""A streamed head against the full matrix: cells, rows, strips of any size; and its memory."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.largest import Largest
from viz.core.long import streamed
from viz.core.long.rows import WINDOW, evenly_spaced, weights_of_rows, window
from viz.core.long.shapes import fit_shapes
from viz.core.long.streamed import long_map, side_of


def head(n, d=13, *, seed=0, sharp=2.0):
    q, k = torch.randn(2, n, d, generator=torch.Generator().manual_seed(seed))
    return q * sharp, k


def by_numpy(q, k, scale, causal):
    """Return scores and weights of the full matrix, in float64."""
    scores = q.double().numpy() @ k.double().numpy().T * scale
    if causal:
        scores[np.triu_indices(len(q), 1)] = -np.inf
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return scores, weights / weights.sum(1, keepdims=True)


def cells_of(weights, side):
    """Return the largest weight and the mean of every block."""
    n = len(weights)
    edges = np.arange(0, n, side)
    most = np.maximum.reduceat(np.maximum.reduceat(weights, edges, 0), edges, 1)
    high = np.diff(np.append(edges, n))
    total = np.add.reduceat(np.add.reduceat(weights, edges, 0), edges, 1)
    return torch.tensor(most).float(), torch.tensor(total / high / high[:, None]).float()


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("n", "cells"), [(1, 512), (7, 3), (257, 19), (509, 512)])
def test_cells_and_rows_equal_full_matrix(n, cells, causal):
    q, k = head(n)
    coarse_map = long_map(q, k, scale=0.4, causal=causal, cells=cells)
    _, weights = by_numpy(q, k, 0.4, causal)
    most, mean = cells_of(weights, side_of(n, cells))
    assert_close(coarse_map.most, most, rtol=1e-5, atol=2e-7)
    assert_close(coarse_map.mean, mean, rtol=1e-5, atol=1e-8)
    at, rows = np.arange(n), coarse_map.rows
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(weights * np.log(weights), 1)
    expected = {
        "first": weights[:, 0],
        "previous": np.concatenate([[0.0], weights[at[1:], at[:-1]]]),
        "distance": (weights * np.abs(at[:, None] - at)).sum(1),
        "entropy": entropy,
        "largest": weights.max(1),
    }
    for name, values in expected.items():
        assert_close(getattr(rows, name), torch.tensor(values).float(), rtol=1e-5, atol=1e-5)
    assert rows.strongest.tolist() == weights.argmax(1).tolist()


@pytest.mark.parametrize("causal", [True, False])
def test_map_is_independent_of_strip_height(monkeypatch, causal):
    q, k = head(211)
    single_strip = long_map(q, k, scale=0.4, causal=causal, cells=31)
    monkeypatch.setattr(streamed, "STRIP", 211 * 5)
    monkeypatch.setattr(streamed, "LOWEST", 5)
    monkeypatch.setattr(streamed, "RUN", 17)
    striped = long_map(q, k, scale=0.4, causal=causal, cells=31)
    assert_close(
        (striped.most, striped.mean, vars(striped.rows)),
        (single_strip.most, single_strip.mean, vars(single_strip.rows)),
    )


@pytest.mark.parametrize("size", [1e4, 0.0])
def test_scores_of_any_size_stay_numbers(size):
    q, k = head(67)
    coarse_map = long_map(q * size, k * size, scale=1.0, causal=True)
    assert all(
        values.isfinite().all() for values in (coarse_map.most, coarse_map.mean, *vars(coarse_map.rows).values())
    )
    assert_close(coarse_map.mean.sum(1), torch.ones(67))


def test_stops_between_two_strips(monkeypatch):
    monkeypatch.setattr(streamed, "STRIP", 0)
    calls = []

    def stop():
        calls.append(1)
        if len(calls) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        long_map(*head(197), scale=1.0, causal=True, check=stop)


def test_memory_is_below_quadratic(monkeypatch):
    monkeypatch.setattr(streamed, "STRIP", 0)
    with Largest() as largest:
        for n in (512, 2048):
            q, k = head(n, 3)
            long_map(q, k, scale=1.0, causal=True, cells=32)
            assert largest.numbers <= 2 * streamed.LOWEST * n, "two strips of the fewest rows"
            window(q, k, row=n // 2, column=5, scale=1.0, causal=True)
            fit_shapes(
                weights_of_rows(q, k, evenly_spaced(n, 8), scale=1.0, causal=True), evenly_spaced(n, 8), causal=True
            )
            assert largest.numbers <= max(2 * streamed.LOWEST * n, WINDOW**2, 128**2)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (61, 100), (300, 17)])
def test_window_equals_cut_of_full_matrix(row, column, causal):
    q, k = head(331)
    cut = window(q, k, row=row, column=column, scale=0.4, causal=causal)
    _, weights = by_numpy(q, k, 0.4, causal)
    expected = torch.tensor(weights[row : row + WINDOW, column : column + WINDOW]).float()
    assert_close(cut, expected, rtol=2e-5, atol=1e-7)


def test_window_is_exact_for_large_scores():
    q, k = head(331)
    scale = 300 / float((q @ k.T).abs().max())
    cut = window(q, k, row=20, column=30, scale=scale, causal=False)
    _, weights = by_numpy(q, k, scale, causal=False)
    assert_close(cut, torch.tensor(weights[20 : 20 + WINDOW, 30 : 30 + WINDOW]).float(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_rows_equal_full_matrix(causal):
    q, k = head(101)
    at = torch.tensor([0, 53, 100])
    _, weights = by_numpy(q, k, 0.4, causal)
    rows = weights_of_rows(q, k, at, scale=0.4, causal=causal)
    assert_close(rows, torch.tensor(weights[at]).float(), rtol=1e-5, atol=1e-7)


def test_sink_by_hand_takes_share():
    """Scores of 0 and a sink of 0: in a row of j keys every key and the sink get 1 / (j + 1)."""
    q = k = torch.zeros(3, 2)
    options = {"scale": 1.0, "causal": True, "sink": 0.0}
    coarse_map = long_map(q, k, cells=3, **options)
    assert_close(coarse_map.rows.nowhere, torch.tensor([1 / 2, 1 / 3, 1 / 4]))
    assert_close(coarse_map.most[2], torch.full((3,), 1 / 4))
    assert_close(weights_of_rows(q, k, torch.tensor([1]), **options), torch.tensor([[1 / 3, 1 / 3, 0.0]]))
    assert_close(window(q, k, row=1, column=0, **options)[0], torch.tensor([1 / 3, 1 / 3, 0.0]))
    assert_close(coarse_map.rows.entropy[2], 0.75 * torch.tensor(4.0).log())


@pytest.mark.parametrize("sink", [-40.0, 0.3, 40.0])
def test_sink_map_equals_its_rows(sink):
    """Strips and rows agree, whether the sink is above every score or below."""
    q, k = torch.randn(2, 23, 5, generator=torch.Generator().manual_seed(0))
    options = {"scale": 0.4, "causal": True, "sink": sink}
    coarse_map, rows = long_map(q, k, cells=23, **options), weights_of_rows(q, k, torch.arange(23), **options)
    assert_close(coarse_map.most, rows, atol=1e-6, rtol=0)
    assert_close(coarse_map.rows.nowhere, 1 - rows.sum(-1), atol=1e-6, rtol=0)
    assert_close(coarse_map.rows.entropy, -(rows * rows.clamp(min=1e-30).log()).sum(-1), atol=1e-4, rtol=0)
