"""Model folders are opened with the same numbers, or refused with the reason."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, TEXT, VOCABULARY, open_folder, save, save_tokenizer
from tests.models.conftest import FamilyLoader
from viz.models import ModelError, capture
from viz.models.load import load
from viz.models.registry import entries, entries_of

WEIGHTS = "model.safetensors"


def final(folder: Path) -> torch.Tensor:
    return capture(open_folder(folder), TEXT).final


@pytest.fixture(scope="session")
def final_of(load_family: FamilyLoader) -> Callable[[str], torch.Tensor]:
    """Return the numbers of a family's checkpoint as it was saved."""
    return cache(lambda family: capture(load_family(family), TEXT).final)


def edit(folder: Path, **changes: Any) -> None:
    """Change entries of config.json."""
    content = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(content | changes))


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
    "of a module of one's own": lambda name: f"text_encoder.{name}",
    "of a trainer of policies": lambda name: f"policy.pretrained_model.{name}",
    "layers compiled": lambda name: name.replace(".1.", ".1._orig_mod."),
    "sharded": lambda name: name.replace(".0.", ".0._fsdp_wrapped_module._checkpoint_wrapped_module."),
}


@pytest.mark.parametrize("family", ["llama", "bert"])
@pytest.mark.parametrize("prefix", PREFIXES)
def test_wrapped_names_are_read(copy_of, final_of, family, prefix):
    """Of any family, and also where the model's own names begin with the same word."""
    folder = copy_of(family)
    rename(folder, PREFIXES[prefix])
    assert_close(final(folder), final_of(family))


@pytest.mark.parametrize("family", ["llama", "bert"])
@pytest.mark.parametrize("prefix", ["encoder.", "module.backbone."])
def test_head_of_own_is_left_out(copy_of, final_of, family, prefix):
    """A model inside a module of one's own, which has a head beside it: the names have no first part in common."""
    folder = copy_of(family)
    weights = {f"{prefix}{name}": value for name, value in load_file(folder / WEIGHTS).items()}
    save_file(weights | {"classifier.weight": torch.zeros(2, 3)}, folder / WEIGHTS, {"format": "pt"})
    assert_close(final(folder), final_of(family))


@pytest.mark.parametrize("family", ["bert"])
@pytest.mark.parametrize("key", [{"output_attentions": True}, {"return_dict": False}, {"torchscript": True}])
def test_keys_of_last_use_change_nothing(copy_of, final_of, family, key):
    """A trainer saves them with the model; with some of them transformers refuses every faster attention."""
    folder = copy_of(family)
    edit(folder, **key)
    assert_close(final(folder), final_of(family))


def test_relative_positions_of_bert_are_refused(copy_of):
    """Trained with them, which transformers 5 leaves out without an error: its maps would be another model's."""
    folder = copy_of("bert")
    name = "bert.encoder.layer.0.attention.self.distance_embedding.weight"
    save_file(load_file(folder / WEIGHTS) | {name: torch.ones(121, 7)}, folder / WEIGHTS, {"format": "pt"})
    error = refusal(folder)
    assert (error.code, error.values["option"]) == ("attention", name)


def test_gguf_file_lacks_no_configuration(tmp_path):
    """It has its own: what is said is that the format is not read from a folder."""
    (tmp_path / "model-Q4_K_M.gguf").write_bytes(b"GGUF")
    for path in (tmp_path, tmp_path / "model-Q4_K_M.gguf"):
        error = refusal(path)
        assert (error.code, error.values["file"]) == ("format", "model-Q4_K_M.gguf")


def test_two_models_in_file_are_refused(copy_of):
    """A student and its teacher: which of them is meant is not guessed."""
    folder = copy_of("llama")
    weights = load_file(folder / WEIGHTS)
    both = {
        f"{who}.{name}": n * value for n, who in enumerate(("student", "teacher"), 1) for name, value in weights.items()
    }
    save_file(both, folder / WEIGHTS, {"format": "pt"})
    assert "the file has student." in str(refusal(folder))


def test_renamed_weights_error_has_both_names(copy_of):
    folder = copy_of("llama")
    rename(folder, lambda name: name.replace("self_attn", "attention"))
    reason = refusal(folder).values["reason"]
    assert "no weights for" in reason and "the file has model.layers.0.attention" in reason


