"""Paths after --model, as people type them: opened, or refused for being no folder or not to be read."""

import shutil
from pathlib import Path

import pytest

from tests.checkpoints import open_folder
from viz.models import ModelError, load
from viz.models.registry import entries_of


@pytest.fixture
def folder(checkpoint, tmp_path):
    """A valid checkpoint, to be modified."""
    return shutil.copytree(checkpoint("llama"), tmp_path / "mine")


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
    with pytest.raises(ModelError, match="there is no such folder on this machine; --model takes") as exc_info:
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
