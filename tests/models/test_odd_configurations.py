"""Rare configurations of a family: each is supported, or refused in a sentence."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.testing import assert_close

from tests.checkpoints import BART, BERT, FAMILIES, LLAMA, MORE, TEXT, VOCABULARY, open_folder, save, save_tokenizer
from viz.errors import ModelError
from viz.models import capture
from viz.models.blocks import model_blocks
from viz.models.long.capture import long_capture
from viz.models.positions import capture_placed
from viz.models.stream import read_stream
from viz.models.tokens import read_text

PART = LLAMA | {
    "hidden_size": 60, "vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    "sliding_window": 5,
}  # fmt: skip
EYES = {
    "hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28,
    "patch_size": 14,
}  # fmt: skip
FRAMES = {
    "depth": 1, "hidden_size": 32, "num_heads": 2, "out_hidden_size": 60, "intermediate_size": 37,
    "deepstack_visual_indexes": [0],
}  # fmt: skip
SEES = PART | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 2, 2]}}
HALF_ROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 1], "partial_rotary_factor": 0.6}


def write(model: Any, folder: Path) -> Path:
    """Write a random model, its parameters drawn wide, and a tokenizer."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    model.save_pretrained(folder)
    save_tokenizer("metaspace", folder)
    return folder


def multimodal_config(name: str) -> tuple[str, Any]:
    """A model that reads pictures and text: its class, and its configuration."""
    eyes: dict[str, Any] = EYES
    match name:
        case "gemma3":
            config = transformers.Gemma3Config(
                text_config=PART, vision_config=eyes | {"model_type": "siglip_vision_model"}, mm_tokens_per_image=4
            )
        case "mistral3":
            eyes = eyes | {"model_type": "pixtral", "head_dim": 16}
            config = transformers.Mistral3Config(text_config=PART | {"model_type": "mistral"}, vision_config=eyes)
        case "llava":
            eyes = eyes | {"model_type": "clip_vision_model"}
            config = transformers.LlavaConfig(text_config=PART | {"model_type": "llama"}, vision_config=eyes)
        case "qwen2_5_vl":
            config = transformers.Qwen2_5_VLConfig(text_config=SEES, vision_config=FRAMES)
        case "qwen3_vl":
            config = transformers.Qwen3VLConfig(text_config=SEES, vision_config=FRAMES)
        case "glm4v":
            config = transformers.Glm4vConfig(
                text_config=PART | {"rope_parameters": HALF_ROPE, "head_dim": 10}, vision_config=FRAMES
            )
        case _:
            config = transformers.Idefics3Config(text_config=PART | {"model_type": "llama"}, vision_config=eyes)
    return f"{type(config).__name__.removesuffix('Config')}ForConditionalGeneration", config