def write_parts(folder: Path, weights: dict[str, torch.Tensor]) -> None:
    names = sorted(weights)
    for number, part in enumerate((names[:5], names[5:]), 1):
        torch.save({name: weights[name] for name in part}, folder / f"pytorch_model-0000{number}-of-00002.bin")


@pytest.mark.parametrize("content", ["plain", "state_dict", "parts"])
def test_pytorch_model_bin_is_read(copy_of, final_of, content):
    """Tensors alone, read without running anything; also as a trainer nests them, or in parts."""
    folder = copy_of("llama")
    weights = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    if content == "parts":
        names = sorted(weights)
        write_parts(folder, weights)
        where = {name: f"pytorch_model-0000{1 + (name in names[5:])}-of-00002.bin" for name in names}
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": where}))
    else:
        nested = {"state_dict": weights, "epoch": 3}
        torch.save(nested if content == "state_dict" else weights, folder / "pytorch_model.bin")
    assert_close(final(folder), final_of("llama"))
    with pytest.raises(ModelError) as exc_info:
        open_folder(folder, sha256="0" * 64)
    assert exc_info.value.code in ("pickle", "missing"), "of a published file nothing else is read"


def save_parts(folder: Path) -> None:
    """Write the weights as two files of PyTorch's own, without an index."""
    weights = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    write_parts(folder, weights)


def test_parts_without_index_are_read(copy_of, final_of):
    save_parts(folder := copy_of("llama"))
    assert_close(final(folder), final_of("llama"))


