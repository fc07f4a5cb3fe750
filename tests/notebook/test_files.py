"""`save_html` writes where a file can be, and says in a sentence where it cannot; its size is printed first."""

import os
import re
from pathlib import Path

import pytest
import torch

import viz
from tests.notebook.samples import WORDS
from viz.notebook import maps as maps_module


@pytest.fixture
def grid():
    """A grid of two layers."""
    generator = torch.Generator().manual_seed(0)
    return viz.show([torch.randn(1, 3, 5, 5, generator=generator).softmax(-1) for _ in range(2)], WORDS)


@pytest.mark.parametrize("kind", [str, Path, os.fsencode])
def test_save_html_path_forms(grid, tmp_path, monkeypatch, kind):
    """A name alone, a path object, and a path in bytes."""
    monkeypatch.chdir(tmp_path)
    for path in ("alone.html", tmp_path / "whole.html"):
        file = grid.save_html(kind(path))
        assert isinstance(file, Path) and file.read_text("utf8").startswith("<!doctype html>")


def test_save_html_home_is_expanded(grid, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    grid.save_html("~/heads.html")
    assert (tmp_path / "heads.html").is_file()


def test_save_html_no_place_raises(grid, tmp_path, capsys):
    """Each sentence names the place; nothing is computed or printed for a path that can hold no file."""
    file = tmp_path / "file"
    file.write_text("x")
    for path, sentence in (
        (tmp_path, "is a folder: name a file in it"),
        ("", "is a folder: name a file in it"),
        (tmp_path / "none" / "heads.html", "There is no folder .*none"),
        (file / "heads.html", "There is no folder .*file"),
        ("~nobody_of_this_name/heads.html", "is no name of a file"),
        (None, "None is no name of a file"),
        (7, "7 is no name of a file"),
    ):
        with pytest.raises((ValueError, OSError), match=sentence):
            grid.save_html(path)
    assert not capsys.readouterr().out and sorted(tmp_path.iterdir()) == [file]


def test_save_html_unwritable_place_raises(grid, tmp_path, capsys, monkeypatch):
    """The system's reason is named, of a name that is too long or a folder that is read-only."""

    def write(self, data):
        raise PermissionError(13, "Permission denied")

    with pytest.raises(OSError, match=r"heads of 400 .* could not be written: File name too long"):
        grid.save_html(tmp_path / ("heads of 400 " + "x" * 400))
    monkeypatch.setattr(Path, "write_bytes", write)
    with pytest.raises(PermissionError, match=r"heads\.html could not be written: Permission denied\."):
        grid.save_html(tmp_path / "heads.html")
    assert re.search(r"heads\.html: 0\.\d MB\.", capsys.readouterr().out), "its size is said before it is written"


@pytest.mark.parametrize("heads", ["al", (0, 1), [(0, 9)], [(5, 0)], [(0, 1, 2)], 3, None])
def test_save_html_false_heads_raises(grid, tmp_path, heads):
    """Also where every head is in the file anyway."""
    with pytest.raises(ValueError, match=r"There is no layer|heads=.* is no list of \(layer, head\)"):
        grid.save_html(tmp_path / "heads.html", heads=heads)
    assert not list(tmp_path.iterdir())


def test_save_html_border_is_exact(tmp_path, capsys, monkeypatch):
    """A file of exactly the limit is whole; of one byte less of room it is pooled, and says so before it is written."""
    from viz.notebook import maps, widget

    monkeypatch.setattr(maps, "SENT_BYTES", 0)
    generator = torch.Generator().manual_seed(0)
    many = viz.show([torch.randn(1, 3, 5, 5, generator=generator).softmax(-1)], WORDS)
    size = many._whole_bytes()
    for limit, is_pooled in ((size, False), (size - 1, True)):
        monkeypatch.setattr(widget, "MOST_FILE_BYTES", limit)
        many.save_html(tmp_path / "heads.html")
        assert ("With every head whole" in capsys.readouterr().out) == is_pooled


def test_stacks_of_two_kinds_are_saved(monkeypatch, tmp_path):
    """A long encoder comes as small maps, its decoder whole: both are packed again for a file."""
    monkeypatch.setattr(maps_module, "SENT_BYTES", 500)
    stacks = (
        torch.full((2, 1, 3, 11, 11), 1 / 11),
        torch.full((2, 1, 3, 2, 2), 0.5),
        torch.full((2, 1, 3, 2, 11), 1 / 11),
    )
    grid = viz.show(tuple(map(tuple, stacks)), (["a"] * 11, ["b"] * 2))
    assert [type(stack).__name__ for stack in grid._stacks] == ["PooledStack", "Stack", "Stack"]
    assert grid.save_html(tmp_path / "heads.html").stat().st_size > len(grid.data)
