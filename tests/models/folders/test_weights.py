"""PyTorch's own files are read, or refused for what is measured of them: cut short, another format, or code."""

import argparse

import pytest
import torch
from safetensors.torch import load_file
from torch.testing import assert_close

from tests.checkpoints import TEXT, open_folder
from tests.models.folders.test_folders import refusal
from viz.models import capture

PICKLE = "pytorch_model.bin"


def pickled(folder, content=lambda weights: weights, **options):
    """Return the pickle that stands in the place of the weights."""
    file = folder / "model.safetensors"
    torch.save(content(load_file(file)), folder / PICKLE, **options)
    file.unlink()
    return folder / PICKLE


@pytest.mark.parametrize("is_archive", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_pickle_cut_short_is_named(folder, is_archive, share):
    """A copy that was broken off is no file with code in it, and to convert it would not help."""
    file = pickled(folder, _use_new_zipfile_serialization=is_archive)
    content = file.read_bytes()
    file.write_bytes(content[: int(share * len(content))])
    error = refusal(folder)
    assert error.code == "corrupt" and PICKLE in error.values["reason"]


def test_other_content_is_no_pickle(folder):
    """A page that a server sent in the place of the file."""
    pickled(folder).write_bytes(b"<!DOCTYPE html><html></html>")
    assert refusal(folder).values["reason"] == "pytorch_model.bin is no file of PyTorch"


def test_safetensors_named_bin_are_read(folder, load_family):
    (folder / "model.safetensors").rename(folder / PICKLE)
    assert_close(capture(open_folder(folder), TEXT).final, capture(load_family("llama"), TEXT).final)


@pytest.mark.parametrize("content", [
    lambda weights: {"module": weights, "epoch": 3},
    lambda weights: {"net": weights, "optimizer": {}},
    lambda weights: {"state": {"model": {f"_orig_mod.{name}": value for name, value in weights.items()}}},
], ids=["deepspeed", "net", "nested"])  # fmt: skip
def test_weights_beside_other_things(folder, load_family, content):
    """A training keeps its weights in a dictionary beside the epoch."""
    pickled(folder, content)
    assert_close(capture(open_folder(folder), TEXT).final, capture(load_family("llama"), TEXT).final)


@pytest.mark.parametrize("content", [
    lambda weights: {"model": weights, "arguments": argparse.Namespace(rate=1)},
    lambda weights: {"net": weights, "average": weights},
    lambda weights: list(weights.values()),
], ids=["code", "two", "list"])  # fmt: skip
def test_more_than_tensors_is_refused(folder, content):
    pickled(folder, content)
    assert refusal(folder).code == "pickle"


@pytest.mark.parametrize(("name", "code"), [
    ("model.keras", "format"), ("openvino_model.xml", "format"), ("model.bin", "format"), ("model.pt", "missing"),
])  # fmt: skip
def test_files_of_others_are_no_pickles(folder, name, code):
    """CTranslate2 calls its file model.bin too."""
    (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(b"\6\0\0\0")
    assert refusal(folder).code == code
