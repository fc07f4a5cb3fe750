"""Mixes of layers: hand values, and crossings found by trying every length."""

from functools import partial

import pytest
import torch

from pages.cost.mixes import recount
from pages.cost.mixes.mix import MEASURES, Mix
from tests.running import checked, sentences_of
from viz.core.attention import attend
from viz.core.cost.architectures import Sizes
from viz.core.cost.counting import FlopCounterMode
from viz.core.cost.mixed import cache_bytes, step_flops
from viz.core.positions import rope
from viz.core.variants.today.delta import delta_states
from viz.core.variants.today.latent import LatentSpec, LatentWeights, attend_absorbed
from viz.text import LANGUAGES, translator

KINDS = ("window", "linear", "latent", "select")


def mix_of(kind, pattern="three", *, d=8, h=2, size=3, n_layers=4, n=5):
    return Mix(sizes=Sizes(n=n, d=d, h=h), kind=kind, pattern=pattern, size=size, n_layers=n_layers)


@pytest.mark.parametrize(
    ("kind", "flops", "numbers"),
    [
        ("window", 4 * 3 * 8, 2 * 3 * 8),  # three tokens of the five
        ("linear", 6 * 8 * 4, 2 * 4 * 4),  # two states of 4 · 4, written once and read twice
        ("latent", 2 * 2 * (16 * 8 + 5 * (18 + 16)), 5 * (16 + 2)),  # c = 4 · 4, r = 4 / 2
        ("select", 2 * 5 * 1 * (4 + 1) + 4 * 3 * 8, 2 * 5 * 8 + 5 * 4),  # one head scores
    ],
)
def test_mix_costs_by_hand(kind, flops, numbers):
    """Heads of width 4: three layers of the other kind and a full one, which takes 4nd FLOPs and keeps 2nd numbers."""
    layers = mix_of(kind).layers
    assert step_flops(layers, n_tokens=5) == 3 * flops + 4 * 5 * 8
    assert cache_bytes(layers, n_tokens=5) == 2 * (3 * numbers + 2 * 5 * 8)


@pytest.mark.parametrize(
    ("kind", "flops", "cache"),
    [
        ("window", 4, 4),  # one token beyond the window
        ("linear", 7, 3),  # 6 d d_k < 4nd from n = 3/2 d_k + 1 on, d d_k < 2nd from d_k / 2 + 1 on
        ("latent", None, None),  # 18 numbers a token for 16: two heads are too few
        ("select", 5, None),  # 10 n + 96 < 32 n
    ],
)
@pytest.mark.parametrize("pattern", ["one", "three", "five", "none"])
def test_mix_crossings_by_hand(kind, pattern, flops, cache):
    mix = mix_of(kind, pattern, n_layers=12)
    assert [mix.meets("flops"), mix.meets("cache")] == [flops, cache]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [{"d": 21, "h": 3, "size": 7}, {"d": 10, "h": 10, "size": 1}, {"d": 13, "h": 1}])
def test_crossing_equals_every_length_tried(kind, sizes):
    """From the crossing on the mix is cheaper at every length, before it at none."""
    mix = mix_of(kind, "five", n_layers=7, **sizes)
    for measure, count in MEASURES.items():
        cheaper = [n for n in range(1, 200) if count(mix.layers, n_tokens=n) < count(mix.only_full, n_tokens=n)]
        first = mix.meets(measure)
        assert cheaper == ([] if first is None else list(range(first, 200)))


@pytest.mark.parametrize(("pattern", "n_full"), [("one", 6), ("three", 3), ("five", 2), ("none", 0), ("full", 13)])
def test_pattern_has_full_layers(pattern, n_full):
    assert mix_of("linear", pattern, n_layers=13).n_full == n_full
    assert recount.layer_kinds(pattern, "linear", 13).count("full") == n_full


def test_recount_equals_layers_that_run():
    """The products listed by hand are those that attention, MLA and the delta rule multiply."""

    def count(call):
        with FlopCounterMode(display=False) as counter:
            call()
        return counter.get_total_flops()

    h, d_k, n = 3, 8, 11
    q, keys = torch.ones(h, 1, d_k), torch.ones(h, n, d_k)
    flops = partial(recount.layer_flops, d=h * d_k, h=h, size=5)
    assert flops("full", n=n) == count(lambda: attend(q, keys, keys))
    assert flops("window", n=n) == count(lambda: attend(q, keys[:, -5:], keys[:, -5:]))
    beta = torch.ones(h, 1)
    write = count(lambda: q.mT @ q)  # the step writes by broadcasting, which torch does not count
    assert flops("linear", n=n) == write + count(lambda: delta_states(q, q, q, beta=beta, steps=0 * beta))
    spec = LatentSpec(d_model=7, n_heads=h, d_latent=4 * d_k, d_nope=d_k, d_rope=d_k // 2, d_value=d_k)
    weights, x = LatentWeights.random(spec, seed=0), torch.ones(n, 7)
    projections = 2 * n * sum(w.numel() for w in (weights.w_q, weights.w_down, weights.w_rope_k, weights.w_o))
    run = count(lambda: attend_absorbed(x, weights, turn=partial(rope, pairing="halves")))
    assert n * flops("latent", n=n) == run - projections


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "link",
    [
        {"pattern": "full", "cost_n": 10**12, "cost_d": 10**6},
        {"pattern": "none", "stack": 1, "cost_n": 1, "cost_d": 1, "near_size": 1},
        {"pattern": "one", "stack": 96, "near_size": 10**6, "cost_d": 997, "cost_h": 997},
    ],
)
@pytest.mark.usefixtures("without_source_checks")
def test_mixes_checks_hold(open_app, kind, link):
    app = open_app("cost", section="mixes", mix_kind=kind, **link)
    assert not app.exception
    assert not app.error
    assert checked(app, "mixes") == (6, 6)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("link", "flops", "cache"),
    [
        ({}, "1,025", "1,025"),
        ({"mix_kind": "linear"}, "97", "33"),
        ({"mix_kind": "latent"}, "never", "1"),
        ({"mix_kind": "select"}, "1,373", "never"),
        ({"mix_kind": "window", "near_size": 10}, "11", "11"),
    ],
)
def test_mixes_sentences_name_crossings(open_app, lang, link, flops, cache):
    """Width 512 and eight heads, as the page opens."""
    t, app = translator(lang), open_app("cost", section="mixes", lang=lang, **link)
    for measure, n in (("flops", flops), ("cache", cache)):
        when = "never" if n == "never" else "says"
        assert t(f"cost.mixes.{measure}_{when}", n=n) in sentences_of(app)


def test_mixes_size_only_where_it_counts(open_app):
    """A window and a selection have a size; it is kept for them while another kind is open."""
    app = open_app("cost", section="mixes", near_size=77)
    assert app.number_input(key="near_size").value == 77
    app.button_group(key="mix_kind").set_value("linear").run()
    assert "near_size" not in [element.key for element in app.number_input]
    app.button_group(key="mix_kind").set_value("select").run()
    assert app.number_input(key="near_size").value == 77
