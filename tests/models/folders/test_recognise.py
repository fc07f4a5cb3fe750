"""Paths after --model, as people type them: opened, or refused for being no folder or not to be read."""

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.checkpoints import open_folder
from viz.models import ModelError
from viz.models.load import load
from viz.models.registry import entries_of


def open_path(path):
    (entry,) = local = entries_of([path])
    return load(entry.id, extra=local)


def test_home_in_path_is_expanded(folder, monkeypatch):
    """No shell expands the ~ in --model=~/mine."""
    monkeypatch.setenv("HOME", str(folder.parent))
    assert open_path(Path("~/mine")).n_layers == 2


@pytest.mark.parametrize("kind", ["absent", "hub", "user", "loop", "broken link", "too long"])
def test_no_folder_is_named(tmp_path, kind):
    """Nothing is said to be missing from a folder that is not there."""
    link = tmp_path / "link"
    paths = {
        "absent": tmp_path / "nowhere", "hub": Path("openai-community/gpt2"), "user": Path("~nobody-of-this-name/x"),
        "too long": tmp_path / ("x" * 400),
    }  # fmt: skip
    if kind in ("loop", "broken link"):
        link.symlink_to(link if kind == "loop" else tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"there is no such folder on this machine\. --model takes") as exc_info:
        open_path(paths.get(kind, link))
    assert exc_info.value.code == "no_folder" and str(tmp_path.parent) not in str(exc_info.value)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "mine"])
def test_unreadable_file_is_named(folder, name, monkeypatch):
    """Of another user: the system's reason is the cause, and whole files in its place would not help."""

    def refuse(method):
        def call(path, *arguments, **options):
            if path.name == name:
                raise PermissionError(13, "Permission denied", str(path))
            return method(path, *arguments, **options)

        return call

    for method in ("open", "read_bytes", "iterdir"):
        monkeypatch.setattr(Path, method, refuse(getattr(Path, method)))
    with pytest.raises(ModelError) as exc_info:
        open_folder(folder)
    error = exc_info.value
    assert (error.code, error.values["file"], error.values["reason"]) == ("unreadable", name, "Permission denied")


@pytest.mark.parametrize("around", ["runs/checkpoint-500", "snapshots/0123abcd", "models--a--b/snapshots/0123abcd"])
def test_only_model_below_is_opened(folder, tmp_path, around):
    """Two levels down, in the hub's cache without a name for its commit, and in the hub's cache itself."""
    top = tmp_path / "top"
    shutil.copytree(folder, top / around)
    if around.startswith("models--"):
        (top / "models--a--b" / "refs").mkdir()
        (top / "models--a--b" / "refs" / "main").write_text("0123abcd")
    assert open_path(top).n_layers == 2


def test_tokenizer_two_levels_up(folder, tmp_path):
    """A training keeps the tokenizer where it was started."""
    shutil.copytree(folder, tmp_path / "top" / "runs" / "checkpoint-500")
    for file in (tmp_path / "top" / "runs" / "checkpoint-500").glob("*token*"):
        file.rename(tmp_path / "top" / file.name)
    assert open_path(tmp_path / "top").n_layers == 2


def test_models_two_levels_down_are_named(folder, tmp_path):
    """The first name of the sentence, put behind the folder's, opens a model."""
    for run in ("seed-1", "seed-2"):
        shutil.copytree(folder, tmp_path / "top" / run / "checkpoint-5")
    with pytest.raises(ModelError, match="it holds several models: seed-1/checkpoint-5, seed-2/checkpoint-5") as caught:
        open_path(tmp_path / "top")
    assert open_path(tmp_path / "top" / caught.value.values["first"]).n_layers == 2


@pytest.mark.parametrize(
    "name", ["ckpt.pt", "checkpoints/epoch=1.ckpt", "consolidated.00.pth", "consolidated.safetensors"]
)
def test_lone_weights_are_named(tmp_path, name):
    """A training of one's own code leaves them behind: the sentence asks for no file that was never there."""
    file = tmp_path / "out" / name
    file.parent.mkdir(parents=True)
    if name.endswith(".safetensors"):
        save_file({"wte.weight": torch.zeros(5, 4)}, file)
    else:
        torch.save({"model": {"wte.weight": torch.zeros(5, 4)}, "model_args": {"n_layer": 1}, "optimizer": {}}, file)
    with pytest.raises(ModelError, match=r"holds weights, and no config.json beside it .*viz\.show") as caught:
        open_path(tmp_path / "out")
    assert (caught.value.code, caught.value.values["file"]) == ("lone_weights", file.name)
