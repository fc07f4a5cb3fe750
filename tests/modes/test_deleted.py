"""Each mode can be deleted, and one can be added: tried on a copy of the project."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from viz import ROOT
from viz.modes import ORDER

OPEN = """
import json
from importlib import import_module
import pytest
from pages import EVERY
from tests.running import opener
from viz.modes import find
for page in EVERY:
    import_module(f"pages.{page}.page")
with pytest.MonkeyPatch.context() as patch:
    run, seen = opener(patch), {}
    for page, link in PAGES.items():
        for more in ({}, {"present": 1}, {"print": "worksheet"}, {"embed": 1}):
            app = run(page, source="words", **link, **more)
            assert not app.exception, (page, more, app.exception)
            seen[f"{page} {more}"] = any("framed_" in block.proto.id for block in app.get("flex_container"))
print(json.dumps([[type(mode).__module__ for mode in find()], EVERY, seen]))
"""
PAGES = {
    "heads": {"lesson": "attention_from_nothing", "lesson_step": 1},
    "masks": {},
    "start": {},
}


@pytest.fixture
def copy(tmp_path):
    """The project with folders of its own where a mode may come or go; all else is linked."""
    for name in (".streamlit", "headlight-1.dist-info", "assets", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "app.py", tmp_path)
    for name in ("pages", "viz"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def open_pages(copy: Path) -> tuple[list[str], list[str], dict[str, bool]]:
    """Import every page of a copy and open a few; its modes, its pages, and where a section has a frame."""
    script = OPEN.replace("PAGES", repr(PAGES))
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=copy, capture_output=True, text=True, timeout=600, check=False
    )
    assert process.returncode == 0, process.stderr[-3000:]
    modes, pages, framed = json.loads(process.stdout.splitlines()[-1])
    return [mode.split(".")[2] for mode in modes], pages, framed


@pytest.mark.fast("lesson")
@pytest.mark.parametrize("mode", ORDER)
def test_app_without_mode_opens_pages(copy, mode):
    """Every page is imported and a few are opened, also by links that ask for the mode."""
    shutil.rmtree(copy / "viz" / "modes" / mode)
    modes, pages, framed = open_pages(copy)
    assert modes == [name for name in ORDER if name != mode]
    assert ("lessons" in pages) == (mode != "lesson")
    assert not any(framed.values())


@pytest.mark.long
def test_mode_of_contributing_frames_sections(copy):
    """The lines that CONTRIBUTING.md shows are a mode, and the pages go through it."""
    example = re.search(r"```py\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf8"), re.DOTALL)
    assert example
    assert len([line for line in example[1].splitlines() if line.strip()]) <= 10
    (copy / "viz" / "modes" / "framed").mkdir()
    (copy / "viz" / "modes" / "framed" / "__init__.py").write_text(example[1], "utf8")
    modes, _, framed = open_pages(copy)
    assert modes == [*ORDER, "framed"]
    assert framed["masks {}"] and not framed["start {}"]
