"""`pip install .`: what is in the package, and that it stands without the project around it."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from viz import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
DATA = {".toml", ".js", ".css"}
FORGOTTEN = ("streamlit", "plotly", "torch", "numpy", "transformers", "anywidget")
"""What ``import viz`` alone must not wait for."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The package, as pip makes it of a clean checkout; nothing is fetched."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.txt", "requirements-notebook.txt"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "viz", folder / "viz", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--wheel-dir", str(folder / "dist")]
    made = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(folder)], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    (file,) = (folder / "dist").glob("*.whl")
    return file


def test_the_package_has_all_that_stands_beside_its_modules(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    ours = [path for path in (ROOT / "viz").rglob("*") if path.suffix in DATA | {".py"}]
    assert names == {path.relative_to(ROOT).as_posix() for path in ours}


RUN = """
import sys
sys.path.insert(0, {folder!r})
import viz
print(viz.__file__)
print([name for name in {forgotten} if name in sys.modules])
import torch
sys.modules["anywidget"] = None
try: viz.show((torch.eye(2)[None, None],), ["a", "b"])
except ImportError as error: print(error)
del sys.modules["anywidget"]
grid = viz.show((torch.eye(2)[None, None],), ["a", "b"], lang="zh")
print(grid.save_html({folder!r} + "/heads.html").stat().st_size > 50_000)
print([name for name in ("streamlit", "plotly", "transformers", "scipy") if name in sys.modules])
"""


def test_it_stands_without_the_project(wheel, tmp_path):
    """Unpacked elsewhere, alone on the path: ``import viz`` is cheap, ``viz.show`` brings neither app nor models."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    run = RUN.format(folder=str(tmp_path), forgotten=FORGOTTEN)
    done = subprocess.run([sys.executable, "-I", "-c", run], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        str(tmp_path / "viz" / "__init__.py"),
        "[]",
        'A notebook shows the grid through anywidget: pip install "headlight-viz[notebook]".',
        "True",
        "[]",
    ], done.stderr


def test_its_version_is_the_citations():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert (PROJECT["version"], PROJECT["license"]) == (cited["version"], cited["license"])
