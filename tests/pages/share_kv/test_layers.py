"""Sharing across layers and windows in the cache: hand values, checks that hold, and numbers counted another way."""

import numpy as np
import pytest
import torch

from pages.share_kv import compute as own_compute
from pages.share_kv.layers.across import _largest, source_by_hand
from pages.share_kv.layers.windows import WindowedCache, cells_by_hand
from tests.running import bar_charts, checked, line_charts, matrices, sentences_of
from viz.core.spec import AttentionSpec
from viz.core.variants.today.interleaved import PERIODS, full_layers
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.frame.format import part, share
from viz.text import translator
from viz.text.sizes import size

T = translator("en")
REAL = specs.Source(kind="model", text=examples()[0].text, model=compute.DEFAULT_MODEL)
SEEDED = {"source": "words", "text": "a b c d e f g h i j", "n_heads": 4}
LINKS = [
    {},
    {"lang": "zh", "mask": "causal", "n_kv_heads": 2},
    {"mask": "both", "pad": 5, "pad_left": 1},
    SEEDED | {"mask": "causal", "group_size": 3, "reading_layer": 2, "pattern": "one", "near_size": 2},
    {"source": "words", "text": "word", "n_heads": 1, "group_size": 6, "pattern": "none", "near_size": 64},
    {"source": "embeddings", "group_size": 1, "tokens_read": 2},
    {"model": "twin-g2", "text": "red blue red blue", "group_size": 2, "pattern": "three", "near_size": 1},
]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("view", ["across_layers", "windows"])
@pytest.mark.usefixtures("without_source_checks")
def test_layers_checks_hold(open_app, view, link):
    app = open_app("share_kv", section="across_layers", view=view, **link)
    assert not app.exception
    assert checked(app, view) == (4, 4)


@pytest.mark.parametrize("family", ["gpt_oss", "flint", "granite_swa", "mimo_v2_flash"])
@pytest.mark.parametrize("section", ["across_layers", "all"])
def test_sinks_leave_page_whole(open_app, small_model, family, section):
    """A layer with learned sinks, of which each head has one number: no section dies of it."""
    link = {"source": "model", "model": small_model(family), "layer": 1, "text": "Seven herons waited"}
    app = open_app("share_kv", section=section, view="windows", **link)
    assert not app.exception
    assert section == "all" or (checked(app, "windows") == (4, 4) and not app.error)


@pytest.mark.parametrize(("size", "sources"), [(1, range(6)), (2, [0, 0, 2, 2, 4, 4]), (4, [0, 0, 0, 0, 4, 4])])
def test_across_layers_map_by_hand(open_app, size, sources):
    app = open_app("share_kv", section="across_layers", group_size=size)
    cells = matrices(app)["layer_reads"][1]
    assert [row.nan_to_num(-1, -1, -1).argmax().item() for row in cells] == list(sources)
    assert [source_by_hand(layer, size) for layer in range(6)] == list(sources)


@pytest.mark.parametrize("group_size", [2, 3])
def test_across_layers_moved_equals_numpy(open_app, group_size):
    """The bars and the sentence, from numpy's own softmax on the model's queries and keys."""
    app = open_app("share_kv", section="across_layers", group_size=group_size, n_kv_heads=12)
    calls, variations = compute.read(REAL).calls, []

    def weights(q, k):
        e = np.exp(q.double().numpy() @ k.double().numpy().transpose(0, 2, 1) / 32**0.5)
        return e / e.sum(-1, keepdims=True)

    for layer, call in enumerate(calls):
        source = calls[layer - layer % group_size]
        variations.append(np.abs(weights(call.q, call.k) - weights(call.q, source.k)).sum(-1).mean() / 2)
    (bars,) = bar_charts(app)["layer_moved"].series.values()
    assert bars.tolist() == pytest.approx(variations, abs=1e-5)
    far = np.mean([off for layer, off in enumerate(variations) if layer % group_size])
    sets, token = 6 // group_size, 12 * 64 * 2
    values = {"kept": size(sets * 16 * token), "all": size(6 * 16 * token), "far": part(float(far))}
    assert T("share_kv.across_layers.says", g=group_size, sets=sets, others=6 - sets, L=6, **values) in sentences_of(
        app
    )


