"""Weight files read by NumPy alone against the models loaded from them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from tests.models.conftest import FamilyLoader
from viz.models import LoadedModel
from viz.models.load import load
from viz.models.recount.packed_files import WORDS, open_weights
from viz.models.recount.weights import file_error, weight_file


def every_layer(model: LoadedModel) -> list[float | None]:
    """The error of each layer, at five random places of each tensor."""
    n = len(model.tokenizer)
    return [
        file_error(model, layer, (7_919 * (seed + 1) + layer) % n, seed)
        for layer in range(model.n_layers)
        for seed in range(5)
    ]


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "twin-g8", "twin-g1", "animals-en-zh"])
def test_file_error_of_folder_is_nothing(name: str):
    """The weights that transformers loads equal those in the safetensors file."""
    errors = every_layer(load(name))
    assert errors == [0.0] * len(errors)


@pytest.mark.usefixtures("memory_given_back")
def test_file_error_of_packages_is_rounding(smollm2: LoadedModel, e5: LoadedModel):
    """Both readers agree with the second one, apart from the last digit of float32."""
    for model in (smollm2, e5):
        assert max(error for error in every_layer(model) if error is not None) < 1e-6


@pytest.mark.parametrize("name", ["mixtral", "qwen3_moe", "minimax_m2", "llama4_text", "granitemoe"])
def test_file_error_stacked_experts_is_zero(load_family: FamilyLoader, name: str):
    """Matrices of several experts are one tensor of three axes, in memory and in some files."""
    errors = every_layer(load_family(name))
    assert errors == [0.0] * len(errors)


@pytest.mark.parametrize("shape", [(), (7,), (5, 37), (3, 5, 37), (2, 3, 5, 7)])
def test_safetensors_row_any_shape_is_read(tmp_path: Path, shape: tuple[int, ...]):
    """Rows are counted through all axes but the last; a single number is a row of one."""
    values = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    save_file({"model.layers.0.weight": values}, tmp_path / "model.safetensors")
    file = open_weights(tmp_path / "model.safetensors")
    rows = values.reshape(-1, shape[-1] if shape else 1)
    for row in range(len(rows)):
        numbers = file.read("layers.0.weight", row, 0)
        assert numbers is not None
        assert numbers.tolist() == rows[row, :32].tolist()


def test_file_error_changed_expert_is_large(load_family: FamilyLoader):
    """A wrong number in the stacked experts is detected where the file stacks them."""
    model = load_family("llama4_text")
    experts = [weight for name, weight in model.model.base_model.layers[1].named_parameters() if weight.ndim == 3]
    assert experts
    original = experts[0].clone()
    experts[0] += 1.0
    try:
        assert (file_error(model, 1, 7, "seed") or 0.0) > 0.01
    finally:
        experts[0].copy_(original)


def test_file_error_changed_weight_is_large(load_family: FamilyLoader):
    """One wrong number is detected in its own layer and not in another one."""
    model = load_family("bert")
    weight = model.model.base_model.encoder.layer[1].attention.self.key.weight
    original = weight.clone()
    weight += 1.0
    try:
        assert (file_error(model, 1, 7, "seed") or 0.0) > 0.01
        assert file_error(model, 0, 7, "seed") == 0
    finally:
        weight.copy_(original)


def test_gguf_token_equals_vocabulary(smollm2: LoadedModel):
    """The second reader has every token at the same index as the tokenizer."""
    file = weight_file(smollm2)
    assert file is not None
    for number in (0, 1, 17, 1_000, 49_151):
        assert file.token(number) == smollm2.tokenizer.convert_ids_to_tokens(number)
    row = file.read(WORDS, 5, 64)
    expected = smollm2.model.get_input_embeddings().weight[5, 64:96].numpy()
    assert row is not None and np.allclose(row, expected, atol=0, rtol=1e-6)


@pytest.mark.usefixtures("memory_given_back")
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="only Linux says which parts of a file are in memory")
def test_file_error_leaves_no_pages(smollm2: LoadedModel):
    """Pages of a mapped file count as the process's memory until they are given back."""
    every_layer(smollm2)
    name = str(smollm2.entry.packaged_file())
    n_pages, is_of_file = 0, False
    for line in Path("/proc/self/smaps").read_text("utf8").splitlines():
        if "-" in line.split(" ", 1)[0]:
            is_of_file = line.endswith(name)
        elif is_of_file and line.startswith("Rss:"):
            n_pages += int(line.split()[1])
    assert n_pages < 1_000, "kB"
