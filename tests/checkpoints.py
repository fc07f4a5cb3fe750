"""Small random checkpoints, one for each family, as ``save_pretrained`` writes them, each with a real tokenizer.

Sizes differ wherever a family lets them, so that a transpose or a mix-up cannot go unseen, and every parameter is
drawn wide, biases and norms too, so that attention is far from uniform.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers
from tokenizers import models as algorithms
from torch import Tensor

from viz.models import Capture, LoadedModel
from viz.models.load import load
from viz.models.registry import Entry

_NUMBERS = count()
TEXT = "The animal didn't cross the street because it was too tired."
SENTENCES = (TEXT, "The quick brown fox jumps over the lazy dog.", "Paris is old and Paris is big.", "今天天气很好。")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = 331


@dataclass(frozen=True, kw_only=True)
class Family:
    """A recipe for a small model of a family, and the facts that hold for it."""

    config: str
    model: str
    sizes: Mapping[str, Any]
    tokenizer: str
    n_heads: int
    n_kv_heads: int
    outputs: Mapping[str, str] = field(default_factory=dict)
    """W_O of layer i of each stack, counted from the model with its head."""


LLAMA = {
    "hidden_size": 42, "intermediate_size": 53, "num_hidden_layers": 2, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 10, "max_position_embeddings": 61,
}  # fmt: skip
GPT = {"n_embd": 35, "n_layer": 2, "n_head": 5, "n_positions": 61}
BERT = {
    "hidden_size": 35, "intermediate_size": 53, "num_hidden_layers": 2, "num_attention_heads": 5,
    "max_position_embeddings": 61, "pad_token_id": 0,
}  # fmt: skip
DECODER = "model.layers.{i}.self_attn.o_proj"
BART = {
    "d_model": 35, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 5,
    "decoder_attention_heads": 5, "encoder_ffn_dim": 53, "decoder_ffn_dim": 59, "max_position_embeddings": 61,
    "pad_token_id": 0, "eos_token_id": 3, "forced_eos_token_id": None,
}  # fmt: skip
BART_OUTPUTS = {
    "encoder": "model.encoder.layers.{i}.self_attn.out_proj",
    "decoder": "model.decoder.layers.{i}.self_attn.out_proj",
    "cross": "model.decoder.layers.{i}.encoder_attn.out_proj",
}

FAMILIES: dict[str, Family] = {
    "llama": Family(
        config="LlamaConfig", model="LlamaForCausalLM", tokenizer="bare", n_heads=6, n_kv_heads=2,
        sizes=LLAMA, outputs={"decoder": DECODER},
    ),
    "mistral": Family(
        config="MistralConfig", model="MistralForCausalLM", tokenizer="metaspace", n_heads=6, n_kv_heads=3,
        sizes=LLAMA | {"num_key_value_heads": 3, "sliding_window": 5}, outputs={"decoder": DECODER},
    ),
    "qwen2": Family(
        config="Qwen2Config", model="Qwen2ForCausalLM", tokenizer="bytes", n_heads=6, n_kv_heads=2,
        sizes={name: value for name, value in LLAMA.items() if name != "head_dim"} | {"hidden_size": 60},
        outputs={"decoder": DECODER},
    ),
    "gemma2": Family(
        config="Gemma2Config", model="Gemma2ForCausalLM", tokenizer="metaspace", n_heads=6, n_kv_heads=2,
        sizes=LLAMA | {"sliding_window": 5, "attn_logit_softcapping": 3.0, "query_pre_attn_scalar": 7},
        outputs={"decoder": DECODER},
    ),
    "gpt2": Family(
        config="GPT2Config", model="GPT2LMHeadModel", tokenizer="bytes", n_heads=5, n_kv_heads=5,
        sizes=GPT | {"scale_attn_by_inverse_layer_idx": True}, outputs={"decoder": "transformer.h.{i}.attn.c_proj"},
    ),
    "gpt_bigcode": Family(
        config="GPTBigCodeConfig", model="GPTBigCodeForCausalLM", tokenizer="bytes", n_heads=5, n_kv_heads=1,
        sizes=GPT, outputs={"decoder": "transformer.h.{i}.attn.c_proj"},
    ),
    "gpt_bigcode_mha": Family(
        config="GPTBigCodeConfig", model="GPTBigCodeForCausalLM", tokenizer="bytes", n_heads=5, n_kv_heads=5,
        sizes=GPT | {"multi_query": False}, outputs={"decoder": "transformer.h.{i}.attn.c_proj"},
    ),
    "bert": Family(
        config="BertConfig", model="BertForMaskedLM", tokenizer="wordpiece", n_heads=5, n_kv_heads=5,
        sizes=BERT, outputs={"encoder": "bert.encoder.layer.{i}.attention.output.dense"},
    ),
    "distilbert": Family(
        config="DistilBertConfig", model="DistilBertForMaskedLM", tokenizer="wordpiece", n_heads=5, n_kv_heads=5,
        sizes={"dim": 35, "hidden_dim": 53, "n_layers": 2, "n_heads": 5, "max_position_embeddings": 61},
        outputs={"encoder": "distilbert.transformer.layer.{i}.attention.out_lin"},
    ),
    "t5": Family(
        config="T5Config", model="T5ForConditionalGeneration", tokenizer="metaspace", n_heads=5, n_kv_heads=5,
        sizes={
            "d_model": 33, "d_kv": 7, "d_ff": 53, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 5,
            "relative_attention_num_buckets": 8, "decoder_start_token_id": 0, "pad_token_id": 0,
        },
        outputs={
            "encoder": "encoder.block.{i}.layer.0.SelfAttention.o",
            "decoder": "decoder.block.{i}.layer.0.SelfAttention.o",
            "cross": "decoder.block.{i}.layer.1.EncDecAttention.o",
        },
    ),
    "bart": Family(
        config="BartConfig", model="BartForConditionalGeneration", tokenizer="metaspace", n_heads=5, n_kv_heads=5,
        sizes=BART | {"bos_token_id": 2, "decoder_start_token_id": 3}, outputs=BART_OUTPUTS,
    ),
    "marian": Family(
        config="MarianConfig", model="MarianMTModel", tokenizer="metaspace", n_heads=5, n_kv_heads=5,
        sizes=BART | {"scale_embedding": True, "decoder_start_token_id": 0}, outputs=BART_OUTPUTS,
    ),
}  # fmt: skip
ENCODED = {"encoder": "{base}.encoder.layer.{i}.attention.output.dense"}


def _like_bert(name: str, base: str, **sizes: Any) -> Family:
    return Family(
        config=f"{name}Config", model=f"{name}ForMaskedLM", tokenizer="wordpiece", n_heads=5, n_kv_heads=5,
        sizes=BERT | sizes, outputs={stack: place.replace("{base}", base) for stack, place in ENCODED.items()},
    )  # fmt: skip


def _like_llama(name: str, n_kv_heads: int = 2, **sizes: Any) -> Family:
    return Family(
        config=f"{name}Config", model=f"{name.removesuffix('Text')}ForCausalLM", tokenizer="metaspace", n_heads=6,
        n_kv_heads=n_kv_heads, sizes=LLAMA | {"pad_token_id": 0} | sizes, outputs={"decoder": DECODER},
    )  # fmt: skip


_NO_GROUPS = {name: value for name, value in LLAMA.items() if name != "num_key_value_heads"} | {"pad_token_id": 0}
MORE: dict[str, Family] = {
    "roberta": _like_bert("Roberta", "roberta", pad_token_id=1),
    "xlm-roberta": _like_bert("XLMRoberta", "roberta", pad_token_id=1),
    "camembert": _like_bert("Camembert", "roberta", pad_token_id=1),
    "ernie": _like_bert("Ernie", "ernie"),
    "electra": _like_bert("Electra", "electra", embedding_size=17),
    "albert": Family(
        config="AlbertConfig", model="AlbertForMaskedLM", tokenizer="wordpiece", n_heads=5, n_kv_heads=5,
        sizes=BERT | {"embedding_size": 17},
        outputs={"encoder": "albert.encoder.albert_layer_groups.0.albert_layers.0.attention.dense"},
    ),
    "opt": Family(
        config="OPTConfig", model="OPTForCausalLM", tokenizer="bytes", n_heads=5, n_kv_heads=5,
        sizes={
            "hidden_size": 35, "ffn_dim": 53, "num_hidden_layers": 2, "num_attention_heads": 5,
            "max_position_embeddings": 61, "word_embed_proj_dim": 35,
        },
        outputs={"decoder": "model.decoder.layers.{i}.self_attn.out_proj"},
    ),
    "gpt_neox": Family(
        config="GPTNeoXConfig", model="GPTNeoXForCausalLM", tokenizer="bytes", n_heads=6, n_kv_heads=6,
        sizes=_NO_GROUPS | {"hidden_size": 60, "rotary_pct": 0.4},
        outputs={"decoder": "gpt_neox.layers.{i}.attention.dense"},
    ),
    "phi": Family(
        config="PhiConfig", model="PhiForCausalLM", tokenizer="bytes", n_heads=6, n_kv_heads=2,
        sizes=LLAMA | {"hidden_size": 60, "pad_token_id": 0, "partial_rotary_factor": 0.4},
        outputs={"decoder": "model.layers.{i}.self_attn.dense"},
    ),
    "phi3": _like_llama("Phi3", hidden_size=60),
    "gemma": _like_llama("Gemma", n_kv_heads=1, num_key_value_heads=1),
    "gemma3_text": _like_llama("Gemma3Text", sliding_window=5, query_pre_attn_scalar=7),
    "qwen3": _like_llama("Qwen3"),
    "olmo2": _like_llama("Olmo2", hidden_size=60),
    "smollm3": _like_llama("SmolLM3", hidden_size=60, no_rope_layers=[1, 0]),
    "starcoder2": _like_llama("Starcoder2", hidden_size=60),
    "granite": _like_llama("Granite", hidden_size=60, attention_multiplier=0.3),
    "mixtral": _like_llama("Mixtral", hidden_size=60, intermediate_size=56, num_local_experts=3),
    "mt5": replace(FAMILIES["t5"], config="MT5Config", model="MT5ForConditionalGeneration"),
}  # fmt: skip
"""Families that keep what those above keep elsewhere, or do a little more: one test holds each to transformers."""
EXPERTS = {
    "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2,
    "moe_intermediate_size": 20, "shared_expert_intermediate_size": 20, "intermediate_size": 56,
}  # fmt: skip
LIKE_LLAMA: dict[str, tuple[str, Mapping[str, Any]]] = {
    "arcee": ("Arcee", {}), "olmo": ("Olmo", {}), "cohere": ("Cohere", {}), "cohere2": ("Cohere2", {}),
    "ernie4_5": ("Ernie4_5", {}), "ernie4_5_moe": ("Ernie4_5_Moe", EXPERTS | {"moe_num_experts": 4}),
    "glm": ("Glm", {}), "glm4": ("Glm4", {}), "granitemoe": ("GraniteMoe", EXPERTS),
    "granitemoeshared": ("GraniteMoeShared", EXPERTS), "helium": ("Helium", {}), "seed_oss": ("SeedOss", {}),
    "nemotron": ("Nemotron", {}), "phimoe": ("Phimoe", EXPERTS), "qwen2_moe": ("Qwen2Moe", EXPERTS),
    "ministral": ("Ministral", {}), "ministral3": ("Ministral3", {}), "stablelm": ("StableLm", {"qk_layernorm": True}),
    "vaultgemma": ("VaultGemma", {}), "jais2": ("Jais2", {}), "olmo3": ("Olmo3", {}), "olmoe": ("Olmoe", EXPERTS),
    "exaone4": ("Exaone4", {"sliding_window_pattern": 2}), "exaone_moe": ("ExaoneMoe", EXPERTS),
    "glm4_moe": ("Glm4Moe", EXPERTS | {"use_qk_norm": True}), "hunyuan_v1_dense": ("HunYuanDenseV1", {}),
    "hunyuan_v1_moe": ("HunYuanMoEV1", EXPERTS | {"moe_topk": 2}), "hy_v3": ("HYV3", EXPERTS),
    "qwen3_moe": ("Qwen3Moe", EXPERTS), "minimax_m2": ("MiniMaxM2", EXPERTS), "apertus": ("Apertus", {}),
    "nanochat": ("NanoChat", {}), "dots1": ("Dots1", EXPERTS | {"n_shared_experts": 1, "n_group": 1, "topk_group": 1}),
    "kolibri1": ("Kolibri1", EXPERTS), "mellum": ("Mellum", EXPERTS), "cwm": ("Cwm", {}),
    "solar_open": ("SolarOpen", EXPERTS), "flex_olmo": ("FlexOlmo", EXPERTS), "apertus1p5_text": ("Apertus1p5Text", {}),
    "gpt_oss": ("GptOss", EXPERTS), "flint": ("Flint", EXPERTS), "granite_swa": ("GraniteSWA", {}),
    "granitemoe_swa": ("GraniteMoeSWA", EXPERTS), "afmoe": ("Afmoe", EXPERTS), "laguna": ("Laguna", EXPERTS),
    "exaone": ("Exaone", {}), "sarvam_moe": ("SarvamMoE", EXPERTS | {"n_group": 1, "topk_group": 1}),
}  # fmt: skip
"""Class and further sizes of families that keep their heads where Llama does."""
MORE |= {
    name: _like_llama(known_as, **{"hidden_size": 60, "sliding_window": 5} | dict(sizes))
    for name, (known_as, sizes) in LIKE_LLAMA.items()
}
MORE |= {
    "llama4_text": _like_llama("Llama4Text", **EXPERTS | {
        "hidden_size": 60, "intermediate_size_mlp": 52, "attention_chunk_size": 16, "num_hidden_layers": 4,
    }),
    "persimmon": Family(
        config="PersimmonConfig", model="PersimmonForCausalLM", tokenizer="metaspace", n_heads=6, n_kv_heads=6,
        sizes=_NO_GROUPS | {"hidden_size": 60, "rope_parameters": {
            "rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 0.4,
        }},
        outputs={"decoder": "model.layers.{i}.self_attn.dense"},
    ),
    "biogpt": Family(
        config="BioGptConfig", model="BioGptForCausalLM", tokenizer="metaspace", n_heads=5, n_kv_heads=5,
        sizes=BERT, outputs={"decoder": "biogpt.layers.{i}.self_attn.out_proj"},
    ),
    "modernbert-decoder": Family(
        config="ModernBertDecoderConfig", model="ModernBertDecoderForCausalLM", tokenizer="metaspace", n_heads=6,
        n_kv_heads=6, sizes=_NO_GROUPS | {"hidden_size": 60, "local_attention": 8},
        outputs={"decoder": "model.layers.{i}.attn.Wo"},
    ),
    "modernbert": Family(
        config="ModernBertConfig", model="ModernBertForMaskedLM", tokenizer="wordpiece", n_heads=6, n_kv_heads=6,
        sizes=_NO_GROUPS | {"hidden_size": 60, "local_attention": 8}, outputs={"encoder": "model.layers.{i}.attn.Wo"},
    ),
    "eurobert": Family(
        config="EuroBertConfig", model="EuroBertForMaskedLM", tokenizer="wordpiece", n_heads=6, n_kv_heads=2,
        sizes=LLAMA | {"hidden_size": 60, "pad_token_id": 0}, outputs={"encoder": "model.layers.{i}.self_attn.o_proj"},
    ),
    **{
        name: Family(
            config=f"{known_as}Config", model=f"{known_as}ForMaskedLM", tokenizer="wordpiece", n_heads=6, n_kv_heads=6,
            sizes=_NO_GROUPS | {"hidden_size": 60}, outputs={"encoder": f"{base}.layers.{{i}}.self_attn.o_proj"},
        )
        for name, known_as, base in (
            ("gte", "Gte", "gte"), ("nomic_bert", "NomicBert", "nomic_bert"),
            ("jina_embeddings_v3", "JinaEmbeddingsV3", "roberta"),
        )
    },
    "data2vec-text": _like_bert("Data2VecText", "data2vec_text", pad_token_id=1),
    "markuplm": replace(
        _like_bert("MarkupLM", "", pad_token_id=1, max_depth=2, xpath_unit_hidden_size=1), model="MarkupLMModel",
        outputs={"encoder": "encoder.layer.{i}.attention.output.dense"},
    ),
    "bridgetower_text_model": replace(
        _like_bert("BridgeTowerText", "", pad_token_id=1),
        model="models.bridgetower.modeling_bridgetower.BridgeTowerTextModel",
        outputs={"encoder": "encoder.layer.{i}.attention.output.dense"},
    ),
    "kosmos_2_5_text_model": Family(
        config="Kosmos2_5TextConfig", model="models.kosmos2_5.modeling_kosmos2_5.Kosmos2_5TextForCausalLM",
        tokenizer="metaspace", n_heads=5, n_kv_heads=5,
        sizes={
            "embed_dim": 40, "layers": 2, "ffn_dim": 53, "attention_heads": 5, "max_position_embeddings": 61,
            "pad_token_id": 1,
        },
        outputs={"decoder": "model.layers.{i}.self_attn.out_proj"},
    ),
    "roberta-prelayernorm": _like_bert("RobertaPreLayerNorm", "roberta_prelayernorm", pad_token_id=1),
    "xlm-roberta-xl": _like_bert("XLMRobertaXL", "roberta", pad_token_id=1),
    "roc_bert": _like_bert("RoCBert", "roc_bert", initializer_range=1.0),
    "layoutlm": _like_bert("LayoutLM", "layoutlm", initializer_range=1.0),
    "bert-generation": Family(
        config="BertGenerationConfig", model="BertGenerationDecoder", tokenizer="metaspace", n_heads=5, n_kv_heads=5,
        sizes=BERT | {"is_decoder": True}, outputs={"decoder": "bert.encoder.layer.{i}.attention.output.dense"},
    ),
    "hyperclovax": _like_llama("HyperCLOVAX", hidden_size=60),
    "umt5": replace(FAMILIES["t5"], config="UMT5Config", model="UMT5ForConditionalGeneration"),
    **{
        name: replace(FAMILIES["bart"], config=f"{known_as}Config", model=f"{known_as}ForConditionalGeneration")
        for name, known_as in (
            ("mbart", "MBart"), ("pegasus", "Pegasus"), ("blenderbot", "Blenderbot"),
            ("blenderbot-small", "BlenderbotSmall"), ("plbart", "PLBart"), ("m2m_100", "M2M100"),
        )
    },
    **{
        name: replace(_like_llama(known_as, hidden_size=60), model="LlamaForCausalLM")
        for name, known_as in (("internlm3", "InternLM3"), ("iquestcoder", "IQuestCoder"))
    },
    "esm": _like_bert("Esm", "esm", position_embedding_type="rotary", hidden_size=60, mask_token_id=4),
}  # fmt: skip
LINEAR = {
    "linear_num_key_heads": 2, "linear_num_value_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
}  # fmt: skip
MAMBA = {
    "mamba_d_ssm": 48, "mamba_n_heads": 6, "mamba_d_head": 20, "mamba_d_state": 8, "mamba_chunk_size": 8,
    "mamba_dt_rank": 3,
}  # fmt: skip
NEMOTRON = {
    "ssm_state_size": 8, "mamba_num_heads": 6, "mamba_head_dim": 10, "n_groups": 1, "chunk_size": 8,
    "layers_block_type": ["linear_attention", "full_attention", "moe", "full_attention"],
    "moe_shared_expert_intermediate_size": 20,
}  # fmt: skip
MIXED = ["linear_attention", "full_attention", "linear_attention", "full_attention"]
SOME_CONVOLVE = ["conv", "full_attention", "conv", "full_attention"]
LFM = {"layer_types": SOME_CONVOLVE, "num_experts": 4, "num_dense_layers": 1, "block_auto_adjust_ff_dim": False}
LFM_OUTPUT = "model.layers.{i}.self_attn.out_proj"
HYBRIDS: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    "qwen3_next": ("Qwen3Next", DECODER, EXPERTS | LINEAR | {"layer_types": MIXED}),
    "qwen3_5_text": ("Qwen3_5Text", DECODER, LINEAR | {"layer_types": MIXED}),
    "qwen3_5_moe_text": ("Qwen3_5MoeText", DECODER, EXPERTS | LINEAR | {"layer_types": MIXED}),
    "olmo_hybrid": ("OlmoHybrid", DECODER, LINEAR | {"layer_types": MIXED}),
    "minimax": ("MiniMax", DECODER, EXPERTS | {"layer_types": MIXED, "block_size": 8}),
    "lfm2": ("Lfm2", LFM_OUTPUT, LFM), "lfm2_moe": ("Lfm2Moe", LFM_OUTPUT, EXPERTS | LFM),
    "lara_mini": ("LaraMini", DECODER, EXPERTS | LINEAR | {
        "layer_types": ["linear_attention", "full_attention", "linear_attention", "sliding_attention"],
        "sliding_window": 5,
    }),
    "lfm3": ("Lfm3", DECODER, {"layer_types": ["conv", "full_attention", "conv", "sliding_attention"]}),
    "bamba": ("Bamba", DECODER, MAMBA | {"attn_layer_indices": [1, 3]}),
    "granitemoehybrid": ("GraniteMoeHybrid", DECODER, EXPERTS | MAMBA | {"layer_types": MIXED}),
    "falcon_h1": ("FalconH1", DECODER, MAMBA | {"mamba_d_head": 8, "key_multiplier": 0.7}),
    "jamba": ("Jamba", DECODER, EXPERTS | MAMBA | {
        "attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False,
    }),
    "nemotron_h": ("NemotronH", "model.layers.{i}.mixer.o_proj", EXPERTS | NEMOTRON),
    "recurrent_gemma": ("RecurrentGemma", "model.layers.{i}.temporal_block.o_proj", {
        "block_types": ["recurrent", "attention"], "attention_window_size": 5, "lru_width": 60,
    }),
}  # fmt: skip
"""Class, place of W_O and further sizes of families in which only layers 1 and 3 attend; in Falcon's all do."""
MORE |= {
    name: Family(
        config=f"{known_as}Config", model=f"{known_as.removesuffix('Text')}ForCausalLM", tokenizer="metaspace",
        n_heads=6, n_kv_heads=2, outputs={"decoder": output},
        sizes=LLAMA | {"hidden_size": 60, "pad_token_id": 0, "num_hidden_layers": 4} | dict(sizes),
    )
    for name, (known_as, output, sizes) in HYBRIDS.items()
}  # fmt: skip
LATENT_SIZES = {
    "q_lora_rank": 13, "kv_lora_rank": 11, "qk_nope_head_dim": 7, "qk_rope_head_dim": 4, "qk_head_dim": 11,
    "v_head_dim": 5, "head_dim": 4, "num_key_value_heads": 6, "n_group": 1, "topk_group": 1, "n_shared_experts": 1,
    "first_k_dense_replace": 1, "hidden_size": 60,
}  # fmt: skip
LINEAR_HEADS = {"linear_head_dim": 8, "linear_num_heads": 2, "num_experts_per_token": 2}
INDEXER = {"index_topk": 5, "index_n_heads": 7, "index_head_dim": 14}
LATENT: dict[str, tuple[str, Mapping[str, Any]]] = {
    "deepseek_v2": ("DeepseekV2", EXPERTS | {
        "q_lora_rank": None, "kv_lora_rank": 8, "qk_nope_head_dim": 6, "qk_head_dim": 10,
    }), "deepseek_v3": ("DeepseekV3", EXPERTS),
    "deepseek_v32": ("DeepseekV32", EXPERTS | INDEXER), "glm_moe_dsa": ("GlmMoeDsa", EXPERTS | INDEXER | {
        "indexer_types": ["full", "shared", "full"], "num_hidden_layers": 3,
    }),
    "glm4_moe_lite": ("Glm4MoeLite", EXPERTS), "minicpm3": ("MiniCPM3", {}), "youtu": ("Youtu", {}),
    "axk1": ("AXK1", EXPERTS), "sarvam_mla": ("SarvamMLA", EXPERTS),
    "mistral4": ("Mistral4", EXPERTS | {"qk_nope_head_dim": 4}),
    "kimi_linear": ("KimiLinear", EXPERTS | LINEAR_HEADS | {"layer_types": MIXED, "num_hidden_layers": 4}),
    "bailing_hybrid": ("BailingHybrid", EXPERTS | LINEAR_HEADS | {"layer_types": MIXED, "num_hidden_layers": 4}),
}  # fmt: skip
"""Families with latent attention, with values of another width than queries; two are hybrids."""
MORE |= {name: _like_llama(known_as, 6, **LATENT_SIZES | dict(sizes)) for name, (known_as, sizes) in LATENT.items()}
TODAY: dict[str, tuple[str, int, str, Mapping[str, Any]]] = {
    "gemma4_text": ("Gemma4Text", 2, DECODER, {
        "global_head_dim": 14, "hidden_size_per_layer_input": 6, "vocab_size_per_layer_input": VOCABULARY,
        "num_kv_shared_layers": 2, "num_hidden_layers": 5, "use_double_wide_mlp": True,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"] + ["full_attention"] * 2,
    }),
    "gemma4_unified_text": ("Gemma4UnifiedText", 3, DECODER, {
        "global_head_dim": 14, "num_key_value_heads": 3, "num_global_key_value_heads": 2, "attention_k_eq_v": True,
        "layer_types": ["sliding_attention", "full_attention"],
    }),
    "mimo_v2_flash": ("MiMoV2Flash", 4, DECODER, EXPERTS | {
        "v_head_dim": 7, "attention_value_scale": 0.7, "layer_types": ["sliding_attention", "full_attention"],
        "num_attention_heads": 8,
    }),
    "longcat_flash": ("LongcatFlash", 6, "model.layers.{block}.self_attn.{place}.o_proj", EXPERTS | LATENT_SIZES | {
        "num_layers": 2, "ffn_hidden_size": 53, "expert_ffn_hidden_size": 20, "moe_topk": 2, "zero_expert_num": 2,
    }),
}  # fmt: skip
"""Class, key/value heads of the first layer, place of W_O and further sizes of families that differ by layer."""
MORE |= {
    name: replace(
        _like_llama(known_as, n_kv_heads, **{"hidden_size": 60, "sliding_window": 5} | dict(sizes)),
        outputs={"decoder": output}, n_heads=sizes.get("num_attention_heads", 6),
    )
    for name, (known_as, n_kv_heads, output, sizes) in TODAY.items()
}  # fmt: skip
T5GEMMA = {
    "num_hidden_layers": 2, "hidden_size": 60, "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10,
    "intermediate_size": 53, "max_position_embeddings": 61, "vocab_size": VOCABULARY, "pad_token_id": 0,
    "sliding_window": 5, "attn_logit_softcapping": 3.0, "query_pre_attn_scalar": 7,
}  # fmt: skip
CROSS_OUTPUTS = {stack: f"model.{place}" for stack, place in {
    "encoder": "encoder.layers.{i}.self_attn.o_proj", "decoder": "decoder.layers.{i}.self_attn.o_proj",
    "cross": "decoder.layers.{i}.cross_attn.o_proj",
}.items()}  # fmt: skip
ROPE = {"rope_type": "default", "rope_theta": 10_000.0}
SECTIONS = {"rope_parameters": ROPE | {"mrope_section": [1, 2, 2]}}
PART_SECTIONS = {"rope_parameters": ROPE | {"mrope_section": [1, 1, 1], "partial_rotary_factor": 0.6}}
PARTS: dict[str, tuple[str, Mapping[str, Any]]] = {
    "cosmos3_edge_text": ("Cosmos3EdgeTextModel", SECTIONS), "qwen2_vl_text": ("Qwen2VLTextModel", SECTIONS),
    "qwen2_5_vl_text": ("Qwen2_5_VLTextModel", SECTIONS), "qwen3_vl_text": ("Qwen3VLTextModel", SECTIONS),
    "qwen3_vl_moe_text": ("Qwen3VLMoeTextModel", EXPERTS | SECTIONS), "glm4v_text": ("Glm4vTextModel", PART_SECTIONS),
    "glm4v_moe_text": ("Glm4vMoeTextModel", EXPERTS | PART_SECTIONS),
    "glm_ocr_text": ("GlmOcrTextModel", PART_SECTIONS), "glm_image_text": ("GlmImageTextModel", PART_SECTIONS),
    "hunyuan_vl_text": ("HunYuanVLTextModel", SECTIONS), "granite_docling_text": ("GraniteDoclingTextModel", {}),
    "molmo2_text": ("Molmo2TextModel", {}), "muse_glimmer_text": ("MuseGlimmerTextModel", {}),
    "qwen2_5_omni_text": ("Qwen2_5OmniThinkerTextModel", SECTIONS),
    "qwen3_omni_moe_text": ("Qwen3OmniMoeThinkerTextModel", EXPERTS | SECTIONS),
    "paddleocr_vl_text": ("PaddleOCRTextModel", SECTIONS), "granite4_vision_text": ("Granite4VisionTextModel", {}),
    "ernie4_5_vl_moe_text": ("Ernie4_5_VLMoeTextModel", EXPERTS | {
        "rope_parameters": ROPE | {"mrope_section": [2, 2, 1]}, "moe_num_experts": 4, "moe_intermediate_size": [20, 20],
    }),
    "unlimited_ocr_text": ("UnlimitedOcrTextModel", EXPERTS | {"num_key_value_heads": 6}),
    "step3p5": ("Step3p7TextModel", EXPERTS | {
        "share_expert_dim": 20, "mlp_layer_types": ["dense", "sparse"],
        "layer_types": ["full_attention", "sliding_attention"],
    }),
    "deepseek_ocr2_text": ("DeepseekOcr2TextModel", EXPERTS | {
        "num_key_value_heads": 6, "mlp_layer_types": ["dense", "sparse"],
    }),
}  # fmt: skip
"""Class and further sizes of the text parts of models that read pictures too; they have no head of their own."""