def test_across_layers_ungrouped_is_standard(open_app):
    app = open_app("share_kv", section="across_layers", group_size=1, n_kv_heads=2)
    assert T("share_kv.across_layers.same", L=6, all=size(6 * 16 * 2 * 64 * 2)) in sentences_of(app)
    (bars,) = bar_charts(app)["layer_moved"].series.values()
    assert bars.tolist() == [0] * 6


def test_seeded_layers_run_in_order():
    """The second of the seeded layers reads what the first hands on, behind the mask."""
    source = specs.Source(kind="words", text="a b c d e", d_model=12, n_heads=3, n_kv_heads=3, seed=5)
    first, second, *_ = own_compute.layer_heads(source, specs.Mask(kind="causal"), 3)
    trace = compute.trace(source, 0, specs.Mask(kind="causal"))
    weights = own_compute.HeadWeights.random(AttentionSpec(d_model=12, n_heads=3, n_kv_heads=3), seed=6)
    torch.testing.assert_close(first.k, trace.k)
    torch.testing.assert_close(second.q.transpose(0, 1).flatten(1), (trace.x + trace.output) @ weights.w_q)


@pytest.mark.parametrize(
    ("link", "n_columns"),
    [
        ({"pattern": "five", "near_size": 3}, 5 * 3 + 10),
        ({"pattern": "one", "near_size": 2, "tokens_read": 5}, 3 * 2 + 3 * 5),
        ({"pattern": "none", "near_size": 4}, 6 * 4),
    ],
)
def test_windows_bytes_by_hand(open_app, link, n_columns):
    """Columns of all six layers, of 4 heads with a key and a value each, 2 bytes a number."""
    app = open_app("share_kv", section="across_layers", view="windows", n_kv_heads=4, **SEEDED | link)
    n, width = link.get("tokens_read", 10), AttentionSpec(d_model=app.session_state["d_model"], n_heads=4).d_k
    column = 4 * 2 * width * 2
    values = {"n": n, "near": 6 - len([layer for layer in full_layers(6, period=PERIODS[link["pattern"]]) if layer])}
    values |= {"kept": size(n_columns * column), "all": size(6 * n * column), "share": share(n_columns / (6 * n))}
    assert T("share_kv.windows.says", w=link["near_size"], **values) in sentences_of(app)
    cells = matrices(app)["cached_tokens"][1]
    assert int((cells == 1).sum()) == n_columns


def test_windows_growth_levels_off(open_app):
    """With all layers behind a window the line is flat from there on; without, it is straight."""
    app = open_app("share_kv", section="across_layers", view="windows", **SEEDED, pattern="none", near_size=4)
    full, near = (line["y"] for line in line_charts(app)["window_growth"]["lines"])
    assert full == [full[0] * n for n in range(1, 11)]
    assert near == [full[0] * min(n, 4) for n in range(1, 11)]


@pytest.mark.parametrize(
    ("pattern", "full"), [("five", [5, 11]), ("three", [3, 7, 11]), ("one", [1, 3, 5, 7, 9, 11]), ("none", [])]
)
def test_window_patterns_by_hand(pattern, full):
    assert [layer for layer, is_full in enumerate(full_layers(12, period=PERIODS[pattern])) if is_full] == full


def test_cells_by_hand_of_two_layers():
    spec = AttentionSpec(d_model=4, n_heads=1)
    cache = WindowedCache(spec=spec, full=(False, True), size=2, n_read=4, n_tokens=5)
    assert cells_by_hand(cache, PERIODS["one"]) == [{2, 3}, {0, 1, 2, 3}]
    assert [set(row.nonzero().flatten().tolist()) for row in cache.cells] == [{2, 3}, {0, 1, 2, 3}]


def test_nan_fails_check():
    """A single layer that gives NaN is the largest difference, wherever it stands."""
    assert np.isnan(_largest([torch.zeros(2), torch.tensor([0.0, torch.nan]), torch.ones(2)]))
