"""Model folders are opened with the same numbers, or refused with the reason."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, TEXT, VOCABULARY, open_folder, save, save_tokenizer
from tests.models.conftest import Checkpoint
from viz.models import ModelError, capture, load
from viz.models.registry import entries, entries_of

WEIGHTS = "model.safetensors"


@pytest.fixture
def copy_of(checkpoint: Checkpoint, tmp_path: Path):
    """Return a function that copies a valid checkpoint, to be modified."""
    return lambda family, name="mine": shutil.copytree(checkpoint(family), tmp_path / name)


def final(folder: Path) -> torch.Tensor:
    return capture(open_folder(folder), TEXT).final


def refusal(folder: Path) -> ModelError:
    with pytest.raises(ModelError) as exc_info:
        open_folder(folder)
    assert "ownload" not in str(exc_info.value)
    return exc_info.value


def rename(folder: Path, change) -> None:
    weights = load_file(folder / WEIGHTS)
    save_file({change(name): value for name, value in weights.items()}, folder / WEIGHTS, {"format": "pt"})


PREFIXES = {
    "compiled": lambda name: f"_orig_mod.{name}",
    "parallel": lambda name: f"module.{name}",
    "compiled in parallel": lambda name: f"module._orig_mod.{name}",
    "wrapped": lambda name: f"model.{name}",
    "of an adapter": lambda name: f"base_model.model.{name}",
    "of sentence-transformers": lambda name: f"0.auto_model.{name}",
    "layers compiled": lambda name: name.replace(".1.", ".1._orig_mod."),
    "sharded": lambda name: name.replace(".0.", ".0._fsdp_wrapped_module._checkpoint_wrapped_module."),
}


@pytest.mark.parametrize("family", ["llama", "gpt2", "bert"])
@pytest.mark.parametrize("prefix", PREFIXES)
def test_wrapped_names_are_read(copy_of, checkpoint, family, prefix):
    """Of any family, and also where the model's own names begin with the same word."""
    folder = copy_of(family)
    rename(folder, PREFIXES[prefix])
    assert_close(final(folder), final(checkpoint(family)), atol=0, rtol=0)


def test_renamed_weights_error_has_both_names(copy_of):
    folder = copy_of("llama")
    rename(folder, lambda name: name.replace("self_attn", "attention"))
    reason = refusal(folder).values["reason"]
    assert "no weights for" in reason and "the file has model.layers.0.attention" in reason


@pytest.mark.parametrize("content", ["plain", "state_dict", "parts"])
def test_pytorch_model_bin_is_read(copy_of, checkpoint, content):
    """Tensors alone, read without running anything; also as a trainer nests them, or in parts."""
    folder = copy_of("llama")
    weights = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    if content == "parts":
        names = sorted(weights)
        for number, part in enumerate((names[:5], names[5:]), 1):
            torch.save({name: weights[name] for name in part}, folder / f"pytorch_model-0000{number}-of-00002.bin")
        where = {name: f"pytorch_model-0000{1 + (name in names[5:])}-of-00002.bin" for name in names}
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": where}))
    else:
        nested = {"state_dict": weights, "epoch": 3}
        torch.save(nested if content == "state_dict" else weights, folder / "pytorch_model.bin")
    assert_close(final(folder), final(checkpoint("llama")), atol=0, rtol=0)
    with pytest.raises(ModelError) as exc_info:
        open_folder(folder, sha256="0" * 64)
    assert exc_info.value.code in ("pickle", "missing"), "of a published file nothing else is read"


def lora(folder: Path, base: Path, modules: list[str], **changes: Any) -> dict[str, torch.Tensor]:
    """Write an adapter with matrices of rank 3, and return the change of each weight."""
    folder.mkdir()
    config: dict[str, Any] = {
        "peft_type": "LORA",
        "r": 3,
        "lora_alpha": 5,
        "base_model_name_or_path": str(base),
    } | changes
    (folder / "adapter_config.json").write_text(json.dumps(config))
    weights = load_file(base / WEIGHTS)
    tensors: dict[str, torch.Tensor] = {}
    deltas: dict[str, torch.Tensor] = {}
    for number, module in enumerate(modules):
        rows, columns = weights[f"{module}.weight"].shape
        if config.get("fan_in_fan_out"):
            rows, columns = columns, rows
        generator = torch.Generator().manual_seed(number)
        a, b = torch.randn(3, columns, generator=generator), torch.randn(rows, 3, generator=generator)
        tensors |= {f"base_model.model.{module}.lora_A.weight": a, f"base_model.model.{module}.lora_B.weight": b}
        alpha = (config.get("alpha_pattern") or {}).get(module.rpartition(".")[2], 5)
        delta = alpha / (3**0.5 if config.get("use_rslora") else 3) * b @ a
        deltas[f"{module}.weight"] = delta.T if config.get("fan_in_fan_out") else delta
    save_file(tensors, folder / "adapter_model.safetensors")
    return deltas