def _like_part(model: str, sizes: Mapping[str, Any]) -> Family:
    like = _like_llama(
        "", sizes.get("num_key_value_heads", 2), **{"hidden_size": 60, "sliding_window": 5} | dict(sizes)
    )
    config = model.replace("Thinker", "").replace("Model", "Config")
    return replace(like, model=model, config=config, outputs={"decoder": "layers.{i}.self_attn.o_proj"})


MORE |= {name: _like_part(model, sizes) for name, (model, sizes) in PARTS.items()}
MORE |= {
    "aria_text": replace(
        _like_llama("AriaText", hidden_size=60, **EXPERTS | {"moe_num_experts": 4, "moe_topk": 2}),
        model="AriaTextForCausalLM",
    ),
    "embedding_gemma2_text": replace(
        _like_llama("EmbeddingGemma2Text", hidden_size=60, sliding_window=5, hidden_size_per_layer_input=6),
        model="EmbeddingGemma2TextModel", outputs={"encoder": "layers.{i}.self_attn.o_proj"},
    ),
    "minimax_m3_vl_text": replace(
        _like_llama("MiniMaxM3VLText", hidden_size=60, layer_types=["minimax_m3_sparse"] * 2, **EXPERTS | {
            "index_n_heads": 2, "index_head_dim": 14, "index_block_size": 3, "index_topk_blocks": 2, "bos_token_id": 1,
            "eos_token_id": 2,
        }),
        model="MiniMaxM3VLForCausalLM",
    ),
    "emu3_text_model": replace(_like_llama("Emu3Text", hidden_size=60), model="Emu3ForCausalLM"),
    "mllama_text_model": replace(
        _like_llama("MllamaText", hidden_size=60, cross_attention_layers=[1], num_hidden_layers=4),
        model="MllamaForCausalLM",
    ),
    "cohere_compass_text": replace(
        _like_llama("CohereCompassText", hidden_size=60, sliding_window=5, rope_parameters={
            "sliding_attention": SECTIONS["rope_parameters"], "full_attention": None,
        }, layer_types=["sliding_attention", "full_attention"]),
        model="CohereCompassForCausalLM",
    ),
    "cohere2_moe": _like_llama("Cohere2Moe", hidden_size=60, sliding_window=5, **EXPERTS),
    "beam": _like_llama("Beam", hidden_size=60, sliding_window=5, **EXPERTS | {"n_group": 1, "topk_group": 1}),
    "openai_privacy_filter": replace(
        _like_llama("OpenAIPrivacyFilter", hidden_size=60, sliding_window=5, **EXPERTS),
        model="OpenAIPrivacyFilterModel", outputs={"encoder": "layers.{i}.self_attn.o_proj"},
    ),
    "phi4_multimodal": _like_llama(
        "Phi4Multimodal", hidden_size=60,
        vision_config={"hidden_size": 12, "intermediate_size": 14, "num_hidden_layers": 2, "num_attention_heads": 2},
        audio_config={
            "hidden_size": 12, "intermediate_size": 14, "num_blocks": 2, "num_attention_heads": 2,
            "ext_pw_out_channel": 12, "depthwise_separable_out_channel": 12, "nemo_conv_channels": 12,
        },
    ),
    "esmc": replace(
        MORE["gte"], config="EsmcConfig", model="EsmcForMaskedLM",
        outputs={"encoder": "esmc.layers.{i}.self_attn.o_proj"},
    ),
    "ultrabert": replace(
        MORE["gte"], config="UltrabertConfig", model="UltrabertForMaskedLM",
        sizes=_NO_GROUPS | {"hidden_size": 60, "sliding_window": 5, "prediction_head_size": 17},
        outputs={"encoder": "model.layers.{i}.self_attn.o_proj"},
    ),
    "nllb-moe": replace(
        MORE["m2m_100"], config="NllbMoeConfig", model="NllbMoeForConditionalGeneration",
        sizes=dict(MORE["m2m_100"].sizes) | {"num_experts": 4, "expert_capacity": 64},
    ),
    "switch_transformers": replace(
        FAMILIES["t5"], config="SwitchTransformersConfig", model="SwitchTransformersForConditionalGeneration",
        sizes=dict(FAMILIES["t5"].sizes)
        | {"num_experts": 4, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1},
    ),
    "t5gemma": Family(
        config="T5GemmaConfig", model="T5GemmaForConditionalGeneration", tokenizer="metaspace", n_heads=6, n_kv_heads=2,
        sizes={"encoder": T5GEMMA, "decoder": T5GEMMA | {"num_hidden_layers": 3}, "decoder_start_token_id": 2},
        outputs=CROSS_OUTPUTS,
    ),
    "splinter": replace(_like_bert("Splinter", "splinter"), model="SplinterModel", outputs={
        "encoder": "encoder.layer.{i}.attention.output.dense"
    }),
    "ctrl": Family(
        config="CTRLConfig", model="CTRLLMHeadModel", tokenizer="bytes", n_heads=5, n_kv_heads=5,
        sizes=GPT | {"dff": 53}, outputs={"decoder": "transformer.h.{i}.multi_head_attention.dense"},
    ),
    **{
        f"{name}_text_model": Family(
            config=f"{known_as}TextConfig", model=f"{known_as}TextModel", tokenizer="wordpiece", n_heads=5,
            n_kv_heads=5, sizes=BERT | sizes, outputs={"encoder": place},
        )
        for place, sizes, names in (
            ("encoder.layers.{i}.self_attn.out_proj", {"eos_token_id": 3}, {
                "clip": "CLIP", "clipseg": "CLIPSeg", "metaclip_2": "MetaClip2", "siglip": "Siglip",
                "siglip2": "Siglip2", "xclip": "XCLIP", "tipsv2": "Tipsv2",
            }),
            ("text_model.encoder.layers.{i}.self_attn.out_proj", {"eos_token_id": 3}, {
                "owlv2": "Owlv2", "owlvit": "OwlViT",
            }),
            ("encoder.layers.{i}.attention.out_proj", {"eos_token_id": 3}, {"aimv2": "Aimv2"}),
            ("encoder.layer.{i}.attention.output.dense", {}, {"align": "Align", "chinese_clip": "ChineseCLIP"}),
            ("encoder.layer.{i}.attention.output.dense", {"pad_token_id": 1}, {"clap": "Clap"}),
        )
        for name, known_as in names.items()
    },
    "altclip_text_model": replace(
        _like_bert("AltCLIP", "roberta", pad_token_id=1), config="AltCLIPTextConfig", model="AltCLIPTextModel",
        outputs={"encoder": "roberta.encoder.layers.{i}.attention.output.dense"},
    ),
    "dpr": replace(_like_bert("DPR", "dpr"), model="DPRQuestionEncoder", outputs={
        "encoder": "question_encoder.bert_model.encoder.layer.{i}.attention.output.dense"
    }),
    "gpt-sw3": FAMILIES["gpt2"],
}  # fmt: skip
BY_CONFIGURATION = ("exaone", "sarvam_mla", "sarvam_moe")
"""Families with a configuration of their own, and the classes of another."""
MORE |= {name: replace(MORE[name], model="AutoModelForCausalLM") for name in BY_CONFIGURATION}
MORE["apertus1p5_text"] = replace(MORE["apertus1p5_text"], model="Apertus1p5TextForCausalLM")
NEWER = tuple(name for name, family in MORE.items() if not hasattr(transformers, family.config))
"""Families that the transformers installed here does not know yet; a newer one that the requirements allow does."""
for name in NEWER:
    del MORE[name]
