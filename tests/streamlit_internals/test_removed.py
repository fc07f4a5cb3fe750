"""The app works without each private name: whatever it imports stands on public ones."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.streamlit_internals.names import IMPORTED, REQUIRED, SOUGHT
from viz import ROOT
from viz.streamlit_internals import optional, pages_folder
from viz.streamlit_internals.optional import SWITCH, find

OPTIONAL = sorted({name for names in SOUGHT.values() for name in names})

RUNS = """
import json, sys
from importlib import import_module
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from viz.streamlit_internals import optional

make = PagesManager.__init__
def remember(self, *args, **options):  # a server does; the harness forgets that app.py has run (tests/running.py)
    make(self, *args, **options)
    PagesManager.uses_pages_directory = False
PagesManager.__init__ = remember

def draw(path):
    app = AppTest.from_file("app.py", default_timeout=300)
    app._page_hash = calc_hash(path)
    app.run()
    views = {view.proto.component_name.partition(".")[2] for view in app.get("bidi_component")}
    return [[error.message for error in app.exception], [title.value for title in app.title], sorted(views)]

def both():
    return [draw(""), draw("heads")]

class Without:  # a module without some names, for what looks for them through find(); Streamlit needs them itself
    def __init__(self, module, names):
        self.module, self.names = module, names

    def __getattr__(self, name):
        if name in self.names:
            raise AttributeError(name)
        return getattr(self.module, name)

def take(places):
    taken = {}
    for place in places:
        module, name = place.split(":")
        taken.setdefault(module, set()).add(name)
    optional.import_module = lambda module: Without(import_module(module), taken.get(module, ()))

places, found = json.loads(sys.argv[1]), {"": both()}
for group in [*([place] for place in places), places]:
    take(group)
    found[" ".join(group)] = both()
print(json.dumps([found, [name for name in sys.modules if name.startswith(("viz.", "pages."))]]))
"""


@pytest.fixture(scope="module")
def runs():
    """The app's first page and Heads: as it is, without each optional name, and without all; and what it imported."""
    process = subprocess.run(
        [sys.executable, "-c", RUNS, json.dumps(OPTIONAL)],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name != SWITCH} | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", [*OPTIONAL, " ".join(OPTIONAL)])
def test_app_without_name_draws(runs, name):
    """The first page and Heads show the same titles and views, and no error."""
    results, _ = runs
    start, heads = results[name]
    assert start[0] == heads[0] == []
    assert start[1] and "arcs" in start[2]
    assert heads[1] and "head_grid" in heads[2]
    assert results[name] == results[""]


def test_app_imports_no_private_name(runs):
    """The local app imports no private name that public servers require."""
    _, modules = runs
    assert {name: IMPORTED[name] for name in modules if name in IMPORTED} == {}


def test_private_names_are_collected():
    """The search finds those of both kinds."""
    assert "streamlit.proto.BackMsg_pb2:BackMsg" in IMPORTED["viz.streamlit_internals.hosted"]
    assert "uvicorn.server:Server" in IMPORTED["viz.host.connections"]
    assert SOUGHT["viz.streamlit_internals.pages_folder"] == ["streamlit.runtime.pages_manager:PagesManager"]
    assert REQUIRED not in SOUGHT


def test_optional_names_are_installed():
    """With the pinned version each mend is made."""
    assert all(find(place) is not None for place in OPTIONAL)
    assert isinstance(pages_folder.uses_pages_folder(), bool)


def test_switch_leaves_optional_names_out(monkeypatch):
    """As a version of Streamlit would that has none of them."""
    monkeypatch.setenv(SWITCH, "0")
    assert [find(place) for place in OPTIONAL] == [None] * len(OPTIONAL)
    assert pages_folder.uses_pages_folder() is False
    pages_folder.ignore_pages_folder()


@pytest.mark.parametrize("place", OPTIONAL)
def test_optional_name_missing_is_none(monkeypatch, place):
    """Its module may be gone, too."""
    monkeypatch.setattr(optional, "import_module", lambda _: SimpleNamespace())
    assert find(place) is None
    monkeypatch.undo()
    assert find("streamlit.runtime.gone:Name") is None


class WithoutNames:
    """A class of Streamlit's whose attributes have other names."""

    @staticmethod
    def exists():
        return True

    @classmethod
    def instance(cls):
        return cls


def test_attributes_renamed_change_nothing(monkeypatch):
    """The class is there, and what is read of it is not."""
    monkeypatch.setattr(pages_folder, "find", lambda _: WithoutNames)
    before = dict(vars(WithoutNames))
    assert not pages_folder.uses_pages_folder()
    pages_folder.ignore_pages_folder()
    assert dict(vars(WithoutNames)) == before