LAYERS = {
    "llama": ["model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.v_proj"],
    "gpt2": ["transformer.h.1.attn.c_attn"],
}


@pytest.mark.parametrize("how", ["plain", "rslora", "alpha_pattern", "beside"])
@pytest.mark.parametrize("family", LAYERS)
def test_lora_is_merged(copy_of, tmp_path, family, how):
    """W + alpha / r B A, where the base model is on this machine: under a path, or beside the adapter."""
    base = copy_of(family, "base")
    changes = {"fan_in_fan_out": family == "gpt2"} | {
        "plain": {}, "rslora": {"use_rslora": True}, "alpha_pattern": {"alpha_pattern": {"q_proj": 7, "c_attn": 7}},
        "beside": {"base_model_name_or_path": "someone/base"},
    }[how]  # fmt: skip
    deltas = lora(tmp_path / "adapter", base, LAYERS[family], **changes)
    model = open_folder(tmp_path / "adapter").model
    weights = load_file(base / WEIGHTS)
    for name, delta in deltas.items():
        assert_close(model.get_parameter(name), weights[name] + delta)
    unchanged = "lm_head.weight" if family == "llama" else "transformer.h.0.attn.c_attn.weight"
    assert torch.equal(model.get_parameter(unchanged), weights[unchanged])


def test_lora_inside_a_model_is_merged(copy_of, tmp_path):
    """A model that was saved with its adapter: base_layer, and the matrices beside it."""
    base = copy_of("llama", "base")
    deltas = lora(tmp_path / "adapter", base, LAYERS["llama"])
    inside = shutil.copytree(base, tmp_path / "inside")
    weights = load_file(base / WEIGHTS)
    for module in LAYERS["llama"]:
        weights[f"{module}.base_layer.weight"] = weights.pop(f"{module}.weight")
    matrices = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    weights = {f"base_model.model.{name}": value for name, value in weights.items()} | {
        name.replace("lora_A.", "lora_A.default.").replace("lora_B.", "lora_B.default."): value
        for name, value in matrices.items()
    }
    save_file(weights, inside / WEIGHTS, {"format": "pt"})
    assert refusal(inside).code == "adapter", "without alpha nobody can merge it"
    shutil.copy(tmp_path / "adapter" / "adapter_config.json", inside)
    name, delta = next(iter(deltas.items()))
    assert_close(open_folder(inside).model.get_parameter(name), load_file(base / WEIGHTS)[name] + delta)


@pytest.mark.parametrize(
    "changes", [{"use_dora": True}, {"peft_type": "IA3"}, {"peft_type": None}, {"base_model_name_or_path": "gpt2"}]
)
def test_other_adapters_are_named(copy_of, tmp_path, changes):
    """With the line of code that merges them."""
    lora(tmp_path / "adapter", copy_of("llama", "base"), LAYERS["llama"], **changes)
    error = refusal(tmp_path / "adapter")
    assert error.code == "adapter" and "merge_and_unload()" in str(error)