@pytest.mark.parametrize("name", ["gemma3", "mistral3", "llava", "idefics3", "qwen2_5_vl", "qwen3_vl", "glm4v"])
def test_text_part_is_shown_alone(name, tmp_path):
    """Of a model that reads pictures too, as transformers runs the whole on a text."""
    class_name, config = multimodal_config(name)
    kind = getattr(transformers, class_name)
    folder = write(kind(config), tmp_path / name)
    ours, theirs = open_folder(folder), kind.from_pretrained(folder, attn_implementation="eager").eval()
    ids = ours.tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.inference_mode():
        result = theirs(input_ids=ids, output_attentions=True, use_cache=False)
        outputs = ours.model(input_ids=ids)
    # There is no text part in transformers with a head of Qwen-VL and GLM-V.
    if "logits" in outputs:
        assert_close(outputs.logits, result.logits, atol=1e-5 * float(result.logits.abs().max()), rtol=0)
    else:
        with torch.inference_mode():
            final = theirs.model(input_ids=ids, use_cache=False).last_hidden_state
        assert_close(outputs.last_hidden_state, final, atol=1e-5 * float(final.abs().max()), rtol=0)
    text_capture = capture(ours, TEXT)
    assert text_capture.n_layers == len(result.attentions) == 2
    for i, weights in enumerate(result.attentions):
        assert_close(text_capture.layer(i).weights, weights[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize(("text_family", "code"), [("quokka", "family"), ("jetmoe", "family_routed")])
def test_text_part_unknown_family_is_refused(text_family, code, tmp_path):
    """The sentence names the text part's family, not the whole's."""
    config = {"model_type": "qwen3_vl", "text_config": {"model_type": text_family}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=text_family) as error:
        open_folder(tmp_path)
    assert error.value.code == code


def test_assistant_is_refused_as_a_whole(tmp_path):
    """Its text part reads another model's vectors, and is not Gemma 4's."""
    config = {"model_type": "gemma4_assistant", "text_config": {"model_type": "gemma4_text"}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="gemma4_assistant") as error:
        open_folder(tmp_path)
    assert error.value.code == "family_assistant"


@pytest.mark.parametrize("name", ["clip", "siglip", "owlvit"])
def test_text_half_of_a_pair(name, tmp_path):
    """A model that matches texts with pictures: its text half, as transformers runs it."""
    prefix = {"clip": "CLIP", "siglip": "Siglip", "owlvit": "OwlViT"}[name]
    sizes = BERT | {"vocab_size": VOCABULARY, "eos_token_id": 3}
    kind, config = getattr(transformers, f"{prefix}Model"), getattr(transformers, f"{prefix}Config")
    folder = write(kind(config(text_config=sizes, vision_config=EYES)), tmp_path / name)
    ours, theirs = open_folder(folder), kind.from_pretrained(folder, attn_implementation="eager").eval()
    ids = ours.tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.inference_mode():
        maps = theirs.text_model(input_ids=ids, output_attentions=True).attentions
    text_capture = capture(ours, TEXT)
    for i, weights in enumerate(maps):
        assert_close(text_capture.layer(i).weights, weights[0], atol=1e-5, rtol=0)
    assert text_capture.n_layers == len(maps) == 2


WHOLES: dict[str, Any] = {
    "bridgetower": lambda: transformers.BridgeTowerForMaskedLM(transformers.BridgeTowerConfig(
        text_config=BERT | {"vocab_size": VOCABULARY, "pad_token_id": 1},
        vision_config=EYES | {"hidden_size": 64}, hidden_size=35, num_hidden_layers=2, num_attention_heads=5,
        intermediate_size=53,
    )),
    "kosmos-2.5": lambda: transformers.Kosmos2_5ForConditionalGeneration(transformers.Kosmos2_5Config(
        text_config=dict(MORE["kosmos_2_5_text_model"].sizes) | {"vocab_size": VOCABULARY},
        vision_config=EYES | {"head_dim": 16, "patch_embed_hidden_size": 12}, latent_query_num=4,
    )),
}  # fmt: skip
"""Models whose text part has names of its own."""


@pytest.mark.parametrize("name", WHOLES)
def test_text_part_of_another_name(name, tmp_path):
    """As transformers runs it inside the whole."""
    model = WHOLES[name]()
    folder = write(model, tmp_path / name)
    theirs = type(model).from_pretrained(folder, attn_implementation="eager").eval()
    ours = open_folder(folder)
    ids = ours.tokenizer(TEXT, return_tensors="pt").input_ids
    with torch.inference_mode():
        result = theirs.base_model.text_model(input_ids=ids, output_attentions=True, output_hidden_states=True)
    text_capture = capture(ours, TEXT)
    assert text_capture.n_layers == len(result.attentions) == 2
    for i, weights in enumerate(result.attentions):
        assert_close(text_capture.layer(i).weights, weights[0], atol=3e-6, rtol=0)
    assert_close(text_capture.final, result.hidden_states[-1][0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["kosmos_2_5_text_model", "marian"])
def test_scaled_vectors_equal_tokens(name, tmp_path):
    """Of a model that scales its words' vectors, before or after they are handed to it."""
    model = open_folder(save(name, tmp_path / name))
    text_capture = capture(model, TEXT)
    tokens = text_capture.tokens
    with torch.inference_mode():
        rows = model.positions()
    table = torch.zeros(1) if rows is None else rows[: len(tokens.ids)]
    assert_close(capture_placed(model, tokens, table).final, text_capture.final, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("changes", [
    {"do_layer_norm_before": False}, {"do_layer_norm_before": False, "word_embed_proj_dim": 24},
    {"word_embed_proj_dim": 24}, {"enable_bias": False, "layer_norm_elementwise_affine": False},
])  # fmt: skip
def test_opt_blocks_follow_settings(changes, tmp_path):
    """The norm before or after, words narrower than the stream, no biases, norms that learn nothing."""
    model = open_folder(save("opt", tmp_path / "opt", **changes))
    blocks = model_blocks(model, capture(model, TEXT))
    assert blocks.design.norm == ("pre" if changes.get("do_layer_norm_before", True) else "post")
    traces = blocks.run()
    assert blocks.state_error(traces) < 5e-5
    changed_design = replace(blocks.design, norm="post" if blocks.design.norm == "pre" else "pre")
    assert blocks.state_error(blocks.run(design=changed_design)) > 0.01
    assert len(traces[0].attention.x) == len(blocks.x) > 10


def test_stream_to_narrower_words_is_refused(tmp_path):
    """A matrix stands between the last norm and the words: the parts are not compared with words as they are."""
    model = open_folder(save("opt", tmp_path / "opt", word_embed_proj_dim=24))
    with pytest.raises(ModelError) as error:
        read_stream(model, read_text(model.tokenizer, TEXT, model.max_tokens))
    assert error.value.code == "block_projected"


@pytest.mark.parametrize(
    ("name", "sizes"), [("opt", {"word_embed_proj_dim": 24, "do_layer_norm_before": False}), ("roc_bert", {})]
)
def test_positions_behind_projection_are_refused(name, sizes, tmp_path):
    """OPT-350m's are wider than its words' vectors, RoCBert's are as wide."""
    model = open_folder(save(name, tmp_path / name, **sizes))
    tokens = read_text(model.tokenizer, TEXT, model.max_tokens)
    with pytest.raises(ModelError) as error:
        capture_placed(model, tokens, torch.zeros(1, 24))
    assert error.value.code == "wide_positions"


@pytest.mark.parametrize("name", ["opt", "esm", "llama"])
def test_long_text_keeps_unscaled_queries(name, tmp_path):
    """Also where the model scales its queries and no scores."""
    model = open_folder(save(name, tmp_path / name))
    tokens = read_text(model.tokenizer, TEXT, model.max_tokens)
    ordinary, long = capture(model, TEXT), long_capture(model, tokens)
    for i, call in enumerate(ordinary.calls):
        assert_close(long.layers[i].queries[:], call.q, atol=1e-5 * float(call.q.abs().max()), rtol=0)
        assert long.layers[i].scale == pytest.approx(call.options["scale"])


def test_decoder_of_bart_alone_is_shown(tmp_path):
    """As in Donut and TrOCR: its blocks have no cross-attention, and its positions are the decoder's."""
    config = transformers.BartConfig(vocab_size=VOCABULARY, is_decoder=True, **BART | {"d_model": 40})
    folder = write(transformers.BartForCausalLM(config), tmp_path / "bart")
    model = open_folder(folder)
    text_capture = capture(model, TEXT)
    assert set(text_capture.stacks) == {"decoder"}
    blocks = model_blocks(model, text_capture)
    assert blocks.state_error(blocks.run()) < 5e-5
    rows = model.positions()
    assert rows is not None
    placed_capture = capture_placed(model, text_capture.tokens, rows[: len(text_capture.tokens.ids)])
    assert_close(placed_capture.final, text_capture.final, atol=1e-5, rtol=0)


def test_t5_without_start_token_uses_padding(tmp_path):
    """The default of its configuration names no token to begin with."""
    sizes = {name: size for name, size in FAMILIES["t5"].sizes.items() if name != "decoder_start_token_id"}
    config = transformers.T5Config(vocab_size=VOCABULARY, **sizes)
    model = open_folder(write(transformers.T5ForConditionalGeneration(config), tmp_path / "t5"))
    text_capture = capture(model, TEXT, target="Paris is big.")
    assert text_capture.target is not None and text_capture.target.ids[0] == 0