BEFORE_SINK = ("granite_swa", "granitemoe_swa")
"""Families whose eager attention hands out its maps as they are before the sink takes its share; outputs come after."""
TWO_SEQUENCES = tuple(name for name, family in FAMILIES.items() if "cross" in family.outputs)
"""The encoder-decoders."""


MAPS_SIZES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bloom": ("Bloom", "ForCausalLM", {"hidden_size": 40, "n_layer": 2, "n_head": 4}),
    "codegen": ("CodeGen", "ForCausalLM", {
        "n_embd": 64, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 61,
    }),
    "deberta": ("Deberta", "ForMaskedLM", BERT | {"pos_att_type": ["c2p", "p2c"], "relative_attention": True}),
    "deberta-v2": ("DebertaV2", "ForMaskedLM", BERT | {"pos_att_type": ["c2p", "p2c"], "relative_attention": True}),
    "gpt_neo": ("GPTNeo", "ForCausalLM", {
        "hidden_size": 40, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]],
        "window_size": 5, "max_position_embeddings": 61,
    }),
    "gpt_neox_japanese": ("GPTNeoXJapanese", "ForCausalLM", {
        "hidden_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_multiple_size": 2,
        "max_position_embeddings": 61,
    }),
    "gptj": ("GPTJ", "ForCausalLM", {"n_embd": 40, "n_layer": 2, "n_head": 4, "rotary_dim": 4, "n_positions": 61}),
    "falcon": ("Falcon", "ForCausalLM", {
        "hidden_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4, "bos_token_id": 0, "eos_token_id": 0,
    }),
    "flaubert": ("Flaubert", "WithLMHeadModel", {
        "emb_dim": 40, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 61,
    }),
    "luke": ("Luke", "ForMaskedLM", BERT | {"entity_vocab_size": 7, "entity_emb_size": 20}),
    "megatron-bert": ("MegatronBert", "ForMaskedLM", BERT),
    "tapas": ("Tapas", "ForMaskedLM", BERT),
    "visual_bert": ("VisualBert", "ForPreTraining", BERT),
    "xlm": ("XLM", "WithLMHeadModel", {
        "emb_dim": 40, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 61,
    }),
    "mpnet": ("MPNet", "ForMaskedLM", BERT),
    "mpt": ("Mpt", "ForCausalLM", {"d_model": 40, "n_layers": 2, "n_heads": 4, "max_seq_len": 61}),
    "openai-gpt": ("OpenAIGPT", "LMHeadModel", {"n_embd": 40, "n_layer": 2, "n_head": 4, "n_positions": 61}),
    "rembert": ("RemBert", "ForMaskedLM", BERT | {"input_embedding_size": 20, "output_embedding_size": 20}),
    "roformer": ("RoFormer", "ForMaskedLM", BERT | {"hidden_size": 40}),
    "xglm": ("XGLM", "ForCausalLM", {
        "d_model": 40, "num_layers": 2, "attention_heads": 4, "ffn_dim": 48, "max_position_embeddings": 61,
    }),
    "xlnet": ("XLNet", "LMHeadModel", {"d_model": 40, "n_layer": 2, "n_head": 4, "d_inner": 48}),
}  # fmt: skip
MAPS = {
    name: Family(
        config=f"{base}Config", model=base + end, sizes=sizes, n_heads=5 if "Bert" in base else 4, n_kv_heads=1,
        tokenizer="wordpiece" if end == "ForMaskedLM" else "bytes",
    )
    for name, (base, end, sizes) in MAPS_SIZES.items()
}  # fmt: skip
"""Families that hand out their maps alone."""


