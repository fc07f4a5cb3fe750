"""GGUF files of one's own give the numbers that the package gguf reads, or are refused with the way out."""

import shutil
import sys

import gguf as reference
import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import open_folder
from tests.models.folders.test_folders import refusal
from tests.models.packaged.test_gguf import write
from viz.models import capture
from viz.models.packaged import gguf

KINDS = (
    "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "TQ1_0",
    "TQ2_0", "MXFP4", "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_NL", "IQ4_XS",
)  # fmt: skip


@pytest.mark.parametrize("kinds", [KINDS[:14], KINDS[11:]])
def test_every_kind_equals_its_package(tmp_path, kinds):
    """One to a matrix of two layers, in a folder in a folder; W_Q and W_K in transformers' order of pairs."""
    left = [reference.GGMLQuantizationType[kind] for kind in kinds]
    (tmp_path / "part").mkdir()
    file = tmp_path / "part" / "small.gguf"
    write(file, lambda name: 0 if "norm" in name or "blk" not in name else left.pop(), "qwen2", 768, 256)
    model = open_folder(tmp_path)
    for tensor in reference.GGUFReader(file).tensors:
        expected = torch.from_numpy(reference.dequantize(tensor.data, tensor.tensor_type).copy())
        if heads := {"attn_q": 6, "attn_k": 2}.get(tensor.name.split(".")[-2]):
            expected = gguf.turn_back(expected, heads)
        assert_close(model.model.get_parameter(gguf._name(tensor.name)), expected, atol=0, rtol=0)
    assert capture(model, " the cat").tokens.ids[0] == len(model.tokenizer) - 2 and not left


@pytest.mark.parametrize(
    ("pre", "more", "limit", "package", "code", "fragment"),
    [
        ("smollm", (), "", "", "format", "tokenizer.ggml.pre 'smollm'"),
        ("qwen2", [("add_rope_scaling_type", reference.RopeScalingType.LINEAR)], "", "", "format", "rope.scaling.type"),
        ("qwen2", (), "MOST_ENTRIES", "", "corrupt", "tensors and"),
        ("qwen2", (), "MOST_ITEMS", "", "corrupt", "a list of"),
        (None, (), "", "", "corrupt", "small.gguf"),
        ("qwen2", (), "", "gguf", "package", "pip install gguf"),
        ("qwen2", (), "", "accelerate", "package", "pip install accelerate"),
    ],
)  # fmt: skip
def test_other_files_are_refused(tmp_path, monkeypatch, pre, more, limit, package, code, fragment):
    """Cut or turned otherwise by transformers, more of something than any model has, or a package that is absent."""
    if pre:
        write(tmp_path / "small.gguf", pre=pre, more=more)
    else:
        (tmp_path / "small.gguf").write_bytes(b"GGUF")
    if limit:
        monkeypatch.setattr(gguf, limit, 2)
    if package:
        monkeypatch.setitem(sys.modules, package, None)
    error = refusal(tmp_path)
    assert error.code == code and fragment in str(error)


def test_tokenizer_beside_is_read(tmp_path, checkpoint):
    """It cuts a text as it was published; of several files in a folder one has to be named."""
    write(tmp_path / "small.gguf")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(checkpoint("gpt2") / name, tmp_path)
    assert open_folder(tmp_path / "small.gguf").n_layers == 2
    shutil.copy(tmp_path / "small.gguf", tmp_path / "more.gguf")
    assert refusal(tmp_path).code == "parts"
    (tmp_path / "more.gguf").rename(tmp_path / "a-00001-of-00002.gguf")
    assert "llama-gguf-split --merge" in str(refusal(tmp_path))
