"""A page is one folder: the one CONTRIBUTING.md shows is put into a copy of the project, and opened."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from viz import ROOT
from viz.text import LANGUAGES

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf8")
OPEN = """
import json, sys
import pytest
from tests.running import opener
with pytest.MonkeyPatch.context() as patch:
    run, seen = opener(patch), {}
    for section in ("weights", "count", "all"):
        for lang in ("en", "zh"):
            app = run("toy", section=section, lang=lang)
            assert not app.exception, app.exception
            seen[f"{section} {lang}"] = [app.title[0].value, len(app.dataframe), len(app.metric), len(app.header)]
print(json.dumps(seen))
"""


def example_in(language: str) -> str:
    """The code CONTRIBUTING.md shows in a language."""
    block = re.search(rf"```{language}\n(.*?)```", CONTRIBUTING, re.DOTALL)
    assert block
    return block[1]


@pytest.fixture
def copy(tmp_path):
    for name in ("app.py", ".streamlit", "pages", "viz", "headlight-1.dist-info", "assets", "tests"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def test_page_of_contributing_opens(copy):
    """The page of CONTRIBUTING.md is one folder and opens."""
    folder = copy / "pages" / "toy"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""A toy."""\n', "utf8")
    (folder / "page.py").write_text(example_in("python"), "utf8")
    for lang in LANGUAGES:
        (folder / f"{lang}.toml").write_text(example_in("toml"), "utf8")
    process = subprocess.run(
        [sys.executable, "-c", OPEN], cwd=copy, capture_output=True, text=True, timeout=600, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]
    report = json.loads(process.stdout.splitlines()[-1])
    for lang in LANGUAGES:
        assert report[f"weights {lang}"] == ["Toy", 1, 0, 1]
        assert report[f"count {lang}"] == ["Toy", 0, 1, 1]
        assert report[f"all {lang}"] == ["Toy", 1, 1, 2]
