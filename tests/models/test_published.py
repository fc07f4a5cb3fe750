"""Published models: each held to its configuration in transformers, and the bytes of its cache by hand."""

from collections import Counter

import pytest
import transformers

from tests.running import checked, line_charts, sentences_of
from viz.models.published import model_named, models
from viz.text import LANGUAGES, paragraph, translator
from viz.text.sizes import size

T = translator("en")
KINDS = {"sliding_attention": "window", "chunked_attention": "chunks", "linear_attention": "linear",
         "indexed_attention": "select", "full_attention": "full"}  # fmt: skip
LATENT = {"d_latent": "kv_lora_rank", "d_nope": "qk_nope_head_dim", "d_rope": "qk_rope_head_dim",
          "d_value": "v_head_dim"}  # fmt: skip
SELECT = {"top_k": "index_topk", "n_heads": "index_n_heads", "d_head": "index_head_dim"}


def sizes_of(config):
    """Return the sizes of a class of transformers as the table has them."""
    numbers = {"d_model": config.hidden_size, "n_heads": config.num_attention_heads}
    is_latent = getattr(config, "kv_lora_rank", None)
    if is_latent:
        numbers["latent"] = {name: getattr(config, theirs) for name, theirs in LATENT.items()}
    else:
        numbers["n_kv_heads"] = config.num_key_value_heads
        numbers["d_head"] = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    kinds = [
        KINDS[kind] for kind in getattr(config, "layer_types", None) or ["full_attention"] * config.num_hidden_layers
    ]
    if modes := getattr(config, "kv_sharing_modes", ()):
        numbers["shared"] = [layer for layer, mode in enumerate(modes) if mode == "store"]
        kinds = ["shared" if mode == "reuse" else kind for kind, mode in zip(kinds, modes, strict=True)]
    numbers["layers"] = Counter("latent" if kind == "full" and is_latent else kind for kind in kinds)
    if "window" in kinds:
        numbers["window"] = config.sliding_window
    if "chunks" in kinds:
        numbers["chunks"] = config.attention_chunk_size
    if "select" in kinds:
        assert set(getattr(config, "indexer_types", ["full"])) == {"full"}, "every layer has a scorer with keys"
        numbers["select"] = {name: getattr(config, theirs) for name, theirs in SELECT.items()}
    if "linear" in kinds:
        heads = getattr(config, "linear_num_value_heads", None) or config.linear_num_heads
        key, value = (
            getattr(config, f"linear_{part}_head_dim", None) or config.linear_head_dim for part in ("key", "value")
        )
        numbers["linear"] = {"n_heads": heads, "d_k": key, "d_v": value}
    return numbers


@pytest.mark.parametrize("name", [model.name for model in models() if model.config])
def test_model_sizes_equal_class_defaults(name):
    model = model_named(name)
    assert sizes_of(getattr(transformers, model.config)()) == model.sizes


def test_gemma_270m_pattern_equals_transformers():
    """Its sizes are no defaults of a class; windows of 512 at 5 : 1 are those of the class with 18 layers."""
    model, config = model_named("gemma-3-270m"), transformers.Gemma3TextConfig(num_hidden_layers=18)
    assert model.sizes["layers"] == sizes_of(config)["layers"]


BYTES = {
    "DeepSeek-V3": 61 * 576 * 2 * 131_072,
    "Llama-4-Scout": 2 * 8 * 128 * 2 * (12 * 131_072 + 36 * 8192),
    "Gemma-3n-E4B": 2 * 2 * 256 * 2 * (4 * 131_072 + 16 * 512),
    "gpt-oss-120b": 2 * 8 * 64 * 2 * (18 * 131_072 + 18 * 128),
    "gemma-3-270m": 2 * 1 * 256 * 2 * (3 * 131_072 + 15 * 512),
    "Qwen3-Next-80B-A3B": 2 * 2 * 256 * 2 * 12 * 131_072 + 36 * 32 * 128 * 128 * 4,
    "MiniMax-M2": 2 * 8 * 128 * 2 * 62 * 131_072,
    "Olmo-3-7B": 2 * 32 * 128 * 2 * (8 * 131_072 + 24 * 4096),
    "Qwen3.5-9B": 2 * 4 * 256 * 2 * 8 * 131_072 + 24 * 32 * 128 * 128 * 4,
    "GLM-5": 78 * (512 + 64 + 128) * 2 * 131_072,
}


@pytest.mark.parametrize("name", BYTES)
def test_model_bytes_by_hand(name):
    assert model_named(name).cache(131_072) == BYTES[name]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_table_has_every_model(open_app, lang):
    app, t = open_app("cost", section="mixes", lang=lang), translator(lang)
    (table,) = (element.value for element in app.dataframe)
    assert list(table.iloc[:, 0]) == [model.name for model in models()]
    rows = [list(table.iloc[:, 0]).index(name) for name in BYTES]
    assert list(table.iloc[rows, 4]) == [size(n_bytes) for n_bytes in BYTES.values()]
    kinds = [("full", 4), ("window", 16), ("shared", 15)]
    cell = " + ".join(t(f"cost.mixes.stack_{kind}", n=count, size="512") for kind, count in kinds)
    assert table.iloc[rows[2], 2] == cell


def test_finding_names_three_sizes(open_app):
    app = open_app("share_kv", section="published", preset="gpt-oss-120b", n=512)
    full, mha = size(2 * 8 * 64 * 2 * 36 * 512), size(2 * 64 * 64 * 2 * 36 * 512)
    values = {"model": "gpt-oss-120b", "n": "512", "kept": size(2 * 8 * 64 * 2 * 18 * (512 + 128)), "full": full}
    both = paragraph(T("share_kv.recent.says", **values), T("share_kv.recent.says_unshared", mha=mha))
    assert both in sentences_of(app)
    assert checked(app, "published") == (1, 1)
    app = open_app("share_kv", section="published", preset="DeepSeek-V3", n=1)
    values = {"model": "DeepSeek-V3", "n": "1", "kept": size(70_272), "full": size(4_997_120)}
    assert T("share_kv.recent.says", **values) in sentences_of(app)
    assert len(line_charts(app)["cached_growth"]["lines"]) == 2


def test_models_are_sorted_and_unique():
    assert len({model.name for model in models()}) == len(models()) == 18
    assert [model.year for model in models()] == sorted(model.year for model in models())
