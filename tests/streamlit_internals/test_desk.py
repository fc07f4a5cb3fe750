"""The local app stands on public names: a public server alone uses private ones, for the safety of its users."""

import json
import subprocess
import sys

import pytest

from tests.streamlit_internals.names import imported_names
from viz import ROOT

RUN = """
import json, sys
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from viz.app.make import SCRIPT

def draw(path, script=SCRIPT):
    app = AppTest.from_file(script, default_timeout=300)
    app._page_hash = calc_hash(path)
    app.run()
    assert not app.exception
    return [view.proto.component_name.partition(".")[2] for view in app.get("bidi_component")]

import app
views = [draw(""), draw("heads"), draw("", "app.py")]
print(json.dumps([views, [name for name in sys.modules if name.startswith(("viz.", "pages."))]]))
"""


@pytest.mark.long
def test_desk_imports_no_private_name():
    """Neither its server nor its first page and Heads, which draw their pictures; nor app.py run as a script."""
    process = subprocess.run(
        [sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert process.returncode == 0, process.stderr[-3000:]
    (start, heads, launched), modules = json.loads(process.stdout.splitlines()[-1])
    assert "arcs" in start and "head_grid" in heads
    assert launched == start
    assert {name: imported_names()[name] for name in modules if name in imported_names()} == {}


def test_private_names_are_collected():
    """The search finds those of Streamlit and of uvicorn."""
    assert "streamlit.proto.BackMsg_pb2:BackMsg" in imported_names()["viz.streamlit_internals.hosted"]
    assert "uvicorn.server:Server" in imported_names()["viz.host.connections"]
