"""A page is one folder: the one CONTRIBUTING.md shows is put into a copy of the project, and opened."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from viz import ROOT
from viz.text import LANGUAGES

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf8")
OPEN = """
import json
import pytest
from tests.running import line_charts, matrices, opener

def read(app):
    assert not app.exception and not app.error, (app.exception, app.error)
    sliders = [slider.label for slider in app.slider if slider.key == "factor"]
    charts = [chart["y"]["title"] for chart in line_charts(app).values()]
    return {"title": app.title[0].value, "sliders": sliders, "charts": charts, "headers": len(app.header)}

with pytest.MonkeyPatch.context() as patch:
    run, report = opener(patch), {}
    for lang in ("en", "zh"):
        for section in ("weights", "spread", "all"):
            report[f"{section} {lang}"] = read(run("toy", section=section, lang=lang))
        app = run("toy", lang=lang)
        largest = [float(matrices(app)["toy_weights"][1].max())]
        app.slider(key="factor").set_value(4.0).run()
        largest.append(float(matrices(app)["toy_weights"][1].max()))
        report[f"moved {lang}"] = read(app) | {"largest": largest, "link": app.query_params["factor"]}
print(json.dumps(report))
"""


def examples_in(language: str) -> list[str]:
    """The code that CONTRIBUTING.md shows in a language, by block."""
    return re.findall(rf"```{language}\n(.*?)```", CONTRIBUTING, re.DOTALL)


@pytest.fixture
def copy(tmp_path):
    for name in ("app.py", ".streamlit", "pages", "viz", "headlight-1.dist-info", "assets", "tests"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path / name)
    return tmp_path


def write_page(folder: Path) -> int:
    """Write the page of CONTRIBUTING.md into a folder; return its number of lines."""
    (page, *_), texts = examples_in("python"), examples_in("toml")[: len(LANGUAGES)]
    files = {"__init__.py": '"""A toy."""\n', "page.py": page}
    files |= {f"{lang}.toml": text for lang, text in zip(LANGUAGES, texts, strict=True)}
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content, "utf8")
    return sum(len(content.splitlines()) for content in files.values())


@pytest.mark.long
def test_page_of_contributing_opens(copy):
    """The page of CONTRIBUTING.md is one small folder: a slider, a view and a chart, in both languages."""
    assert write_page(copy / "pages" / "toy") < 80
    process = subprocess.run(
        [sys.executable, "-c", OPEN], cwd=copy, capture_output=True, text=True, timeout=600, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]
    report = json.loads(process.stdout.splitlines()[-1])
    words = {
        "en": ("Toy page", "Factor of the scores", "Entropy (nats)"),
        "zh": ("示例页", "得分的系数", "熵（nats）"),
    }
    for lang, (title, slider, chart) in words.items():
        assert report[f"weights {lang}"] == {"title": title, "sliders": [slider], "charts": [], "headers": 1}
        assert report[f"spread {lang}"] == {"title": title, "sliders": [], "charts": [chart], "headers": 1}
        assert report[f"all {lang}"] == {"title": title, "sliders": [slider], "charts": [chart], "headers": 2}
        before, after = report[f"moved {lang}"]["largest"]
        assert 0 < before < after <= 1, "larger scores make sharper weights"
        assert report[f"moved {lang}"]["link"] in ("4.0", ["4.0"])
