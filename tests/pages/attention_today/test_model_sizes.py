"""Sizes of the models in the table of "Who uses what", against transformers' own classes."""

from fractions import Fraction

import pytest
import transformers

from pages.attention_today.models import models
from pages.attention_today.who_uses import size_text
from viz.text import LANGUAGES, translator

MODELS_OF_CLASSES = [model for model in models() if model.config]
WINDOWS = ("local_attention", "attention_chunk_size", "sliding_window", "sliding_window_size")
"""Fields of a window's size: a class has the first of these that its layers use."""


def ratio(kinds, kind):
    """Count the layers of a kind to each other one, such as "3:1"."""
    n = sum(name == kind for name in kinds)
    return f"{round(n / (len(kinds) - n))}:1"


def sizes_of(name):
    """Read off the defaults of a class whatever it says of windows, positions, caps, latent vectors and selections."""
    config = getattr(transformers, name)()
    kinds, rope = list(getattr(config, "layer_types", None) or []), getattr(config, "rope_parameters", None) or {}
    rope = rope.get("full_attention", rope.get("main", rope))
    near = {"sliding_attention", "chunked_attention", "hybrid_sliding"} & {*kinds}
    sizes = {}
    if near:
        window = next(value for field in WINDOWS if (value := getattr(config, field, None)))
        sizes["window"] = f"{ratio(kinds, near.pop())}, {window:,}"
    if "linear_attention" in kinds:
        sizes["delta"] = ratio(kinds, "linear_attention")
    if cap := getattr(config, "attn_logit_softcapping", None):
        sizes["cap"] = f"{cap:.0f}"
    if latent := getattr(config, "kv_lora_rank", None):
        sizes["mla"] = f"{latent} + {config.qk_rope_head_dim}"
    if k := getattr(config, "index_topk", None):
        sizes["top_k"] = f"{k:,}"
    if (part := rope.get("partial_rotary_factor", 1)) < 1:
        sizes["partial_rope"] = str(Fraction(part))
    if rates := getattr(config, "compress_rates", None):
        sizes["window"] = f"{config.sliding_window:,}"
        sizes["compressed"] = ", ".join(map(str, rates.values()))
    if streams := getattr(config, "hc_mult", getattr(config, "hc_count", None)):
        sizes["streams"] = str(streams)
    if layers := getattr(config, "n_layers_per_attn_res_block", None):
        sizes["depth"] = str(layers)
    has_positions = getattr(config, "no_rope_layers", None) or getattr(config, "layer_rope_theta", None) or []
    if 0 in has_positions:
        sizes["nope"] = str(Fraction(has_positions.count(0), len(has_positions)).limit_denominator(8))
    if config.model_type == "cohere2":  # whose full layers have no positions
        sizes["nope"] = str(Fraction(kinds.count("full_attention"), len(kinds)))
    return sizes


@pytest.mark.parametrize("model", MODELS_OF_CLASSES, ids=lambda model: model.name)
def test_sizes_are_defaults_of_class(model):
    figures = {name: size for name, size in model.features.items() if not size.isidentifier()}
    assert figures == sizes_of(model.config)


def test_caption_names_models_of_papers(open_app):
    """The models whose sizes no class has are named below the table, and no others."""
    names = {model.name for model in models() if model.features} - {model.name for model in MODELS_OF_CLASSES}
    assert len(MODELS_OF_CLASSES) >= 24 and names == {"MiniMax-Text-01", "gemma-3-4b", "MiniMax-M2"}
    app = open_app("attention_today", section="who_uses")
    (caption,) = (element.value for element in app.caption if "MiniMax-Text-01" in element.value)
    assert all(name in caption for name in names) and "gpt-oss" not in caption


@pytest.mark.parametrize("lang", LANGUAGES)
def test_figures_have_units(lang):
    t = translator(lang)
    assert size_text(t, "window", "1:1, 128") == {"en": "1:1, 128 tokens", "zh": "1:1, 128 个词元"}[lang]
    assert size_text(t, "cap", "50") == "50"
