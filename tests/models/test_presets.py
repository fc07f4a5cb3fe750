"""Presets against the models themselves, built by transformers without any memory."""

import pytest
import torch
import transformers

from viz.core.cost.model import model_parameters
from viz.models import registry
from viz.models.presets import preset, presets

LLAMA = (transformers.LlamaForCausalLM, transformers.LlamaConfig)
CLASSES = {
    "twin-g1": LLAMA,
    "twin-g2": LLAMA,
    "twin-g8": LLAMA,
    "all-MiniLM-L6-v2": (transformers.BertModel, transformers.BertConfig),
    "distilbert-base-uncased": (transformers.DistilBertModel, transformers.DistilBertConfig),
    "bert-base-uncased": (transformers.BertModel, transformers.BertConfig),
    "bert-base-chinese": (transformers.BertModel, transformers.BertConfig),
    "gpt2": (transformers.GPT2LMHeadModel, transformers.GPT2Config),
    "SmolLM2-135M": LLAMA,
    "Qwen2.5-0.5B": (transformers.Qwen2ForCausalLM, transformers.Qwen2Config),
    "TinyLlama-1.1B": LLAMA,
    "Gemma-2-2B": (transformers.Gemma2ForCausalLM, transformers.Gemma2Config),
    "Llama-2-7B": LLAMA,
    "Falcon-7B": (transformers.FalconForCausalLM, transformers.FalconConfig),
    "Mistral-7B-v0.1": (transformers.MistralForCausalLM, transformers.MistralConfig),
    "Llama-3-8B": LLAMA,
    "StarCoder": (transformers.GPTBigCodeForCausalLM, transformers.GPTBigCodeConfig),
    "Falcon-40B": (transformers.FalconForCausalLM, transformers.FalconConfig),
    "Llama-2-70B": LLAMA,
}
OPTIONS = {
    "distilbert-base-uncased": {"dim": 768, "hidden_dim": 3072},
    "StarCoder": {"n_inner": 24_576, "multi_query": True},
    "Falcon-7B": {"multi_query": True, "parallel_attn": True, "bias": False, "ffn_hidden_size": 18_176},
    "Falcon-40B": {"new_decoder_architecture": True, "bias": False, "ffn_hidden_size": 32_768},
}


@pytest.mark.parametrize("name", CLASSES)
def test_parameters_equal_numel(name):
    model_preset = preset(name)
    a, m = model_preset.attention, model_preset.model
    model_class, configure = CLASSES[name]
    settings = {
        "hidden_size": a.d_model, "num_hidden_layers": 1, "num_attention_heads": a.H, "num_key_value_heads": a.G,
        "num_kv_heads": a.G, "head_dim": a.d_k, "intermediate_size": m.d_ff, "vocab_size": m.vocabulary,
        "max_position_embeddings": model_preset.longest, "tie_word_embeddings": m.tied, "type_vocab_size": m.segments,
    }  # fmt: skip
    if name.startswith("Falcon"):
        settings.pop("head_dim")
    counts = []
    for layers in (1, 2):
        with torch.device("meta"):
            model = model_class(configure(**(settings | OPTIONS.get(name, {}) | {"num_hidden_layers": layers})))
        counts.append(sum(weight.numel() for weight in model.parameters()))
    one_layer = counts[1] - counts[0]
    assert model_parameters(m).total == counts[0] + (model_preset.n_layers - 1) * one_layer


def test_every_selectable_model_has_preset():
    """Encoder-decoders have none: a preset has one stack of one kind of layer.

    Nor have the two of requirements-models.txt: one has SmolLM2-135M's sizes, and the list of published models stays
    as it is, since links hold what it showed.
    """
    without = {"t5-small", "animals-en-zh", "SmolLM2-135M-Instruct", "multilingual-e5-small"}
    assert {entry.id for entry in registry.entries()} - without <= {model_preset.id for model_preset in presets()}


def test_presets_have_sources_and_are_unique():
    assert all(model_preset.source for model_preset in presets())
    assert len({model_preset.id for model_preset in presets()}) == len(presets()) == len(CLASSES)