@pytest.mark.parametrize("is_listed", [True, False])
def test_absent_bin_part_is_named(copy_of, is_listed):
    """The other part was called a pickle that is not read, which it is not: one of two is missing."""
    save_parts(folder := copy_of("llama"))
    absent = "pytorch_model-00002-of-00002.bin"
    (folder / absent).unlink()
    if is_listed:
        index = {"weight_map": {str(i): f"pytorch_model-0000{i}-of-00002.bin" for i in (1, 2)}}
        (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("missing", absent)


@pytest.mark.parametrize("name", ["optimizer.bin", "scheduler.pt", "rng_state_0.pth", "training_args.bin"])
def test_state_of_training_is_no_weights(copy_of, name):
    """A file beside the weights of a step is not named in their place."""
    folder = copy_of("llama", "checkpoint-500")
    (folder / WEIGHTS).unlink()
    torch.save({}, folder / name)
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("missing", WEIGHTS)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935\nsize 4976698672\n"


@pytest.mark.parametrize("name", [WEIGHTS, "pytorch_model.bin", "tokenizer.json", "tokenizer.model"])
def test_pointers_of_lfs_are_named(copy_of, name):
    """A clone without Git LFS has them; one was called a pickle that can run code."""
    folder = copy_of("llama")
    if name in ("pytorch_model.bin", "tokenizer.model"):
        (folder / {"pytorch_model.bin": WEIGHTS, "tokenizer.model": "tokenizer.json"}[name]).unlink()
    (folder / name).write_text(POINTER)
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("pointer", name)


def test_pointer_beside_weights_is_ignored(copy_of, final_of):
    folder = copy_of("llama")
    for name in ("pytorch_model.bin", "tokenizer.model", "tf_model.h5"):
        (folder / name).write_text(POINTER)
    assert_close(final(folder), final_of("llama"))


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
        alphas = config.get("alpha_pattern")
        alpha = alphas.get(module.rpartition(".")[2], 5) if isinstance(alphas, dict) else 5
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
    assert refusal(inside).values["kind"] == "LoRA without adapter_config.json", "without alpha nobody can merge it"
    shutil.copy(tmp_path / "adapter" / "adapter_config.json", inside)
    name, delta = next(iter(deltas.items()))
    assert_close(open_folder(inside).model.get_parameter(name), load_file(base / WEIGHTS)[name] + delta)


@pytest.mark.parametrize(
    "changes", [
        {"use_dora": True}, {"init_lora_weights": "pissa_niter_4"}, {"init_lora_weights": "olora"},
        {"init_lora_weights": "loftq"}, {"init_lora_weights": "corda"}, {"target_parameters": ["experts.down_proj"]},
        {"alora_invocation_tokens": [5]}, {"alpha_pattern": {"(": 3}}, {"lora_alpha": "much"},
        {"alpha_pattern": {"(.+)+x": 3}}, {"alpha_pattern": {".*.*.*.*x": 3}}, {"alpha_pattern": ["q_proj"]},
        {"peft_type": "IA3"}, {"peft_type": "PREFIX_TUNING"}, {"peft_type": None}, {"base_model_name_or_path": "gpt2"},
    ]
)  # fmt: skip
def test_other_adapters_are_named(copy_of, tmp_path, changes):
    """With the line of code that merges what can be merged."""
    lora(tmp_path / "adapter", copy_of("llama", "base"), LAYERS["llama"], **changes)
    error = refusal(tmp_path / "adapter")
    assert error.code == "adapter" and "merge_and_unload()" in str(error)


Q = "model.layers.0.self_attn.q_proj"
EMBEDDINGS = "model.embed_tokens"


def adapter(folder: Path, base: Path, tensors: dict[str, torch.Tensor], **settings: Any) -> None:
    """Write an adapter of any tensors."""
    folder.mkdir()
    config = {"peft_type": "LORA", "r": 3, "lora_alpha": 5, "base_model_name_or_path": str(base)} | settings
    (folder / "adapter_config.json").write_text(json.dumps(config))
    save_file(
        {f"base_model.model.{name}": value.contiguous() for name, value in tensors.items()},
        folder / "adapter_model.safetensors",
    )


def draw(*shape: int, seed: int) -> torch.Tensor:
    """Draw normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def pair(weight: torch.Tensor, seed: int = 0, rank: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw A and B for a weight of (rows, columns)."""
    return draw(rank, weight.shape[1], seed=seed), draw(weight.shape[0], rank, seed=seed + 1)


HEADS = ("classifier.weight", "score.modules_to_save.default.weight", "qa_outputs.bias", "classifier.0.dense.weight")


@pytest.mark.parametrize("head", [*HEADS, "classifier.lora_A.weight", "classifier.out_proj.lora_B.weight"])
def test_head_of_adapter_is_left_out(copy_of, tmp_path, head):
    """A head of classes, tokens or questions attends to nothing; one of an unknown layer is refused."""
    base = copy_of("llama", "base")
    attention = {
        f"model.layers.0.self_attn.q_proj.lora_{side}.weight": tensor
        for side, tensor in zip("AB", MATRICES, strict=True)
    }
    adapter(tmp_path / "adapter", base, attention | {head: torch.ones(3, 42)})
    weight = open_folder(tmp_path / "adapter").model.get_parameter("model.layers.0.self_attn.q_proj.weight")
    before = open_folder(base).model.get_parameter("model.layers.0.self_attn.q_proj.weight")
    assert_close(weight, before + 5 / 3 * MATRICES[1] @ MATRICES[0])
    unknown_layer = {"model.layers.7.self_attn.q_proj.weight": torch.ones(60, 42)}
    for i, tensors in enumerate(({head: torch.ones(3, 42)}, attention | unknown_layer)):
        adapter(tmp_path / f"other{i}", base, tensors)
        assert refusal(tmp_path / f"other{i}").values["kind"] == "LoRA of other layers"


MATRICES = torch.randn(3, 42, generator=torch.Generator().manual_seed(1)), torch.randn(60, 3)


@pytest.mark.parametrize("form", ["whole", "base_layer", "trained rows"])
def test_adapter_with_new_tokens_opens(copy_of, tmp_path, form):
    """The tables have the adapter's rows, and the tokenizer its tokens."""
    base = copy_of("llama", "base")
    table = load_file(base / "model.safetensors")["model.embed_tokens.weight"]
    rows = torch.cat([table, torch.full((3, 42), 0.5)])
    tensors = {"model.embed_tokens.weight": rows, "lm_head.weight": rows.clone()}
    if form == "base_layer":
        tensors = {"model.embed_tokens.base_layer.weight": rows}
    if form == "trained rows":
        tensors = {"model.embed_tokens.token_adapter.trainable_tokens_delta": rows[-3:]}
    n = len(table)
    adapter(tmp_path / "adapter", base, tensors, trainable_token_indices=[n, n + 1, n + 2])
    tokenizer = transformers.AutoTokenizer.from_pretrained(base)
    tokenizer.add_tokens([f"<new{i}>" for i in range(n + 3 - len(tokenizer))])
    last = f"<new{n + 2 - len(transformers.AutoTokenizer.from_pretrained(base))}>"
    tokenizer.save_pretrained(tmp_path / "adapter")
    ours = open_folder(tmp_path / "adapter")
    assert_close(ours.model.get_input_embeddings().weight, rows)
    assert ours.model.lm_head.weight.shape == rows.shape
    assert capture(ours, f"The {last}").tokens.ids[-1] == n + 2


@pytest.mark.parametrize("family", ["llama", "gpt2"])
@pytest.mark.parametrize("end", ["", ".weight"])
def test_dora_is_merged(copy_of, tmp_path, family, end):
    """Each row of W + s B A gets the length that was trained; GPT-2 keeps its rows as columns."""
    base, module = copy_of(family, "base"), LAYERS[family][0]
    weight = load_file(base / WEIGHTS)[f"{module}.weight"]
    rows = weight.T if family == "gpt2" else weight
    a, b = pair(rows)
    lengths = draw(len(rows), seed=5).abs()
    tensors = {f"{module}.lora_A.weight": a, f"{module}.lora_B.weight": b}
    tensors[f"{module}.lora_magnitude_vector{end}"] = lengths
    adapter(tmp_path / "adapter", base, tensors, use_dora=True, fan_in_fan_out=family == "gpt2")
    result = open_folder(tmp_path / "adapter").model.get_parameter(f"{module}.weight")
    result_rows = result.T if family == "gpt2" else result
    sums = [row + sum(5 / 3 * b[i, k] * a[k] for k in range(3)) for i, row in enumerate(rows)]
    for row, direction, length in zip(result_rows, sums, lengths, strict=True):
        assert_close(row, length * direction / direction.square().sum().sqrt(), atol=1e-5, rtol=1e-5)


def test_rank_and_alpha_patterns_are_merged(copy_of, tmp_path):
    """Modules with a rank and an alpha of their own, named as PEFT names them: by an end, or by an expression."""
    base = copy_of("llama", "base")
    weights, modules = load_file(base / WEIGHTS), ("model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.q_proj")
    tensors, expected = {}, {}
    for module, rank, alpha in zip(modules, (2, 7), (11.0, 5.0), strict=True):
        a, b = pair(weights[f"{module}.weight"], rank, rank)
        tensors |= {f"{module}.lora_A.weight": a, f"{module}.lora_B.weight": b}
        expected[module] = weights[f"{module}.weight"] + alpha / rank**0.5 * (b @ a)
    patterns = {"rank_pattern": {r"layers\.0\..*q_proj": 2, "q_proj": 7}}
    patterns["alpha_pattern"] = {r"^model\.layers\.0\.self_attn\.q_proj": 11, "proj": 99}
    adapter(tmp_path / "adapter", base, tensors, use_rslora=True, **patterns)
    model = open_folder(tmp_path / "adapter").model
    for module, weight in expected.items():
        assert_close(model.get_parameter(f"{module}.weight"), weight)


def test_whole_modules_and_biases_are_merged(copy_of, tmp_path):
    """A head that was trained whole, biases beside the matrices, and the bias of B."""
    base = copy_of("qwen2", "base")
    weights = load_file(base / WEIGHTS)
    a, b = pair(weights[f"{Q}.weight"])
    bias, more = draw(len(weights[f"{Q}.bias"]), seed=3), draw(len(weights[f"{Q}.bias"]), seed=4)
    norm = draw(len(weights["model.norm.weight"]), seed=6)
    tensors = {
        f"{Q}.lora_A.weight": a, f"{Q}.lora_B.weight": b, f"{Q}.base_layer.bias": bias, f"{Q}.lora_B.bias": more,
        "model.norm.modules_to_save.default.weight": norm,
    }  # fmt: skip
    adapter(tmp_path / "adapter", base, tensors, bias="all", lora_bias=True, modules_to_save=["norm"])
    model = open_folder(tmp_path / "adapter").model
    assert_close(model.get_parameter(f"{Q}.bias"), bias + 5 / 3 * more)
    assert_close(model.get_parameter("model.norm.weight"), norm)
    assert_close(model.get_parameter(f"{Q}.weight"), weights[f"{Q}.weight"] + 5 / 3 * (b @ a))


@pytest.mark.parametrize("by_module", [True, False])
def test_trained_tokens_replace_rows(copy_of, tmp_path, by_module):
    """Of the embedding table, for the tokens that the configuration names."""
    base = copy_of("llama", "base")
    table = load_file(base / WEIGHTS)[f"{EMBEDDINGS}.weight"]
    rows = draw(2, table.shape[1], seed=9)
    indices: Any = {"embed_tokens": [7, 3]} if by_module else [7, 3]
    delta = {f"{EMBEDDINGS}.token_adapter.trainable_tokens_delta": rows}
    adapter(tmp_path / "adapter", base, delta, trainable_token_indices=indices)
    expected = table.clone()
    expected[7], expected[3] = rows
    assert_close(open_folder(tmp_path / "adapter").model.get_input_embeddings().weight, expected)
    adapter(tmp_path / "bare", base, delta)
    assert "trained tokens" in str(refusal(tmp_path / "bare"))


def test_embedding_matrices_are_merged(copy_of, tmp_path):
    """An embedding's A has a column a token."""
    base = copy_of("llama", "base")
    table = load_file(base / WEIGHTS)[f"{EMBEDDINGS}.weight"]
    a, b = pair(table.T)
    tensors = {f"{EMBEDDINGS}.lora_embedding_A": a, f"{EMBEDDINGS}.lora_embedding_B": b}
    adapter(tmp_path / "adapter", base, tensors)
    assert_close(open_folder(tmp_path / "adapter").model.get_input_embeddings().weight, table + 5 / 3 * (b @ a).T)


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation", "_attn_implementation_autoset"])
def test_word_on_implementation_is_ignored(copy_of, final_of, key):
    """Some configurations say how their last user had attention computed, which needs a package or runs code."""
    folder = copy_of("llama")
    edit(folder, **{key: "kernels-community/flash-attn"})
    assert_close(final(folder), final_of("llama"))


def test_dora_inside_needs_settings(copy_of, tmp_path):
    """Its lengths are no weights of the model: to leave them out would change it."""
    inside = copy_of("llama", "inside")
    weights = load_file(inside / WEIGHTS)
    weights[f"{Q}.lora_magnitude_vector.default.weight"] = torch.ones(len(weights[f"{Q}.weight"]))
    save_file(weights, inside / WEIGHTS, {"format": "pt"})
    assert refusal(inside).code == "adapter"


FILES_BY_ENCODING = {
    "utf-8-sig": ("config.json", "tokenizer.json", "tokenizer_config.json"),
    "utf-16": ("config.json",),
}


@pytest.mark.parametrize("encoding", FILES_BY_ENCODING)
@pytest.mark.parametrize("family", ["llama", "bert"])
def test_byte_order_marks_are_read(copy_of, final_of, family, encoding):
    """Editors and shells of Windows write them."""
    folder = copy_of(family)
    for name in FILES_BY_ENCODING[encoding]:
        (folder / name).write_text((folder / name).read_text("utf-8"), encoding)
    assert_close(final(folder), final_of(family))


@pytest.mark.parametrize("index", [{"metadata": {}}, {}])
def test_byte_order_mark_in_index(copy_of, final_of, index):
    """Also of an index with a list alone, as a script writes it."""
    folder = copy_of("llama")
    names = dict.fromkeys(load_file(folder / WEIGHTS), "model-00001-of-00001.safetensors")
    (folder / WEIGHTS).rename(folder / "model-00001-of-00001.safetensors")
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps(index | {"weight_map": names}), "utf-8-sig")
    assert_close(final(folder), final_of("llama"))


