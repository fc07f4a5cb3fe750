"""The wheel of `pip install .`: what is in it, its names, and that it stands without the project around it."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from viz import ASSETS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]
DATA = {".toml", ".js", ".css", ".txt"}
NOTEBOOK = ROOT / "examples" / "heads.ipynb"
WIDGET = "application/vnd.jupyter.widget-view+json"
APP = ("streamlit", "plotly", "starlette")
HEAVY = (*APP, "torch", "numpy", "transformers", "anywidget")
"""Modules that ``import headlight_viz`` must not load."""
SETUP = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")
OUR_NAMES = {"viz", "pages"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The package, as pip makes it of a clean checkout; nothing is fetched."""
    folder = tmp_path_factory.mktemp("checkout")
    texts = [f"requirements{extra}.txt" for extra in ("", "-data", "-notebook")]
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "app.py", *texts):
        shutil.copy(ROOT / name, folder)
    for name in ("viz", "pages", ".streamlit"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--wheel-dir", str(folder / "dist")]
    build = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(folder)], capture_output=True, text=True, check=False
    )
    assert build.returncode == 0, build.stderr
    (file,) = (folder / "dist").glob("*.whl")
    return file


def test_package_holds_data_files(wheel):
    """One folder, with the pages, all files that stand beside modules, and what Streamlit runs; under 3 MB."""
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    ours = [path for name in OUR_NAMES for path in (ROOT / name).rglob("*") if path.suffix in DATA | {".py", ".typed"}]
    expected = {path.relative_to(ROOT).as_posix().removeprefix("viz/") for path in ours}
    expected |= {"entry/app.py", "entry/.streamlit/config.toml"}
    assert names == {f"headlight_viz/{name}" for name in expected}
    assert wheel.stat().st_size < 3_000_000


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The package, unpacked in a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


def test_importing_it_is_cheap(installed):
    run = f"import headlight_viz as hl; print(hl.__file__); print([name for name in {HEAVY} if name in sys.modules])"
    command = f"import sys; sys.path.insert(0, {str(installed)!r}); {run}"
    process = subprocess.run([sys.executable, "-I", "-c", command], capture_output=True, text=True, check=True)
    assert process.stdout.splitlines() == [str(installed / "headlight_viz" / "__init__.py"), "[]"]


def test_renaming_changes_modules_alone():
    """Imports, names of modules in strings, and calls in sentences; neither comments nor other words."""
    source = '''
import viz.core.heads  # viz stays
from viz import (
    ROOT,  # é
)
from pages.heads import page
x = "é", load("viz.frame.scene"), f"pages.{name}.page", "viz", "pages.toml is a file", viz.y
"""One calls viz.show(maps), or viz.why."""; from viz.text import fill
'''
    assert (
        SETUP["rename_imports"](source)
        == '''
import headlight_viz.core.heads  # viz stays
from headlight_viz import (
    ROOT,  # é
)
from headlight_viz.pages.heads import page
x = "é", load("headlight_viz.frame.scene"), f"headlight_viz.pages.{name}.page", "viz", "pages.toml is a file", viz.y
"""One calls hl.show(maps), or hl.why."""; from headlight_viz.text import fill
'''
    )


def test_no_module_keeps_old_names():
    """Every module compiles after the renaming, and imports nothing of the checkout, nor names it in a string."""
    sources = [ROOT / "app.py", *(path for name in OUR_NAMES for path in (ROOT / name).rglob("*.py"))]
    for path in sources:
        compile(source := SETUP["rename_imports"](path.read_text("utf8")), path.name, "exec")
        assert not re.search(r"^\s*(from|import) (viz|pages)\b|[\"'](viz|pages)\.[\w.{}]+[\"']", source, re.M), path
    assert len(sources) > 600