def _wordpiece() -> Tokenizer:
    """BERT's kind; saved with truncation and padding switched on, as all-MiniLM-L6-v2's is."""
    tokenizer = Tokenizer(algorithms.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=75, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )  # fmt: skip
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    return tokenizer


def _bytes() -> Tokenizer:
    """GPT-2's kind: pieces of bytes."""
    tokenizer = Tokenizer(algorithms.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        SENTENCES[:3], trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=alphabet, show_progress=False)
    )
    return tokenizer


def _metaspace() -> Tokenizer:
    """SentencePiece's kind, with an end mark as T5 has."""
    tokenizer = Tokenizer(algorithms.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=75, special_tokens=SPECIAL, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A [SEP]", special_tokens=[("[SEP]", 3)])
    return tokenizer


def _bare() -> Tokenizer:
    """Llama 2's kind: no pre-tokenizer, so that its "word" is the whole text."""
    # Learned pieces stop at spaces.
    processed = Tokenizer(_metaspace().model)
    processed.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    processed.decoder = decoders.Metaspace()
    return processed


MAKERS = {"wordpiece": _wordpiece, "bytes": _bytes, "metaspace": _metaspace, "bare": _bare}


@cache
def _fast_tokenizer(kind: str) -> Any:
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=MAKERS[kind](), model_max_length=61, **({} if kind == "bytes" else names)
    )