def test_shadow_files_are_left_out(copy_of, final_of):
    """A copy to another disk puts ._NAME beside each file on macOS; a link may lead nowhere."""
    folder = copy_of("llama")
    (folder / WEIGHTS).rename(folder / "weights.safetensors")
    (folder / "._weights.safetensors").write_bytes(b"\0\5\x16\7")
    (folder / "old.safetensors").symlink_to(folder / "nowhere")
    assert_close(final(folder), final_of("llama"))
    (folder / "weights.safetensors").unlink()
    assert refusal(folder).code == "missing"


def test_empty_quantisation_is_none(copy_of, final_of):
    folder = copy_of("llama")
    edit(folder, quantization_config={})
    assert_close(final(folder), final_of("llama"))


def test_byte_order_mark_in_adapter(copy_of, tmp_path):
    base = copy_of("llama", "base")
    deltas = lora(tmp_path / "adapter", base, LAYERS["llama"])
    file = tmp_path / "adapter" / "adapter_config.json"
    file.write_text(file.read_text(), "utf-8-sig")
    name, delta = next(iter(deltas.items()))
    expected = load_file(base / WEIGHTS)[name] + delta
    assert_close(open_folder(tmp_path / "adapter").model.get_parameter(name), expected)


@pytest.mark.parametrize("missing", ["absent", None, ""])
def test_missing_family_is_found_or_named(copy_of, final_of, missing):
    """By the class that the model was saved with; else the sentence names the key, and no family None."""
    folder = copy_of("llama")
    config = json.loads((folder / "config.json").read_text()) | {"model_type": missing}
    if missing == "absent":
        del config["model_type"]
    (folder / "config.json").write_text(json.dumps(config))
    assert_close(final(folder), final_of("llama"))
    for architectures in (["MineForCausalLM"], [], None, "LlamaForCausalLM", ["load_state_dict"]):
        (folder / "config.json").write_text(json.dumps(config | {"architectures": architectures}))
        error = refusal(folder)
        assert error.code == "no_family" and "model_type" in str(error) and "None" not in str(error)


