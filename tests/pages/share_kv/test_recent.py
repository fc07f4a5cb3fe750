"""Models of today: each held to its configuration in transformers, and the count of its cache by hand."""

import pytest
import transformers

from pages.share_kv.layers.models import count_bytes, model_named, models
from pages.share_kv.layers.recent import layer_kinds
from tests.running import checked, line_charts, sentences_of
from viz.text import LANGUAGES, translator
from viz.text.sizes import size

T = translator("en")
KINDS = {"sliding_attention": "window", "chunked_attention": "chunks", "linear_attention": "linear",
         "full_attention": "full"}  # fmt: skip


@pytest.mark.parametrize("name", [model.name for model in models() if model.config])
def test_model_equals_transformers_config(name):
    """Every size that the count reads, and the kind of every layer."""
    model = model_named(name)
    config = getattr(transformers, model.config)()
    assert (config.num_hidden_layers, config.num_attention_heads) == (model.n_layers, model.n_heads)
    kinds = getattr(config, "layer_types", None) or ["full_attention"] * config.num_hidden_layers
    assert model.kinds == tuple("latent" if model.latent else KINDS[kind] for kind in kinds)
    assert getattr(config, "num_kv_shared_layers", 0) == model.n_shared
    if model.latent:
        widths = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
        assert [getattr(config, width) for width in widths] == list(model.latent)
    else:
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        assert (config.num_key_value_heads, width) == (model.n_kv_heads, model.d_head)
    sizes = {"window": "sliding_window", "chunks": "attention_chunk_size"}
    if model.near in sizes:
        assert getattr(config, sizes[model.near]) == model.size
    if model.near == "linear":
        state = (config.linear_num_value_heads, config.linear_key_head_dim, config.linear_value_head_dim)
        assert list(state) == list(model.state)


def test_gemma_270m_pattern_equals_transformers():
    """Its sizes are no defaults of a class; windows of 512 at 5 : 1 are those of the class with 18 layers."""
    model = model_named("gemma-3-270m")
    kinds = transformers.Gemma3TextConfig(num_hidden_layers=18).layer_types
    assert model.kinds == tuple(KINDS[kind] for kind in kinds)
    assert (model.n_heads, model.n_kv_heads, model.d_head, model.size) == (4, 1, 256, 512)


def test_shared_layers_equal_transformers():
    """Gemma 3n: the layers that read are those that transformers makes without keys of their own."""
    config = transformers.Gemma3nTextConfig()
    model = model_named("Gemma-3n-E4B")
    reads = [mode == "reuse" for mode in config.kv_sharing_modes]
    stores = {layer for layer, mode in enumerate(config.kv_sharing_modes) if mode == "store"}
    assert [source != layer for layer, source in enumerate(model.sources)] == reads
    assert set(model.sources[20:]) == stores == {18, 19}


BYTES = {
    "DeepSeek-V3": 61 * 576 * 2 * 131_072,
    "Llama-4-Scout": 2 * 8 * 128 * 2 * (12 * 131_072 + 36 * 8192),
    "Gemma-3n-E4B": 2 * 2 * 256 * 2 * (4 * 131_072 + 16 * 512),
    "gpt-oss-120b": 2 * 8 * 64 * 2 * (18 * 131_072 + 18 * 128),
    "gemma-3-270m": 2 * 1 * 256 * 2 * (3 * 131_072 + 15 * 512),
    "Qwen3-Next-80B": 2 * 2 * 256 * 2 * 12 * 131_072 + 36 * 32 * 128 * 128 * 4,
    "MiniMax-M2": 2 * 8 * 128 * 2 * 62 * 131_072,
    "Olmo-3-7B": 2 * 32 * 128 * 2 * (8 * 131_072 + 24 * 4096),
    "Qwen3.5-9B": 2 * 4 * 256 * 2 * 8 * 131_072 + 24 * 32 * 128 * 128 * 4,
    "Qwen3.5-35B-A3B": 2 * 2 * 256 * 2 * 10 * 131_072 + 30 * 32 * 128 * 128 * 4,
}


@pytest.mark.parametrize("name", BYTES)
def test_model_bytes_by_hand(name):
    assert count_bytes(model_named(name).layers, 131_072) == BYTES[name]


def test_deepseek_numbers_by_hand():
    """576 numbers a token and layer in place of 40,960; 70,272 bytes a token."""
    model = model_named("DeepSeek-V3")
    assert (model.full[0].cache_numbers(1), model.unshared[0].cache_numbers(1)) == (576, 40_960)
    assert count_bytes(model.layers, 1) == 70_272


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("n", [1, 131_072])
def test_table_has_every_model(open_app, lang, n):
    app, t = open_app("share_kv", section="published", preset="gpt-oss-120b", lang=lang, n=n), translator(lang)
    assert not app.exception
    assert checked(app, "published") == (3, 3)
    (table,) = (element.value for element in app.dataframe)
    assert [row.rpartition(" (")[0] for row in table.iloc[:, 0]] == [model.name for model in models()]
    if n > 1:
        assert list(table.iloc[:, 3]) == [size(BYTES[model.name]) for model in models()]
    row = table.iloc[[model.name for model in models()].index("Gemma-3n-E4B")]
    kinds = [("window", 16), ("full", 4), ("shared", 15)]
    assert row.iloc[6] == " + ".join(t(f"share_kv.recent.kind_{kind}", n=count, size="512") for kind, count in kinds)


def test_finding_names_three_sizes(open_app):
    app = open_app("share_kv", section="published", preset="gpt-oss-120b", n=512)
    full, mha = size(2 * 8 * 64 * 2 * 36 * 512), size(2 * 64 * 64 * 2 * 36 * 512)
    values = {"n": "512", "kept": size(2 * 8 * 64 * 2 * 18 * (512 + 128)), "full": full, "mha": mha}
    assert T("share_kv.recent.says", model="gpt-oss-120b", **values) in sentences_of(app)
    app = open_app("share_kv", section="published", preset="DeepSeek-V3", n=1)
    values = {"model": "DeepSeek-V3", "n": "1", "kept": size(70_272), "full": size(70_272), "mha": size(4_997_120)}
    assert T("share_kv.recent.says", **values) in sentences_of(app)
    assert len(line_charts(app)["cached_growth"]["lines"]) == 2


def test_models_are_sorted_and_unique():
    assert len({model.name for model in models()}) == len(models()) == 10
    assert [model.year for model in models()] == sorted(model.year for model in models())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_layers_of_each_model_add_up(lang):
    for model in models():
        assert model.kind_counts.total() == model.n_layers == len(model.layers)
        assert layer_kinds(translator(lang), model)
