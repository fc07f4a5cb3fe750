"""GGUF: a small file that the package ``gguf`` writes and transformers reads, and the real one's known figures."""

import json
from pathlib import Path

import gguf as reference
import numpy as np
import pytest
import torch
from torch.testing import assert_close
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from tests.packaged import packaged_file
from viz.models import capture
from viz.models.packaged import gguf, quantised, read

LAYERS, HEADS, KV_HEADS, WIDTH, D_FF = 2, 6, 2, 96, 160
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["Ġ t", "h e", "Ġt he", "1 9"]
FORMATS = {"Q4_1": quantised.q4_1, "Q8_0": quantised.q8_0, "Q4_0": quantised.q4_0}


CAN_WRITE = (0, 3, 8)
"""Kinds of blocks that are written here: F32, Q4_1, Q8_0; of others any bytes are some numbers."""


def letters() -> list[str]:
    """Return the letters of a byte-level tokenizer for the 256 bytes."""
    from tokenizers.pre_tokenizers import ByteLevel

    return sorted(ByteLevel.alphabet())


def kind(name: str):
    quantity = reference.GGMLQuantizationType
    if "norm" in name:
        return quantity.F32
    return quantity.Q8_0 if "embd" in name else quantity.Q4_1


def write(path: Path, kind_of=kind, pre: str = "smollm", width: int = WIDTH, d_ff: int = D_FF, more=()) -> None:
    """Write a Llama of two layers with three query heads to a key/value head, as llama.cpp's converter would."""
    tokens = [*MARKS, *letters(), *(merge.replace(" ", "") for merge in MERGES)]
    writer = reference.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(61)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(d_ff)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(100_000.0)
    writer.add_rope_dimension_count(width // HEADS)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(MARKS) + [1] * (len(tokens) - len(MARKS)))
    writer.add_token_merges(MERGES)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    for name, value in more:
        getattr(writer, name)(value)
    shapes = {"token_embd": (len(tokens), width), "output_norm": (width,)}
    of_a_layer = {
        "attn_norm": (width,),
        "attn_q": (width, width),
        "attn_k": (width * KV_HEADS // HEADS, width),
        "attn_v": (width * KV_HEADS // HEADS, width),
        "attn_output": (width, width),
        "ffn_norm": (width,),
        "ffn_gate": (d_ff, width),
        "ffn_up": (d_ff, width),
        "ffn_down": (width, d_ff),
    }
    shapes |= {f"blk.{i}.{name}": shape for i in range(LAYERS) for name, shape in of_a_layer.items()}
    noise = np.random.default_rng(0)
    for name, shape in shapes.items():
        quantity = kind_of(name)
        n, size = reference.GGML_QUANT_SIZES[quantity]
        # Any byte below 60 leaves a scale finite, whatever the kind of block.
        blocks = noise.integers(0, 60, (*shape[:-1], shape[-1] // n * size)).astype(np.uint8)
        values = noise.normal(size=shape).astype(np.float32)
        is_written = quantity in CAN_WRITE
        writer.add_tensor(
            f"{name}.weight", reference.quantize(values, quantity) if is_written else blocks, raw_dtype=quantity
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    """A file of blocks of 4 and 8 bits."""
    write(path := tmp_path_factory.mktemp("gguf") / "small.gguf")
    return path


def test_weights_equal_transformers(file):
    """Among them W_Q and W_K, which a file has in another order: read as they stand, they are far off."""
    parts = read(file)
    with torch.device("meta"):
        empty = LlamaForCausalLM(parts.config)
    theirs = load_gguf_checkpoint(str(file), return_tensors=True, model_to_load=empty)
    assert set(parts.weights) == set(theirs["tensors"]) == set(empty.state_dict()) - {"lm_head.weight"}
    for name, weight in parts.weights.items():
        assert_close(weight, torch.as_tensor(theirs["tensors"][name]), atol=0, rtol=0)
    as_it_stands = dict(gguf.contents(file)[1])["blk.1.attn_k.weight"]
    assert (parts.weights["model.layers.1.self_attn.k_proj.weight"] - as_it_stands).abs().max() > 1
    ours, their_config = parts.config.to_dict(), LlamaConfig(**theirs["config"]).to_dict()
    about = {"architectures", "transformers_version", "model_type", "_model_name_or_path", "dtype", "pad_token_id"}
    about |= {"unk_token_id", "eos_token_id", "bos_token_id", "tie_word_embeddings"}
    shared = (their_config.keys() & ours.keys()) - about
    assert {name: ours[name] for name in shared} == {name: their_config[name] for name in shared}


def test_model_shares_parsed_tensors(file):
    parts = read(file)
    model = parts.assemble(attn_implementation="eager")
    name = "model.layers.0.mlp.up_proj.weight"
    assert model.get_parameter(name).data_ptr() == parts.weights[name].data_ptr()
    assert model.lm_head.weight is model.model.embed_tokens.weight, "kept once"
    ids = torch.tensor([parts.tokenizer("the 19 hens").input_ids])
    assert model(ids).logits.isfinite().all()


def test_text_becomes_bytes_digits_stand_alone(file):
    tokenizer = read(file).tokenizer
    assert tokenizer.tokenize("the 19") == ["t", "he", "Ġ", "1", "9"]
    assert tokenizer.tokenize(" the") == ["Ġthe"]
    assert tokenizer.decode(tokenizer("它 the!").input_ids) == "它 the!"
    assert tokenizer("a<|im_end|>").input_ids[-1] == tokenizer.eos_token_id == 2
    assert (tokenizer.bos_token, tokenizer.unk_token, tokenizer.pad_token) == (MARKS[1], MARKS[0], MARKS[2])


@pytest.mark.parametrize("name", FORMATS)
def test_dequantised_values_equal_reference(name):
    quantity = reference.GGMLQuantizationType[name]
    values = np.random.default_rng(1).normal(size=(7, 96)).astype(np.float32)
    blocks = reference.quantize(values, quantity)
    actual = FORMATS[name](torch.from_numpy(blocks.reshape(-1)))
    assert_close(actual, torch.from_numpy(reference.dequantize(blocks, quantity).reshape(-1)), atol=0, rtol=0)


@pytest.mark.parametrize(
    ("old", "new", "reason"), [(b"llama", b"lLama", "family 'lLama'"), (b"smollm", b"smo11m", "kind 'smo11m'")]
)
def test_unknown_type_is_refused(file, tmp_path, old, new, reason):
    data = file.read_bytes()
    place = data.index(old, data.index(b"general.architecture" if old == b"llama" else b"tokenizer.ggml.pre"))
    copy = tmp_path / "other.gguf"
    copy.write_bytes(data[:place] + new + data[place + len(old) :])
    with pytest.raises(ValueError, match=reason):
        read(copy)


def test_a_file_of_no_known_format(tmp_path):
    path = tmp_path / "model.bin"
    path.write_text(json.dumps({}))
    with pytest.raises(ValueError, match=r"model\.bin begins with b'\{\}'"):
        read(path)


def test_model_equals_package_description(smollm2):
    config = smollm2.model.config
    assert smollm2.is_packaged
    assert (smollm2.n_layers, config.num_attention_heads, config.num_key_value_heads) == (30, 9, 3)
    assert (config.hidden_size, config.head_dim, config.rope_parameters["rope_theta"]) == (576, 64, 100_000.0)
    assert sum(weight.numel() for weight in smollm2.model.parameters()) == smollm2.entry.parameters
    assert (smollm2.max_tokens, len(smollm2.tokenizer), smollm2.model.training) == (8192, 49_152, False)
    file = packaged_file(smollm2.entry.id)
    assert round(file.stat().st_size / 1e6, 1) == smollm2.entry.size_mb


def test_layer_replays_equal_transformers(smollm2):
    """Nine query heads on three key/value heads, turned by RoPE; eager attention is transformers' own code."""
    text_capture = capture(smollm2, "In 2024 a cat sat on 它的 mat.")
    config = LlamaConfig(**smollm2.model.config.to_dict())
    expected = LlamaForCausalLM.from_pretrained(
        None, config=config, state_dict=smollm2.model.state_dict(), attn_implementation="eager"
    )
    assert expected.lm_head.weight.data_ptr() == smollm2.model.lm_head.weight.data_ptr(), "no second copy for a test"
    with torch.inference_mode():
        result = expected.eval()(torch.tensor([text_capture.tokens.ids]), output_attentions=True)
    for i, weights in enumerate(result.attentions):
        assert_close(text_capture.layer(i).weights, weights[0], atol=2e-5, rtol=0)
    assert (text_capture.n_layers, text_capture.n_heads, len(text_capture.calls[0].k)) == (30, 9, 3)