@pytest.mark.parametrize(
    ("name", "code", "fragment"),
    [
        ("vocab.json", "missing", "merges.txt"),
        ("merges.txt", "missing", "vocab.json"),
        ("source.spm", "slow_tokenizer", "source.spm"),
        ("spiece.model", "not_sentencepiece", "spiece.model"),
        ("tokenizer.model", "not_sentencepiece", "tokenizer.model"),
        ("other", "tokenizer", "AutoTokenizer.from_pretrained"),
    ],
)
def test_a_missing_tokenizer_is_named(copy_of, name, code, fragment):
    folder = copy_of("gpt2")
    (folder / "tokenizer.json").rename(folder / name)
    error = refusal(folder)
    assert error.code == code and fragment in str(error)


@pytest.mark.parametrize("name", ["tekken.json", "qwen.tiktoken", "bpe.codes"])
def test_tokenizer_of_other_library_is_named(copy_of, name):
    """The folder has one: that it has none would be false."""
    folder = copy_of("gpt2")
    (folder / "tokenizer.json").rename(folder / name)
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("tokenizer_format", name)


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
    edit(folder, _name_or_path="someone/small")
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


def test_pooling_part_is_no_model(copy_of, final_of):
    """sentence-transformers' older form without modules.json: the pooling has a config.json too."""
    transformer = copy_of("bert", "0_Transformer")
    pooling = transformer.parent / "1_Pooling"
    pooling.mkdir()
    (pooling / "config.json").write_text(json.dumps({"word_embedding_dimension": 35, "pooling_mode_mean_tokens": True}))
    assert_close(final(transformer.parent), final_of("bert"))


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


@pytest.mark.parametrize("family", ["llama", "bert"])
@pytest.mark.parametrize("key", ["architectures", "torch_dtype", "use_cache", "transformers_version"])
def test_an_absent_optional_key_changes_nothing(copy_of, final_of, family, key):
    folder = copy_of(family)
    content = json.loads((folder / "config.json").read_text())
    content.pop(key, None)
    (folder / "config.json").write_text(json.dumps(content))
    model = open_folder(folder)
    assert_close(capture(model, TEXT).final, final_of(family), atol=1e-6, rtol=0)
