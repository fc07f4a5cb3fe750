"""Folders whose weights, tokenizer or place are not as ``save_pretrained`` leaves them are opened all the same."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from tests.checkpoints import TEXT, open_folder
from tests.models.folders.test_folders import refusal
from viz.models import ModelError, capture

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def assert_opens(folder, load_family, name="llama"):
    """Assert that a folder gives the same numbers as the checkpoint it was made of."""
    expected = capture(load_family(name), TEXT)
    text_capture = capture(open_folder(folder), TEXT)
    assert text_capture.tokens.ids == expected.tokens.ids
    assert_close(text_capture.final, expected.final)


def split_weights(folder):
    """Write the weights as two shards, and no index."""
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names = sorted(tensors)
    for file, part in zip(SHARDS, (names[:9], names[9:]), strict=True):
        save_file({name: tensors[name] for name in part}, folder / file, {"format": "pt"})


def test_shards_without_index_open(folder, load_family):
    split_weights(folder)
    assert_opens(folder, load_family)


@pytest.mark.parametrize("absent", SHARDS)
def test_absent_shard_is_named(folder, absent):
    """Without an index too: the others say how many there are."""
    split_weights(folder)
    (folder / absent).unlink()
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("missing", absent)


@pytest.mark.parametrize("name", ["model.fp16.safetensors", "consolidated.safetensors", "weights.safetensors"])
def test_only_weights_file_opens(folder, load_family, name):
    """The name is free; the optimizer beside it is no model."""
    (folder / "model.safetensors").rename(folder / name)
    save_file({"step": torch.ones(1)}, folder / "optimizer.safetensors")
    assert_opens(folder, load_family)


def test_several_weights_files_are_refused(folder):
    """Two could be the model's: the sentence names them."""
    shutil.copy(folder / "model.safetensors", folder / "ema.safetensors")
    (folder / "model.safetensors").rename(folder / "raw.safetensors")
    error = refusal(folder)
    assert (error.code, error.values["files"]) == ("weights", "ema.safetensors, raw.safetensors")


@pytest.mark.parametrize(("name", "line"), [
    ("q4.gguf", "gguf_file='q4.gguf'"), ("tf_model.h5", "from_tf=True"), ("flax_model.msgpack", "from_flax=True"),
    ("model.onnx", "AutoModel.from_pretrained('BASE')"), ("model.bin", "AutoModel.from_pretrained('BASE')"),
    ("pytorch_model_fsdp_0/__0_0.distcp", "accelerate merge-weights pytorch_model_fsdp_0 ."),
    ("__0_0.distcp", "dcp_to_torch . pytorch_model.bin"), ("step-9/__0_0.distcp", "dcp_to_torch step-9 pytorch"),
    ("zero_to_fp32.py", "python zero_to_fp32.py . . --safe_serialization"),
    ("global_step500/mp_rank_00_model_states.pt", "python zero_to_fp32.py . . --safe_serialization"),
])  # fmt: skip
def test_other_format_is_named(folder, name, line):
    """A folder with weights of another library lacks nothing that could be put there: the line converts them."""
    (folder / "model.safetensors").unlink()
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"weights")
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("format", name.partition("/")[0]) and line in str(error)


def test_weights_without_numbers_are_named(folder):
    """ZeRO-3 leaves tensors of no number where it keeps them elsewhere."""
    file = folder / "model.safetensors"
    tensors = load_file(file)
    name = next(iter(tensors))
    save_file(tensors | {name: tensors[name].flatten()[:0]}, file, {"format": "pt"})
    error = refusal(folder)
    assert error.code == "format" and "ZeRO-3" in error.values["file"] and "zero_to_fp32.py" in str(error)


def test_pinned_sha_allows_no_other_name(folder):
    """Only the published file is read where its digest is known."""
    (folder / "model.safetensors").rename(folder / "weights.safetensors")
    with pytest.raises(ModelError) as error:
        open_folder(folder, sha256="0" * 64)
    assert error.value.code == "missing"


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_file_stands_for_folder(folder, load_family, name):
    assert_opens(folder / name, load_family)


@pytest.mark.parametrize("main", ["", "../..", "d" * 40])
def test_hub_cache_folder_opens_snapshot(folder, load_family, main):
    """The snapshot that refs/main names; a name that leads elsewhere, or nowhere, is not followed: the only one is."""
    cache = folder.parent / "models--someone--small"
    (cache / "snapshots").mkdir(parents=True)
    (cache / "refs").mkdir()
    folder.rename(cache / "snapshots" / ("c" * 40))
    (cache / "refs" / "main").write_text(main or "c" * 40)
    assert_opens(cache, load_family)


def write_old_tokenizer(folder):
    """Write vocab.txt, or vocab.json and merges.txt, in place of tokenizer.json; the settings name no kind."""
    file = folder / "tokenizer.json"
    model = json.loads(file.read_text("utf-8"))["model"]
    file.unlink()
    if model["type"] == "WordPiece":
        (folder / "vocab.txt").write_text("\n".join(sorted(model["vocab"], key=model["vocab"].get)), "utf-8")
        return
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]), "utf-8")
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]), "utf-8")


@pytest.mark.parametrize("name", ["bert", "gpt2", "qwen2"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("is_named", [True, False])
def test_old_tokenizer_files_are_read(checkpoint, load_family, tmp_path, name, ending, is_named):
    """Settings that name only the class which reads tokenizer.json: the family says how a text is cut."""
    folder = shutil.copytree(checkpoint(name), tmp_path / "old")
    write_old_tokenizer(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    assert settings["tokenizer_class"] in ("PreTrainedTokenizerFast", "TokenizersBackend")
    if is_named:
        names = {"bert": "BertTokenizer", "gpt2": "GPT2Tokenizer", "qwen2": "Qwen2Tokenizer"}
        settings |= {"tokenizer_class": names[name], "do_lower_case": True}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    for file in folder.glob("merges.txt"):
        file.write_bytes(file.read_bytes().replace(b"\n", ending.encode()))
    assert_opens(folder, load_family, name)