@pytest.mark.parametrize("files", ["vocab.txt", "vocab.json"])
def test_old_tokenizer_files_are_read(copy_of, files):
    """The same tokens as of tokenizer.json."""
    folder = copy_of("bert" if files == "vocab.txt" else "gpt2")
    model = json.loads((folder / "tokenizer.json").read_text())["model"]
    before = open_folder(folder)
    want = before.tokenizer("the animal was old")["input_ids"]
    (folder / "tokenizer.json").unlink()
    if files == "vocab.txt":
        (folder / "vocab.txt").write_text("\n".join(sorted(model["vocab"], key=model["vocab"].get)))
        settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True}
    else:
        (folder / "vocab.json").write_text(json.dumps(model["vocab"]))
        (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *map(" ".join, model["merges"])]))
        settings = {"tokenizer_class": "GPT2Tokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"model_max_length": 61}))
    assert open_folder(folder).tokenizer("the animal was old")["input_ids"] == want


@pytest.mark.parametrize(
    ("name", "code", "fragment"),
    [
        ("vocab.json", "missing", "merges.txt"),
        ("merges.txt", "missing", "vocab.json"),
        ("source.spm", "slow_tokenizer", "source.spm"),
        ("spiece.model", "sentencepiece", "spiece.model"),
        ("tokenizer.model", "sentencepiece", "tokenizer.model"),
        ("other", "tokenizer", "AutoTokenizer.from_pretrained"),
    ],
)
def test_a_missing_tokenizer_is_named(copy_of, name, code, fragment):
    folder = copy_of("gpt2")
    (folder / "tokenizer.json").rename(folder / name)
    error = refusal(folder)
    assert error.code == code and fragment in str(error)


def test_other_vocabulary_is_refused(copy_of):
    """A class that does not read vocab.txt would cut every word to pieces."""
    folder = copy_of("llama")
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("[UNK]\nthe\nanimal\n")
    assert refusal(folder).code == "corrupt"


def test_adapter_checkpoint_uses_parent_tokenizer(copy_of, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for step in (500, 1000):
        folder = copy_of("llama", f"run/checkpoint-{step}")
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (folder / name).replace(run / name)
    assert open_folder(run / "checkpoint-500").n_layers == 2
    error = refusal(run)
    assert error.code == "parts" and error.values["parts"] == "checkpoint-1000, checkpoint-500"


def test_adapter_without_tokenizer_names_base(copy_of):
    folder = copy_of("llama", "checkpoint-500")
    (folder / "tokenizer.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"_name_or_path": "someone/small"}))
    error = refusal(folder)
    assert error.code == "tokenizer" and "AutoTokenizer.from_pretrained('someone/small')" in str(error)


@pytest.mark.parametrize("part", ["0_Transformer", "0_BERT", "whatever"])
def test_nested_transformer_folder_is_opened(copy_of, tmp_path, part):
    """sentence-transformers' older form; or the only part of a folder that holds a model."""
    folder = copy_of("bert", f"sentence/{part}").parent
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text("{}")
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "path": part}, {"idx": 1, "path": "1_Pooling"}]))
    assert open_folder(folder).n_layers == 2


def test_folders_of_one_name_have_two(tmp_path):
    """By what is above them; a name of the registry stays the registry's, and a folder named twice is one."""
    paths = [tmp_path / run / "checkpoint-500" for run in ("run-a", "run-b")] + [tmp_path / "mine" / "gpt2"]
    paths += [tmp_path / "mine" / "distilgpt2", tmp_path / "alone", tmp_path / "alone"]
    ids = [entry.id for entry in entries_of(paths)]
    assert ids[:2] == ["run-a/checkpoint-500", "run-b/checkpoint-500"] and ids[-1] == "alone" and len(ids) == 5
    assert not {entry.id for entry in entries()} & set(ids)


def test_both_folders_of_one_name_load(tmp_path):
    folders = [save("llama", tmp_path / run / "step", num_hidden_layers=n) for run, n in (("a", 1), ("b", 3))]
    folder_entries = entries_of(folders)
    assert [load(entry.id, extra=folder_entries).n_layers for entry in folder_entries] == [1, 3]


@pytest.mark.parametrize("architectures", [["T5EncoderModel"], None])
def test_an_encoder_alone_is_opened(tmp_path, architectures):
    """T5's, as sentence encoders have it: the decoder was never there, whatever the configuration says."""
    folder = tmp_path / "t5-encoder"
    config = transformers.T5Config(vocab_size=VOCABULARY, **FAMILIES["t5"].sizes)
    expected = transformers.T5EncoderModel(config).eval()
    expected.save_pretrained(folder)
    save_tokenizer("metaspace", folder)
    content = json.loads((folder / "config.json").read_text()) | {"architectures": architectures}
    (folder / "config.json").write_text(json.dumps(content))
    model = open_folder(folder)
    text_capture = capture(model, TEXT)
    with torch.inference_mode():
        want = expected(torch.tensor([text_capture.tokens.ids])).last_hidden_state[0]
    assert_close(text_capture.final, want, atol=1e-5, rtol=0)
    assert set(text_capture.stacks) == {"encoder"}


@pytest.mark.parametrize(("family", "writes"), [("llama", True), ("bert", True), ("gpt2", True)])
@pytest.mark.parametrize("key", ["architectures", "torch_dtype", "use_cache", "transformers_version"])
def test_an_absent_optional_key_changes_nothing(copy_of, checkpoint, family, writes, key):
    folder = copy_of(family)
    content = json.loads((folder / "config.json").read_text())
    content.pop(key, None)
    (folder / "config.json").write_text(json.dumps(content))
    model = open_folder(folder)
    assert_close(capture(model, TEXT).final, final(checkpoint(family)), atol=1e-6, rtol=0)
