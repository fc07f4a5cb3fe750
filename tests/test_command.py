"""The command ``headlight``: its help and examples in docs/command.md, its exit codes, a sentence for each fault."""

import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from viz import ASSETS, ROOT, __main__
from viz.__main__ import main
from viz.models import registry

PAGE = (ROOT / "docs" / "command.md").read_text("utf8")
EXAMPLES = [shlex.split(line)[1:] for line in re.findall(r"^headlight .*$", PAGE, re.MULTILINE)]
TEXT = "the cat sees the cat"
SHOW = ["show", "twin-g8", TEXT, "-o"]
WHY = ["why", "twin-g8", TEXT]


@pytest.mark.parametrize("command", ["", "show", "why", "app"])
def test_help_is_documented(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--help"])
    assert end.value.code == 0
    assert f"```text\n{capsys.readouterr().out}```" in PAGE


@pytest.mark.parametrize("example", EXAMPLES[:-1], ids=lambda example: "-".join(example[:2]))
def test_example_writes_its_file(example, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(example) == 0
    out, err = capsys.readouterr()
    assert Path(example[example.index("-o") + 1]).read_text("utf8").startswith("<!doctype html>")
    assert err.startswith(f"Opening {example[1]}\n")
    if example[0] == "why":
        assert re.search(r"^feed-forward 2 +it +\+2\.07$", out, re.MULTILINE)


def test_show_opens_chosen_head(capsys, tmp_path):
    """A folder of one's own, with the layer, the head and the language that were asked for."""
    shutil.copytree(ASSETS / "twins" / "twin-g2", tmp_path / "own")
    file = tmp_path / "heads.html"
    assert main(["show", str(tmp_path / "own"), TEXT, "-o", str(file), "--layer=1", "--head=3", "--lang=zh"]) == 0
    page = file.read_text("utf8")
    assert '<html lang="zh-Hans">' in page and '"layer": 1, "head": 3,' in page


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["show", "nothing", TEXT, "-o", "a.html"], "nothing is no folder on this machine, and no model"),
        (["show", ".", TEXT, "-o", "a.html"], "config.json is missing"),
        ([*SHOW, "none/a.html"], "There is no folder none in which a file 'a.html' can be."),
        ([*SHOW, "/proc/a.html"], "could not be written"),
        ([*SHOW, "a.html", "--layer=9"], "layer=9 has no maps here"),
        ([*SHOW, "a.html", "--head=-1"], "head=-1 is not from 0 to 7"),
        (["show", "twin-g8", "", "-o", "a.html"], "There is no token in this text."),
        ([*WHY, "--layer=0", "--head=0", "--query=the", "--key=1"], "query='the' is at 2 places"),
        ([*WHY, "--layer=0", "--head=0", "--query=1", "--key=99"], "key=99 is at 0 places"),
        (["app", "--model", "none"], "There is no folder none."),
    ],
    ids=lambda value: "" if isinstance(value, list) else value[:20],
)
def test_fault_is_a_sentence(arguments, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("headlight: ") and sentence in last
    assert list(tmp_path.iterdir()) == []


def test_hub_without_address_is_told(capsys, monkeypatch):
    entry = next(entry for entry in registry.entries() if not entry.is_here())
    monkeypatch.setattr(registry, "hub", lambda: registry.Reachability("nowhere.invalid"))
    monkeypatch.setattr(registry.Entry, "is_here", lambda _: False)
    assert main(["show", entry.id, TEXT, "-o", "a.html"]) == 1
    assert f"{entry.id} is not on this machine" in capsys.readouterr().err


def test_missing_package_is_named(capsys, monkeypatch):
    error = ModuleNotFoundError("No module named 'transformers'", name="transformers")
    monkeypatch.setattr(__main__, "_open", Mock(side_effect=error))
    assert main([*SHOW, "a.html"]) == 1
    assert "The package transformers is not installed: pip install" in capsys.readouterr().err
    monkeypatch.setattr(__main__, "_open", Mock(side_effect=KeyboardInterrupt))
    assert main([*SHOW, "a.html"]) == 130


@pytest.mark.parametrize("arguments", [[], ["show"], [*SHOW, "a.html", "--layer=one"], WHY, ["app", "--port=65536"]])
def test_wrong_use_exits_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2 and capsys.readouterr().err.startswith("usage: headlight")


def test_app_is_handed_its_options(monkeypatch, tmp_path):
    runs = []
    monkeypatch.setattr(runpy, "run_module", lambda module, **_: runs.append((module, [*sys.argv])))
    monkeypatch.setattr(sys, "argv", [])
    assert main(EXAMPLES[-1]) == main(["app", "--model", str(tmp_path)]) == 0
    script, model = str(ROOT / "app.py"), str(tmp_path)
    with_port, with_model = ["--server.port=8501", script, "--"], [script, "--", "--model", model]
    assert runs == [("streamlit", ["streamlit", "run", *rest]) for rest in (with_port, with_model)]