def save_tokenizer(kind: str, folder: Path) -> None:
    """Write tokenizer.json and tokenizer_config.json."""
    _fast_tokenizer(kind).save_pretrained(folder)


def save(name: str, folder: Path, **changes: Any) -> Path:
    """Write a checkpoint of a family, its configuration with ``changes``."""
    family = (FAMILIES | MORE | MAPS)[name]
    config = getattr(transformers, family.config)(vocab_size=VOCABULARY, **{**family.sizes, **changes})
    with torch.random.fork_rng():
        # transformers draws some weights itself.
        torch.manual_seed(0)
        maker = "from_config" if family.model.startswith("Auto") else "_from_config"
        model = getattr(attrgetter(family.model)(transformers), maker)(config)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    model.save_pretrained(folder)
    save_tokenizer(family.tokenizer, folder)
    return folder


def make_entry(name: str, folder: Path, **changes: Any) -> Entry:
    """A checkpoint of a family as the list of models has it, under an id of its own: what is computed is kept by it."""
    return Entry(id=f"small-{name}-{next(_NUMBERS)}", path=save(name, folder, **changes))


def read_settings(file: Path) -> dict[str, Any]:
    """Read a JSON file of a saved model, without the version of transformers that wrote it."""
    settings: dict[str, Any] = json.loads(file.read_text("utf8"))
    return {name: value for name, value in settings.items() if name != "transformers_version"}


def open_folder(folder: Path, **about: Any) -> LoadedModel:
    """Load a folder as the command line's ``--model`` does."""
    entry = Entry(id=folder.name, path=folder, **about)
    return load(entry.id, extra=(entry,))


def comparable_maps(name: str, capture_: Capture, maps: Sequence[Tensor], stack: str) -> list[tuple[Tensor, Tensor]]:
    """Return our maps and transformers' own of each attention layer, in pairs."""
    # MiniMax also hands out what its layers of linear attention make.
    if len(maps) > len(capture_.stacks[stack]):
        maps = [maps[number] for number in capture_.numbers]
    traces = [capture_.layer(i, stack=stack) for i in range(len(capture_.stacks[stack]))]
    ours = [trace.masked.softmax(-1) if name in BEFORE_SINK else trace.weights for trace in traces]
    return [(map_, theirs[0]) for map_, theirs in zip(ours, maps, strict=True)]


def eager(name: str, folder: Path) -> Any:
    """The same checkpoint as transformers itself runs it, which keeps its own attention weights."""
    model = attrgetter((FAMILIES | MORE | MAPS)[name].model)(transformers)
    return model.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
