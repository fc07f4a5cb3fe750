"""Weights of FP8 and MXFP4 are read as the numbers they stand for; other methods are refused by name."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.testing import assert_close
from transformers.integrations.finegrained_fp8 import Fp8Dequantize
from transformers.integrations.mxfp4 import convert_moe_packed_tensors

from tests.checkpoints import TEXT, VOCABULARY, open_folder, save_tokenizer
from tests.models.folders.test_folders import LAYERS, PREFIXES, WEIGHTS, edit, lora, refusal, rename
from tests.models.test_odd_configurations import multimodal_config, write
from viz.models import capture
from viz.models.folders.quantised import dequantise_fp8
from viz.scheduler.sizes import make_entry

BLOCK = (16, 7)
"""Rows and columns of a block: the last one of each axis is cut off in most matrices of a small checkpoint."""

FP8 = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": list(BLOCK)}


def spread(codes: Tensor, scale: Tensor, block: tuple[int, int]) -> Tensor:
    """Multiply every code by the scale of its block."""
    numbers, grid = codes.float().numpy(), scale.float().numpy()
    rows, columns = np.indices(numbers.shape)
    return torch.from_numpy(numbers * grid[rows // block[0], columns // block[1]])


def quantise(weight: Tensor, kind: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return a weight's FP8 codes, their scale, and the dequantised numbers."""
    rows, columns = weight.shape
    block = BLOCK if kind == "blocks" else {"tensor": (rows, columns), "rows": (1, columns)}[kind]
    grid = torch.empty(-(-rows // block[0]), -(-columns // block[1]))
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            part = weight[i * block[0] : (i + 1) * block[0], j * block[1] : (j + 1) * block[1]]
            grid[i, j] = part.abs().max() / 448
    codes = (weight / spread(torch.ones(rows, columns), grid, block)).to(torch.float8_e4m3fn)
    return codes, grid.reshape(()) if kind == "tensor" else grid, spread(codes, grid, block)


def save_fp8_and_float(
    folder: Path, *, kind: str = "blocks", scale: str = "weight_scale_inv", other_dtype: torch.dtype = torch.float32
) -> tuple[Path, Path]:
    """Save a checkpoint as FP8 and a copy with the dequantised numbers."""
    plain = shutil.copytree(folder, folder.with_name(f"{folder.name}-float"))
    quantised: dict[str, Tensor] = {}
    plain_weights: dict[str, Tensor] = {}
    for name, weight in load_file(folder / WEIGHTS).items():
        if name.endswith("_proj.weight"):
            codes, grid, numbers = quantise(weight, kind)
            quantised |= {name: codes, name.replace("weight", scale): grid}
            quantised[name.replace("weight", "input_scale")] = torch.tensor(0.5)
            plain_weights[name] = numbers
        else:
            quantised[name] = weight.to(other_dtype)
            plain_weights[name] = weight.to(other_dtype).float()
    save_file(quantised, folder / WEIGHTS, {"format": "pt"})
    save_file(plain_weights, plain / WEIGHTS, {"format": "pt"})
    edit(folder, quantization_config=FP8 if kind == "blocks" else FP8 | {"weight_block_size": None})
    return folder, plain


def check_same(folder: Path, plain: Path) -> None:
    """Assert that both folders' models have exactly the same weights, maps and outputs."""
    ours, theirs = open_folder(folder), open_folder(plain)
    for name, weight in theirs.model.state_dict().items():
        assert torch.equal(ours.model.state_dict()[name], weight), name
    assert {weight.dtype for weight in ours.model.parameters()} == {torch.float32}
    our_capture, expected = capture(ours, TEXT), capture(theirs, TEXT)
    assert_close(our_capture.final, expected.final)
    for stack in expected.stacks:
        for i in range(len(expected.stacks[stack])):
            assert_close(our_capture.layer(i, stack=stack).weights, expected.layer(i, stack=stack).weights)


@pytest.mark.parametrize("kind", ["blocks", "tensor", "rows"])
@pytest.mark.parametrize("scale", ["weight_scale_inv", "weight_scale"])
def test_fp8_folder_equals_dequantised_one(copy_of, kind, scale):
    """Scales of blocks, of rows and of the whole matrix, under either name."""
    check_same(*save_fp8_and_float(copy_of("llama"), kind=kind, scale=scale))


@pytest.mark.parametrize(
    ("other_dtype", "prefix"), [(torch.float16, "compiled in parallel"), (torch.bfloat16, "layers compiled")]
)
def test_fp8_with_wrapped_names_is_read(copy_of, other_dtype, prefix):
    """Beside weights of 16 bits, and under the names that wrappers give."""
    folder, plain = save_fp8_and_float(copy_of("llama"), other_dtype=other_dtype)
    rename(folder, PREFIXES[prefix])
    check_same(folder, plain)


@pytest.mark.parametrize("family", ["qwen3_moe", "t5", "bart", "gemma3_text"])
def test_fp8_of_other_families_is_read(copy_of, family):
    """Experts under one name each, too."""
    check_same(*save_fp8_and_float(copy_of(family)))


def test_fp8_in_parts_is_read(copy_of):
    folder, plain = save_fp8_and_float(copy_of("llama"))
    tensors = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    names = sorted(tensors)
    # The cut parts a weight from its scale.
    split = next(i for i, name in enumerate(names) if name.endswith("_scale_inv"))
    where = {}
    for number, part in enumerate((names[:split], names[split:]), 1):
        file = f"model-0000{number}-of-00002.safetensors"
        save_file({name: tensors[name] for name in part}, folder / file, {"format": "pt"})
        where |= dict.fromkeys(part, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    check_same(folder, plain)


def test_fp8_in_pytorch_bin_is_read(copy_of):
    folder, plain = save_fp8_and_float(copy_of("llama"))
    torch.save(load_file(folder / WEIGHTS), folder / "pytorch_model.bin")
    (folder / WEIGHTS).unlink()
    check_same(folder, plain)


def test_lora_is_merged_into_fp8(copy_of, tmp_path):
    """Added to the numbers that the codes stand for."""
    folder, plain = save_fp8_and_float(copy_of("llama", "base"))
    deltas = lora(tmp_path / "adapter", plain, LAYERS)
    config = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    (tmp_path / "adapter" / "adapter_config.json").write_text(
        json.dumps(config | {"base_model_name_or_path": str(folder)})
    )
    model, weights = open_folder(tmp_path / "adapter").model, load_file(plain / WEIGHTS)
    for name, delta in deltas.items():
        assert_close(model.get_parameter(name), weights[name] + delta)


def test_from_fp8_equals_values_by_hand():
    """Two rows of blocks of 2 × 2 over 3 × 3 numbers, each with a scale of its own."""
    codes = torch.tensor([[1, 2, 3], [4, -5, 6], [7, 8, -448]], dtype=torch.float32).to(torch.float8_e4m3fn)
    want = torch.tensor([[0.5, 1, 6], [2, -2.5, 12], [28, 32, -44.8]])
    assert_close(dequantise_fp8(codes, torch.tensor([[0.5, 2], [4, 0.1]]), (2, 2)), want, atol=0, rtol=1e-7)
    powers = torch.tensor([[126, 128], [129, 127]], dtype=torch.uint8)
    want = torch.tensor([[0.5, 1, 6], [2, -2.5, 12], [28, 32, -448]])
    assert torch.equal(dequantise_fp8(codes, powers, (2, 2)), want), "E8M0, as bytes"
    assert torch.equal(dequantise_fp8(codes, powers.view(torch.float8_e8m0fnu), (2, 2)), want)


@pytest.mark.parametrize("grid", [(3, 5), (1, 1), (12, 1), (1, 10), (12, 10)])
@pytest.mark.parametrize("n_experts", [0, 7])
def test_from_fp8_equals_transformers(grid, n_experts):
    generator = torch.Generator().manual_seed(3)
    lead = (n_experts,) if n_experts else ()
    codes = torch.randn(*lead, 12, 10, generator=generator).to(torch.float8_e4m3fn)
    scale = torch.rand(*lead, *grid, generator=generator)
    want = Fp8Dequantize(None)._dequantize_one(codes, scale, torch.float32)
    assert torch.equal(dequantise_fp8(codes, scale), want)


@pytest.mark.parametrize("form", [(5, 5), (12,), (2, 1, 1), (0, 1)])
def test_from_fp8_refuses_other_forms(form):
    with pytest.raises(ValueError, match="has the form"):
        dequantise_fp8(torch.ones(12, 10).to(torch.float8_e4m3fn), torch.ones(form))


def packed(shape: tuple[int, int, int], seed: int) -> tuple[Tensor, Tensor]:
    """Random blocks and exponents of (experts, out, in)."""
    n, rows, columns = shape
    generator = torch.Generator().manual_seed(seed)
    blocks = torch.randint(0, 256, (n, rows, columns // 32, 16), generator=generator, dtype=torch.uint8)
    return blocks, torch.randint(120, 126, (n, rows, columns // 32), generator=generator, dtype=torch.uint8)


@pytest.fixture
def gpt_oss(tmp_path: Path) -> tuple[Path, transformers.GptOssForCausalLM]:
    """A folder of gpt-oss with MXFP4 experts, and the model with the numbers that they stand for."""
    config = transformers.GptOssConfig(
        vocab_size=VOCABULARY, hidden_size=64, intermediate_size=32, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=2, head_dim=10, num_local_experts=3, num_experts_per_tok=2, sliding_window=5,
        max_position_embeddings=61, pad_token_id=0, initializer_range=0.3,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        reference = transformers.GptOssForCausalLM._from_config(config, attn_implementation="eager").eval()
    reference.save_pretrained(tmp_path / "oss")
    save_tokenizer("bytes", tmp_path / "oss")
    tensors = load_file(tmp_path / "oss" / WEIGHTS)
    parameters = dict(reference.named_parameters())
    for number, name in enumerate(name for name in sorted(tensors) if name.endswith(("gate_up_proj", "down_proj"))):
        n, columns, rows = tensors.pop(name).shape
        tensors[f"{name}_blocks"], tensors[f"{name}_scales"] = packed((n, rows, columns), number)
        numbers = convert_moe_packed_tensors(tensors[f"{name}_blocks"], tensors[f"{name}_scales"], dtype=torch.float32)
        parameters[name].data.copy_(numbers)
    tensors = {name: value.bfloat16() if value.is_floating_point() else value for name, value in tensors.items()}
    for name in tensors.keys() & parameters.keys():
        parameters[name].data.copy_(tensors[name])
    save_file(tensors, tmp_path / "oss" / WEIGHTS, {"format": "pt"})
    edit(tmp_path / "oss", quantization_config={"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})
    return tmp_path / "oss", reference


@pytest.mark.parametrize("settings", [FP8, None])
def test_fp8_without_scale_is_refused(copy_of, settings):
    """Codes taken as weights would be other weights, whether config.json speaks of them or not."""
    folder, _ = save_fp8_and_float(copy_of("llama"), kind="tensor")
    edit(folder, quantization_config=settings)
    tensors = load_file(folder / WEIGHTS)
    name = "model.layers.0.self_attn.q_proj.weight"
    save_file({k: v for k, v in tensors.items() if k != f"{name}_scale_inv"}, folder / WEIGHTS, {"format": "pt"})
    assert f"{name} is float8_e4m3fn and has no scale" in str(refusal(folder))


def test_fp8_without_block_size_is_refused(copy_of):
    """Blocks that do not divide the matrix evenly have a size that only the configuration states."""
    folder, _ = save_fp8_and_float(copy_of("llama"))
    edit(folder, quantization_config={"quant_method": "fp8"})
    assert "has the form (3, 8) for weights of (42, 53)" in str(refusal(folder))


def test_scale_of_plain_weight_is_refused(copy_of):
    folder, plain = save_fp8_and_float(copy_of("llama"))
    tensors = load_file(folder / WEIGHTS)
    name = "model.layers.0.self_attn.q_proj.weight"
    save_file(tensors | {name: load_file(plain / WEIGHTS)[name]}, folder / WEIGHTS, {"format": "pt"})
    assert f"{name}_scale_inv is the scale of a weight that is not FP8" in str(refusal(folder))


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32])
def test_whole_numbers_are_no_weights(copy_of, dtype):
    """Without an entry in config.json, integers would silently be taken as weights."""
    folder = copy_of("llama")
    tensors = load_file(folder / WEIGHTS)
    name = "model.layers.1.mlp.up_proj.weight"
    save_file(tensors | {name: (tensors[name] * 40).to(dtype)}, folder / WEIGHTS, {"format": "pt"})
    error = refusal(folder)
    assert error.code == "quantised" and name in str(error)


def test_integer_expert_weights_are_refused(copy_of):
    """Each expert has a name of its own in the file, which the model does not have."""
    folder = copy_of("qwen3_moe")
    tensors = load_file(folder / WEIGHTS)
    name = next(name for name in tensors if ".experts.1." in name)
    save_file(tensors | {name: (tensors[name] * 40).to(torch.int8)}, folder / WEIGHTS, {"format": "pt"})
    assert refusal(folder).values["method"] == f"{name}: int8"


def test_memory_is_counted_as_float32(copy_of):
    """The memory limits count the numbers in memory, not the file."""
    folder, plain = save_fp8_and_float(copy_of("llama"))
    assert (folder / WEIGHTS).stat().st_size < (plain / WEIGHTS).stat().st_size
    packed_size, plain_size = (make_entry("", open_folder(where), 0.0).size for where in (folder, plain))
    weights = sum(value.numel() * 4 for value in load_file(plain / WEIGHTS).values())
    assert packed_size > weights and abs(packed_size - plain_size) < 0.01 * weights


def test_masks_in_bytes_are_no_weights(copy_of):
    """Old files of GPT-2 have a mask beside their weights, which nothing reads."""
    folder, plain = copy_of("gpt2"), copy_of("gpt2", "plain")
    tensors = load_file(folder / WEIGHTS)
    mask = torch.ones(1, 1, 61, 61).tril().to(torch.uint8)
    save_file(tensors | {"transformer.h.0.attn.bias": mask}, folder / WEIGHTS, {"format": "pt"})
    check_same(folder, plain)


METHODS = [
    ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "awq"),
    ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "gptq"),
    ({"quantization_config": {"quant_method": "compressed-tensors"}}, "compressed-tensors"),
    ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}, "bitsandbytes"),
    ({"quantization_config": {"load_in_8bit": True}}, "bitsandbytes"),
    ({"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}, "modelopt"),
    ({"quantization_config": {"group_size": 64, "bits": 4}, "quantization": {"group_size": 64, "bits": 4}}, "MLX"),
    ({"compression_config": {"format": "pack-quantized"}}, "compressed-tensors"),
    ({"text_config": {"model_type": "llama", "quantization_config": {"quant_method": "torchao"}}}, "torchao"),
    ({"quantization_config": []}, "unknown"),
    ({"quantization_config": "int4"}, "unknown"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "method"), METHODS)
def test_other_methods_are_named(copy_of, changes, method):
    folder = copy_of("llama")
    edit(folder, **changes)
    error = refusal(folder)
    assert error.code == "quantised" and error.values["method"] == method and f"({method})" in str(error)


@pytest.mark.parametrize(
    ("end", "method"),
    [
        ("qweight", "GPTQ/AWQ"), ("weight.absmax", "bitsandbytes"), ("SCB", "bitsandbytes"),
        ("weight_packed", "compressed-tensors"),
    ],
)  # fmt: skip
def test_methods_are_known_by_their_tensors(copy_of, end, method):
    """A method is refused by name although config.json does not name it."""
    folder = copy_of("llama")
    tensors = load_file(folder / WEIGHTS)
    codes = tensors.pop("model.layers.0.self_attn.q_proj.weight").to(torch.int32)
    save_file(tensors | {f"model.layers.0.self_attn.q_proj.{end}": codes}, folder / WEIGHTS, {"format": "pt"})
    error = refusal(folder)
    assert error.code == "quantised" and error.values["method"] == method


@pytest.mark.parametrize("place", ["around", "inside"])
def test_text_part_of_fp8_is_read(tmp_path, place):
    """The word on quantisation stands around the text part's configuration, or in it."""
    known_as, config = multimodal_config("mistral3")
    folder, plain = save_fp8_and_float(write(getattr(transformers, known_as)(config), tmp_path / "whole"))
    if place == "inside":
        content = json.loads((folder / "config.json").read_text())
        content["text_config"]["quantization_config"] = content["quantization_config"]
        edit(folder, text_config=content["text_config"], quantization_config=None)
    check_same(folder, plain)


def test_mxfp4_folder_is_shown(gpt_oss):
    """Its weights and maps are those of the model with the dequantised weights."""
    folder, reference = gpt_oss
    model = open_folder(folder)
    for name, weight in reference.state_dict().items():
        assert torch.equal(model.model.state_dict()[name], weight), name
    text_capture = capture(model, "Paris is big.")
    with torch.inference_mode():
        want = reference(torch.tensor([text_capture.tokens.ids]), output_attentions=True)
    for i, weights in enumerate(want.attentions):
        assert_close(text_capture.layer(i).weights[..., : weights.shape[-1]], weights[0], atol=1e-5, rtol=0)
