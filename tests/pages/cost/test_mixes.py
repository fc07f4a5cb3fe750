"""Mixes of layers: hand values, crossings found by trying every length, and sizes held to transformers' classes."""

import inspect
from collections import Counter
from functools import partial

import pytest
import torch
import transformers

from pages.cost.mixes import recount
from pages.cost.mixes.mix import MEASURES, PERIODS, Mix
from pages.cost.mixes.models import LONG, models, stack_text
from pages.share_kv.mla import DEEPSEEK_V3, DEEPSEEK_V3_LAYERS
from tests.running import checked, line_charts, sentences_of
from viz.core.attention import attend
from viz.core.cost.architectures import Sizes
from viz.core.cost.counting import FlopCounterMode
from viz.core.cost.mixed import cache_bytes, step_flops
from viz.core.positions import rope
from viz.core.variants.today.delta import delta_states
from viz.core.variants.today.latent import LatentSpec, LatentWeights, attend_absorbed
from viz.text import LANGUAGES, translator

T = translator("en")
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


def test_latent_cache_is_always_smaller():
    """With eight heads 4.5 d_k numbers stand for 16 d_k, from the first token on."""
    mix = mix_of("latent", d=512, h=8)
    assert (mix.meets("flops"), mix.meets("cache")) == (None, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [{"d": 21, "h": 3, "size": 7}, {"d": 10, "h": 10, "size": 1}, {"d": 13, "h": 1}])
def test_crossing_equals_every_length_tried(kind, sizes):
    """From the crossing on the mix is cheaper at every length, before it at none."""
    mix = mix_of(kind, "five", n_layers=7, **sizes)
    for measure, count in MEASURES.items():
        cheaper = [n for n in range(1, 200) if count(mix.layers, n_tokens=n) < count(mix.only_full, n_tokens=n)]
        first = mix.meets(measure)
        assert cheaper == ([] if first is None else list(range(first, 200)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pattern", PERIODS)
def test_mix_lies_between_its_kinds(kind, pattern):
    """A mix adds up its layers, in any order: so many full ones, and the rest of the other kind."""
    mix = mix_of(kind, pattern, n_layers=13)
    for count in MEASURES.values():
        for n in (1, 3, 4, 1000):
            full, rest = (count([layer], n_tokens=n) for layer in (mix.full, mix.rest))
            assert count(mix.layers, n_tokens=n) == mix.n_full * full + (13 - mix.n_full) * rest


@pytest.mark.parametrize(("pattern", "n_full"), [("one", 6), ("three", 3), ("five", 2), ("none", 0), ("full", 13)])
def test_pattern_has_full_layers(pattern, n_full):
    assert mix_of("linear", pattern, n_layers=13).n_full == n_full
    assert recount.layer_kinds(pattern, "linear", 13).count("full") == n_full


def test_mix_all_full_is_full():
    mix = mix_of("linear", "full")
    assert mix.layers == mix.only_full
    assert mix.meets("flops") is mix.meets("cache") is None


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


def sizes_of(config):
    """Return the sizes of a class of transformers as the table has them."""
    numbers = {"d_model": config.hidden_size, "n_heads": config.num_attention_heads}
    has_latent = getattr(config, "kv_lora_rank", None)
    if has_latent:
        names = {"d_latent": "kv_lora_rank", "d_nope": "qk_nope_head_dim", "d_rope": "qk_rope_head_dim",
                 "d_value": "v_head_dim"}  # fmt: skip
        numbers["latent"] = {name: getattr(config, theirs) for name, theirs in names.items()}
    else:
        numbers["n_kv_heads"] = config.num_key_value_heads
        numbers["d_head"] = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    kinds = Counter(getattr(config, "layer_types", None) or ["full_attention"] * config.num_hidden_layers)
    ours = {"sliding_attention": "window", "linear_attention": "linear", "indexed_attention": "select",
            "full_attention": "latent" if has_latent else "full"}  # fmt: skip
    numbers["layers"] = {ours[kind]: n for kind, n in kinds.items()}
    if "window" in numbers["layers"]:
        numbers["window"] = config.sliding_window
    if "select" in numbers["layers"]:
        assert set(getattr(config, "indexer_types", ["full"])) == {"full"}, "every layer has a scorer with keys"
        numbers["select"] = {"top_k": config.index_topk, "n_heads": config.index_n_heads,
                             "d_head": config.index_head_dim}  # fmt: skip
    if "linear" in numbers["layers"]:
        heads = getattr(config, "linear_num_value_heads", None) or config.linear_num_heads
        key, value = (
            getattr(config, f"linear_{part}_head_dim", None) or config.linear_head_dim for part in ("key", "value")
        )
        numbers["linear"] = {"n_heads": heads, "d_k": key, "d_v": value}
    return numbers


OF_CLASSES = [model for model in models() if model.config]


@pytest.mark.parametrize("model", OF_CLASSES, ids=[model.name for model in OF_CLASSES])
def test_model_sizes_equal_class_defaults(model):
    """The sizes are the defaults of the class, and its documentation names the model."""
    config = getattr(transformers, model.config)
    assert sizes_of(config()) == model.sizes
    if model.name != "DeepSeek-V3":  # documented with a small copy
        assert f'/{model.name}"' in inspect.getsource(inspect.getmodule(config))


def test_deepseek_sizes_equal_sharing_page():
    (model,) = [model for model in models() if model.name == "DeepSeek-V3"]
    expected = {name: value for name, value in vars(DEEPSEEK_V3).items() if name not in ("d_model", "n_heads")}
    assert model.sizes["latent"] == expected
    assert model.sizes["layers"] == {"latent": DEEPSEEK_V3_LAYERS}
    assert model.cache(1) == 70_272


def test_models_caches_by_hand():
    """GB of keys, values, latent vectors and states at 131,072 tokens, in two bytes a number."""
    caches = {model.name: model.cache(LONG) for model in models()}
    assert caches["Llama-3-8B"] == 2 * 32 * LONG * 2 * 8 * 128 == 16 * 2**30
    assert caches["Gemma-2-2B"] == 2 * (13 * LONG + 13 * 4096) * 2 * 4 * 256
    assert caches["Qwen3.5-35B-A3B"] == 2 * (10 * LONG * 2 * 2 * 256 + 30 * 32 * 128 * 128)
    assert caches["Ling-3.0-Flash"] == 2 * (7 * LONG * 576 + 35 * 32 * 128 * 128)
    assert caches["GLM-5"] == 2 * 78 * LONG * (576 + 128)
    assert caches["Muse-Spark-Open-816B-A42B"] == 2 * (16 * LONG + 46 * 2048) * 2 * 16 * 64
    assert [model.year for model in models()] == [2024] * 4 + [2026] * 6


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "link",
    [
        {"mix_pattern": "full", "cost_n": 10**12, "cost_d": 10**6},
        {"mix_pattern": "none", "mix_layers": 1, "cost_n": 1, "cost_d": 1, "mix_size": 1},
        {"mix_pattern": "one", "mix_layers": 96, "mix_size": 10**6, "cost_d": 997, "cost_h": 997},
    ],
)
@pytest.mark.usefixtures("without_source_checks")
def test_mixes_checks_hold(open_app, lang, kind, link):
    app = open_app("cost", section="mixes", lang=lang, mix_kind=kind, **link)
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
        ({"mix_kind": "window", "mix_size": 10}, "11", "11"),
    ],
)
def test_mixes_sentences_name_crossings(open_app, lang, link, flops, cache):
    """Width 512 and eight heads, as the page opens."""
    t, app = translator(lang), open_app("cost", section="mixes", lang=lang, **link)
    for measure, n in (("flops", flops), ("cache", cache)):
        when = "never" if n == "never" else "says"
        assert t(f"cost.mixes.{measure}_{when}", n=n) in sentences_of(app)


