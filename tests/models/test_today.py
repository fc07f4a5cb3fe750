"""Current attention variants equal their families' eager code on small random modules, and their layer patterns."""

import pytest
import torch
import transformers

from tests.models import today
from viz.core.masks import blocks, chunks, look_back
from viz.core.variants.layer_sharing import kv_sources
from viz.core.variants.today.interleaved import full_layers


@pytest.mark.parametrize("name", today.FAMILIES)
def test_variant_equals_family_code(name):
    """Outputs of size 1 to 30 in float32, a few roundings apart; what reads a stream is of size 1."""
    differences = today.FAMILIES[name]()
    assert differences
    limit = 1e-6 if name in ("inkling2", "deepseek_v4, streams") else 2e-5
    assert max(differences.values()) < limit, differences


def test_family_caches_latent_width():
    """transformers' own cache holds the latent vector and the turned key of each token, once for all heads."""
    assert today.count_cached_numbers() == today.LATENT.cache_width == 11


def test_family_caches_entries_once():
    """Of 13 words 3 entries and the last 4 of a window of 5, each key and value in one (transformers 5.24.0)."""
    layer = today.run_compressing("heavily_compressed_attention", 4, transformers.DynamicCache)
    sizes = layer.keys.shape[-2], layer.compressed_kv["compressor"].shape[-2]
    assert sizes == (4, 3) and layer.values is layer.keys


@pytest.mark.parametrize("size", [1, 3, 20])
def test_masks_equal_transformers(size):
    """Sliding windows count the query, and chunks are counted from the first token."""
    from transformers.masking_utils import chunked_causal_mask_function, sliding_window_causal_mask_function

    n = 7
    places = torch.arange(n)
    window = sliding_window_causal_mask_function(size)
    chunk = chunked_causal_mask_function(size, torch.zeros(1, dtype=torch.long))
    for theirs, ours in ((window, look_back), (chunk, chunks)):
        assert torch.equal(theirs(0, 0, places[:, None], places), ours(n, n, size))


@pytest.mark.parametrize("size", [1, 3, 4, 20])
def test_blocks_equal_transformers(size):
    """Causal, or in the same block: so the library lays blocks over a causal mask."""
    from transformers.masking_utils import blockwise_overlay, causal_mask_function, or_masks

    n = 11
    places = torch.arange(n)
    theirs = or_masks(causal_mask_function, blockwise_overlay(places[None] // size))
    assert torch.equal(theirs(0, 0, places[:, None], places), blocks(n, n, size))


PATTERNS = {
    "gemma3": ("Gemma3TextConfig", {"period": 6}),
    "gpt_oss": ("GptOssConfig", {"period": 2}),
    "cohere2": ("Cohere2Config", {"period": 4}),
    "olmo3": ("Olmo3Config", {"period": 4}),
    "qwen3_next": ("Qwen3NextConfig", {"period": 4}),
    "llama4": ("Llama4TextConfig", {"period": 4}),
    "modernbert": ("ModernBertConfig", {"period": 3, "starts_full": True}),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_pattern_equals_family(name):
    """By default, in 26 layers."""
    config, pattern = PATTERNS[name]
    layers = getattr(transformers, config)(num_hidden_layers=26).layer_types
    assert tuple(kind == "full_attention" for kind in layers) == full_layers(26, **pattern)


@pytest.mark.parametrize("name", ["Llama4TextConfig", "SmolLM3Config"])
def test_layers_without_positions(name):
    """Every fourth, as if it were full; transformers' flag says 1 where there are positions."""
    flags = getattr(transformers, name)(num_hidden_layers=26).no_rope_layers
    assert tuple(not flag for flag in flags) == full_layers(26, period=4)


def test_shared_layers_equal_gemma3n():
    """Its last 15 of 35 layers read two others: those that its configuration says store."""
    config = transformers.Gemma3nTextConfig()
    sources = kv_sources(config.layer_types, config.num_kv_shared_layers)
    stores = {i for i, mode in enumerate(config.kv_sharing_modes) if mode == "store"}
    assert (config.num_hidden_layers, config.num_kv_shared_layers) == (35, 15)
    assert set(sources[-15:]) == stores
    assert all(config.layer_types[i] == config.layer_types[source] for i, source in enumerate(sources))
