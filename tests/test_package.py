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
    for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.txt"):
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


def test_it_stands_without_the_project(wheel, tmp_path):
    """Unpacked elsewhere, with nothing but its own folder to import from: nothing heavy, and no Streamlit."""
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path)
    run = f"import sys, viz; print(viz.__file__); print([name for name in {FORGOTTEN} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {run}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == [str(tmp_path / "viz" / "__init__.py"), "[]"]


def test_its_version_is_the_citations():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert (PROJECT["version"], PROJECT["license"]) == (cited["version"], cited["license"])
