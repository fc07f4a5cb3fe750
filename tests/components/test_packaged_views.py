"""Views by Streamlit's public means: a packaged component in a plain checkout, whose code comes from memory."""

import csv
import hashlib
import json
import shutil
import subprocess
import tomllib
from importlib.metadata import distribution

import pytest

from tests.running import start_app
from viz import ROOT
from viz.components import bundle
from viz.components.view import LOADER, PACKAGE, address, component_name

NODE = shutil.which("node")
MANIFEST = LOADER.parents[1] / "pyproject.toml"


def test_manifest_names_every_view():
    """Streamlit mounts a component by a file only if its manifest names the component."""
    manifest = tomllib.loads(MANIFEST.read_text("utf8"))
    components = manifest["tool"]["streamlit"]["component"]["components"]
    assert [component["name"] for component in components] == sorted(view.rpartition("/")[2] for view in bundle.views())
    assert {component["asset_dir"] for component in components} == {LOADER.parent.name}
    assert manifest["project"]["name"] == PACKAGE == distribution(PACKAGE).name


def test_record_names_the_manifest():
    """The folder beside app.py makes the checkout an installed package."""
    (record,) = csv.reader((ROOT / f"{PACKAGE}-1.dist-info" / "RECORD").read_text("utf8").splitlines())
    assert ROOT / record[0] == MANIFEST


def test_loader_name_holds_its_content():
    """A browser keeps it for good: with other content it needs another name."""
    digest = hashlib.blake2b(LOADER.read_bytes(), digest_size=8).hexdigest()
    assert [file.name for file in LOADER.parent.iterdir()] == [LOADER.name] == [f"load-{digest}.js"]


def page() -> None:
    from viz.components.view import VIEWS, View

    view = View("masks/growing")
    VIEWS.remove(view)
    view.mount(key="one", data=b"1")
    view.mount(key="two", data={"a": 2})


def test_mounted_view_is_sent_by_address():
    """No code goes with the data, and each AppTest finds the package by itself."""
    for _ in range(2):
        app = start_app(page).run()
        assert not app.exception
        for view in (proto.proto for proto in app.get("bidi_component")):
            assert (view.component_name, view.js_source_path) == (component_name("masks/growing"), LOADER.name)
            assert view.html_content == f'<data value="{bundle.bundle("masks/growing")[0]}"></data>'
            assert view.js_content == view.css_content == view.css_source_path == ""
            assert address("masks/growing").endswith(f"/{view.component_name}/{bundle.bundle('masks/growing')[0]}")


LOADS = """
import load from "./loader.mjs";
const calls = [], waiting = new Map();
globalThis.arrived = (file) => new Promise((done) => waiting.set(file, done));
globalThis.draw = (file, data) => { calls.push([file, data]); return () => calls.push([file, "closed"]); };
const value = { value: "one.mjs" }, parentElement = { querySelector: () => value };
const first = load({ parentElement, data: 1 }), second = load({ parentElement, data: 2 });
await new Promise((done) => setTimeout(done, 100));
waiting.get("one.mjs")();
const closings = await Promise.all([first, second]);
load({ parentElement, data: 3 });
value.value = "two.mjs";
const third = load({ parentElement, data: 4 });
await new Promise((done) => setTimeout(done, 100));
waiting.get("two.mjs")();
(await third)();
console.log(JSON.stringify([calls, closings.map((close) => typeof close)]));
"""


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests load views themselves")
def test_loader_with_newer_data_shows_that(tmp_path):
    """Data that has come while the code was loading is shown once, the latest; a new file is loaded beside the old."""
    (tmp_path / "loader.mjs").write_bytes(LOADER.read_bytes())
    for file in ("one.mjs", "two.mjs"):
        code = f"await arrived('{file}');\nexport default ({{ data }}) => draw('{file}', data);\n"
        (tmp_path / file).write_text(code, "utf8")
    (tmp_path / "run.mjs").write_text(LOADS, "utf8")
    process = subprocess.run([str(NODE), tmp_path / "run.mjs"], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    calls, closings = json.loads(process.stdout)
    assert calls == [["one.mjs", 2], ["one.mjs", 3], ["two.mjs", 4], ["two.mjs", "closed"]]
    assert closings == ["undefined", "function"]