USER = """
import headlight_viz as hl
from typing import assert_type

def reason(model: object, tokenizer: object, text: str) -> list[float]:
    why = hl.why(model, tokenizer, text, layer=0, head=1, query="it", key=3)
    assert_type(why.sentence, str)
    return [amount for _, _, amount in why.rows]

grid = hl.show([[[0.5, 0.5], [0.25, 0.75]]], ["a", "b"], layer=0)
print(grid.save_html("heads.html"), grid.weights.tolist())
"""


def names_brought(requirements: list[str]) -> set[str]:
    """Return the distributions that requirements bring, of those that are installed here."""
    names: set[str] = set()
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        if name not in names and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            names |= {name, *names_brought(distribution(name).requires or [])}
    return names


REFUSAL = """
class Refusal:
    def find_spec(name, *_):
        if name in FOREIGN:
            raise ModuleNotFoundError(name)

__import__("sys").meta_path.insert(0, Refusal)
"""


@pytest.mark.long
def test_wheel_serves_users_program(wheel, tmp_path):
    """Installed by pip, it runs with what the extra "notebook" brings alone, and mypy finds its types and errors."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    place = next((tmp_path / "venv").glob("lib/*/site-packages"))
    install = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(place), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True)
    check = ["--strict", "--python-executable", str(python), "--cache-dir", str(tmp_path / "cache"), "user.py"]
    for line, errors in (("", ""), ("reason(1, 2, 3)", '"int"; expected "str"')):
        (tmp_path / "user.py").write_text(USER + line, "utf8")
        types = subprocess.run(
            [sys.executable, "-m", "mypy", *check], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert errors in types.stdout and bool(types.returncode) == bool(errors), types.stdout
    extra = re.findall(r"^\w[^#\s]*", (ROOT / "requirements-notebook.txt").read_text("utf8"), re.MULTILINE)
    library_names = names_brought([*PROJECT["dependencies"], *extra]) | {PROJECT["name"]}
    modules = packages_distributions().items()
    foreign = [module for module, names in modules if library_names.isdisjoint(map(canonicalize_name, names))]
    (tmp_path / "user.py").write_text(f"FOREIGN = {foreign}{REFUSAL}{USER}", "utf8")
    (place / "tests.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")), "utf8")
    run = subprocess.run([python, "-I", "user.py"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.splitlines()[-1] == "heads.html [[0.5, 0.5], [0.25, 0.75]]"


DRAW = """
import sys
from streamlit.testing.v1 import AppTest

app = AppTest.from_file(sys.argv[1], default_timeout=600).run()
print([error.value for error in app.exception], {view.proto.component_name for view in app.get("bidi_component")})
"""


@pytest.mark.long
def test_app_draws_without_checkout(installed, tmp_path):
    """With assets/ where its own distribution puts it; its views are those of the installed package."""
    (installed / "headlight_viz_data").mkdir()
    (installed / "headlight_viz_data" / "assets").symlink_to(ASSETS)
    command = [sys.executable, "-c", DRAW, str(installed / "headlight_viz" / "entry" / "app.py")]
    env = os.environ | {"PYTHONPATH": str(installed)}
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
    assert run.stdout.startswith("[] {") and "'headlight-viz.arcs'" in run.stdout, run.stderr[-3000:]


def outputs(notebook):
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


LIST_MODULES = f"import sys\n[hl.__file__, *(name for name in {APP} if name in sys.modules)]"


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
    assert texts[7] == repr([str(installed / "headlight_viz" / "__init__.py")])
    assert 50_000 < (tmp_path / "heads.html").stat().st_size < 300_000


def test_its_version_is_the_citations():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf8"))
    assert (PROJECT["version"], PROJECT["license"]) == (cited["version"], cited["license"])


def test_data_has_its_version():
    """The distribution of assets/, which the extra "app" asks for."""
    data = tomllib.loads((ASSETS / "pyproject.toml").read_text("utf8"))["project"]
    pin = (ROOT / "requirements-data.txt").read_text("utf8").splitlines()[-1]
    assert pin == f"{data['name']}=={data['version']}" and data["version"] == PROJECT["version"]