def test_mixes_lines_show_costs(open_app):
    """Full layers and the mix, exact at the window's end, and a point where the mix becomes cheaper."""
    charts = line_charts(open_app("cost", section="mixes", mix_size=100, mix_pattern="one", mix_layers=2))
    full, mix, point = charts["mix_cache"]["lines"]
    at = dict(zip(mix["x"], mix["y"], strict=True))
    assert at[100] == dict(zip(full["x"], full["y"], strict=True))[100] == 2 * 2 * 2 * 100 * 512
    assert at[1024] == 2 * 2 * (1024 + 100) * 512
    assert point["x"] == [101] and point["y"] == [2 * 2 * (101 + 100) * 512]
    assert [line["name"] for line in (full, mix)] == [T("cost.mixes.only_full"), T("cost.mixes.mix")]
    assert charts["mix_flops"]["lines"][0]["y"][0] == 2 * 4 * 512


def test_mixes_size_only_where_it_counts(open_app):
    """A window and a selection have a size; it is kept for them while another kind is open."""
    app = open_app("cost", section="mixes", mix_size=77)
    assert app.number_input(key="mix_size").value == 77
    app.button_group(key="mix_kind").set_value("linear").run()
    assert "mix_size" not in [element.key for element in app.number_input]
    app.button_group(key="mix_kind").set_value("select").run()
    assert app.number_input(key="mix_size").value == 77


@pytest.mark.parametrize("lang", LANGUAGES)
def test_mixes_table_lists_models(open_app, lang):
    t, app = translator(lang), open_app("cost", section="mixes", lang=lang)
    (table,) = [element.value for element in app.dataframe if "of_full" in element.value.columns]
    rows = table.set_index("model")
    assert list(rows.index) == [model.name for model in models()]
    assert list(rows.loc["Llama-3-8B", ["token", "text", "of_full"]]) == ["128 KiB", "16 GiB", "100.0%"]
    assert list(rows.loc["Qwen3.5-35B-A3B", ["token", "text", "of_full"]]) == ["20 KiB", "2.53 GiB", "25.3%"]
    assert rows.loc["DeepSeek-V3", "of_full"] == "1.4%"
    assert rows.loc["GLM-5", "stack"] == t("cost.mixes.stack_select", n=78, size="2,048")
    assert rows.loc["GLM-5", "source"] == t("cost.mixes.config", name="GlmMoeDsaConfig")
    assert {*rows["stack"]} == {stack_text(t, model) for model in models()}
