"""`pip install .`: what is in the package, and that it stands without the project around it."""

import json
import os
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
DATA = {".toml", ".js", ".css", ".txt"}
NOTEBOOK = ROOT / "examples" / "heads.ipynb"
WIDGET = "application/vnd.jupyter.widget-view+json"
APP = ("streamlit", "plotly", "starlette")
HEAVY = (*APP, "torch", "numpy", "transformers", "anywidget")
"""Modules that ``import viz`` must not load."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The package, as pip makes it of a clean checkout; nothing is fetched."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE", "requirements.txt", "requirements-notebook.txt"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "viz", folder / "viz", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--wheel-dir", str(folder / "dist")]
    build = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(folder)], capture_output=True, text=True, check=False
    )
    assert build.returncode == 0, build.stderr
    (file,) = (folder / "dist").glob("*.whl")
    return file


def test_package_holds_data_files(wheel):
    """The package has all files that stand beside its modules."""
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    ours = [path for path in (ROOT / "viz").rglob("*") if path.suffix in DATA | {".py"}]
    assert names == {path.relative_to(ROOT).as_posix() for path in ours}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The package, unpacked in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def test_importing_it_is_cheap(installed):
    run = f"import viz; print(viz.__file__); print([name for name in {HEAVY} if name in sys.modules])"
    command = f"import sys; sys.path.insert(0, {str(installed)!r}); {run}"
    process = subprocess.run([sys.executable, "-I", "-c", command], capture_output=True, text=True, check=True)
    assert process.stdout.splitlines() == [str(installed / "viz" / "__init__.py"), "[]"]


def outputs(notebook):
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


LIST_MODULES = f"import sys\n[viz.__file__, *(name for name in {APP} if name in sys.modules)]"


@pytest.mark.long
def test_notebook_runs_with_package_alone(installed, tmp_path):
    """As it stands in examples/, without the project around it; what it prints is true, and it brings no Streamlit."""
    notebook = json.loads(NOTEBOOK.read_text("utf8"))
    assert outputs(notebook) == [], "it is kept without what it showed"
    notebook["cells"].append(
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": LIST_MODULES}
    )
    (tmp_path / "heads.ipynb").write_text(json.dumps(notebook), "utf8")
    homes = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    program = str(Path(sys.executable).with_name("jupyter-execute"))
    process = subprocess.run(
        [program, "--kernel_name=python3", "--timeout=300", "--inplace", str(tmp_path / "heads.ipynb")],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | homes | {"PYTHONPATH": str(installed), "IPYTHONDIR": str(tmp_path / "ipython")},
    )
    assert process.returncode == 0, process.stderr[-3000:]
    run = json.loads((tmp_path / "heads.ipynb").read_text("utf8"))
    displayed = [output["data"] for output in outputs(run) if "data" in output]
    assert [WIDGET in data for data in displayed] == [True, False, False, False, True, False, False, False]
    assert ["text/html" in data for data in displayed] == [False, True, False, False, False, True, False, False]
    texts = ["".join(data["text/plain"]) for data in displayed]
    assert texts[2] == "('self', 3, 1, 10)"
    assert texts[3].startswith("('it', {'animal': 0.68, '[CLS]': 0.1,")
    assert texts[7] == repr([str(installed / "viz" / "__init__.py")])
    assert 50_000 < (tmp_path / "heads.html").stat().st_size < 300_000


def test_its_version_is_the_citations():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert (PROJECT["version"], PROJECT["license"]) == (cited["version"], cited["license"])
