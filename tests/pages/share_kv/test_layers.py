"""Sharing across layers and windows in the cache: hand values, checks that hold, and numbers counted another way."""

import numpy as np
import pytest
import torch

from pages.share_kv import compute as own_compute
from pages.share_kv.layers.across import _largest, source_by_hand
from pages.share_kv.layers.windows import WindowedCache, cells_by_hand
from tests.running import bar_charts, line_charts, matrices, sentences_of
from viz.core.spec import AttentionSpec
from viz.core.variants.today.interleaved import PERIODS
from viz.frame import compute, specs
from viz.text import translator
from viz.text.sizes import size

T = translator("en")


SEEDED = {"source": "words", "text": "a b c d e f g h i j", "n_heads": 4}


@pytest.mark.parametrize(("size", "sources"), [(1, range(6)), (2, [0, 0, 2, 2, 4, 4]), (4, [0, 0, 0, 0, 4, 4])])
def test_across_layers_map_by_hand(open_app, size, sources):
    app = open_app("share_kv", section="across_layers", group_size=size)
    cells = matrices(app)["layer_reads"][1]
    assert [row.nan_to_num(-1, -1, -1).argmax().item() for row in cells] == list(sources)
    assert [source_by_hand(layer, size) for layer in range(6)] == list(sources)
    users = T("share_kv.across_layers.users", g=size, sets=7 - size, far="", model="", n=1, L=1, near="", full="")
    assert any(caption.value.startswith(users.partition(",")[0]) for caption in app.caption)
    last = bar_charts(app)["layer_moved"].series[T("share_kv.across_layers.last")]
    assert (last[: 7 - size] == 0).all() and (last[7 - size :] > 0.01).all()


def test_across_layers_ungrouped_is_standard(open_app):
    app = open_app("share_kv", section="across_layers", group_size=1, n_kv_heads=2)
    assert T("share_kv.across_layers.same", L=6, all=size(6 * 16 * 2 * 64 * 2)) in sentences_of(app)
    assert [bars.tolist() for bars in bar_charts(app)["layer_moved"].series.values()] == [[0] * 6] * 2


def test_seeded_layers_run_in_order():
    """The second of the seeded layers reads what the first hands on, behind the mask."""
    source = specs.Source(kind="words", text="a b c d e", d_model=12, n_heads=3, n_kv_heads=3, seed=5)
    first, second, *_ = own_compute.layer_heads(source, specs.Mask(kind="causal"), 3)
    trace = compute.trace(source, 0, specs.Mask(kind="causal"))
    weights = own_compute.HeadWeights.random(AttentionSpec(d_model=12, n_heads=3, n_kv_heads=3), seed=6)
    torch.testing.assert_close(first.k, trace.k)
    torch.testing.assert_close(second.q.transpose(0, 1).flatten(1), (trace.x + trace.output) @ weights.w_q)


def test_windows_growth_levels_off(open_app):
    """With all layers behind a window the line is flat from there on; without, it is straight."""
    app = open_app("share_kv", section="across_layers", view="windows", **SEEDED, pattern="none", near_size=4)
    full, near = (line["y"] for line in line_charts(app)["window_growth"]["lines"])
    assert full == [full[0] * n for n in range(1, 11)]
    assert near == [full[0] * min(n, 4) for n in range(1, 11)]


def test_cells_by_hand_of_two_layers():
    spec = AttentionSpec(d_model=4, n_heads=1)
    cache = WindowedCache(spec=spec, full=(False, True), size=2, n_read=4, n_tokens=5)
    assert cells_by_hand(cache, PERIODS["one"]) == [{2, 3}, {0, 1, 2, 3}]
    assert [set(row.nonzero().flatten().tolist()) for row in cache.cells] == [{2, 3}, {0, 1, 2, 3}]


def test_nan_fails_check():
    """A single layer that gives NaN is the largest difference, wherever it stands."""
    assert np.isnan(_largest([torch.zeros(2), torch.tensor([0.0, torch.nan]), torch.ones(2)]))
