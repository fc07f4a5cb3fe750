"""A public server does not start without a private name on which its safety depends."""

import os
import subprocess
import sys
from importlib import import_module
from inspect import getmembers
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st

from tests import SAFETY_NET
from tests.browser.drive import serve
from tests.host.test_server import get
from tests.streamlit_internals.names import imported, imported_names, module_of, underscored
from tests.test_house import SOURCES
from viz import ROOT
from viz.streamlit_internals import required
from viz.streamlit_internals.required import CALLS, NAMES, OPTIONS, missing_names, required_problem, sets

MODULES = {"streamlit:config"}
"""Modules of which ``OPTIONS`` names what is used."""
FROM_STREAMLIT = {
    "streamlit.proto.NewSession_pb2:NewSession",
    "streamlit.proto.NewSession_pb2:Initialize",
    "streamlit.proto.ClientState_pb2:ContextInfo",
    "streamlit.proto.Element_pb2:Element",
    "streamlit.runtime.fragment:MemoryFragmentStorage",
    "streamlit.runtime.state.session_state:SessionState",
    "uvicorn.config:Config",
    "websockets.protocol:Protocol",
    "websockets.streams:StreamReader",
}
"""Classes that are not imported: other names give their objects."""
ATTRIBUTES = [(place, name) for place, names in NAMES.items() for name in names]


def without(owner: Any, name: str) -> Any:
    """Return a stand-in for a class that neither has this attribute nor sets it."""
    members = {
        attribute: member for attribute, member in getmembers(owner) if attribute != name and not sets(member, name)
    }
    if "DESCRIPTOR" in members:
        fields = dict(owner.DESCRIPTOR.fields_by_name)
        fields.pop(name, None)
        members["DESCRIPTOR"] = SimpleNamespace(fields_by_name=fields)
    return SimpleNamespace(**members)


def test_installed_names_are_complete():
    """With the required versions nothing is missing."""
    assert missing_names() == [] and required_problem() == ""


@pytest.mark.parametrize(("place", "name"), ATTRIBUTES)
def test_attribute_taken_away_is_named(monkeypatch, place, name):
    """The sentence names what is missing, where it was sought, and what to do."""
    module, owner = place.split(":")
    original = import_module(module)
    monkeypatch.setattr(original, owner, without(getattr(original, owner), name))
    problem = required_problem()
    assert f"{owner}.{name}" in problem, "with what is set beside it"
    assert f" not found in streamlit {st.__version__}, uvicorn " in problem
    assert "pip install -r requirements.txt" in problem and "\n" not in problem


@pytest.mark.parametrize("place", NAMES)
def test_class_taken_away_is_named(monkeypatch, place):
    """So is a class with all that it has."""
    module, owner = place.split(":")
    monkeypatch.delattr(import_module(module), owner)
    assert missing_names() == [owner]


@pytest.mark.parametrize("place", CALLS)
def test_changed_signature_is_named(monkeypatch, place):
    """A call with other arguments would fail in the middle of a run."""
    module, name = place.split(":")
    owner, _, method = name.rpartition(".")
    monkeypatch.setattr(getattr(import_module(module), owner), method, lambda argument, /, *, needs: None)
    assert [missing.partition("(")[0] for missing in missing_names()] == [name]


@pytest.mark.parametrize("option", OPTIONS)
def test_option_taken_away_is_named(monkeypatch, option):
    """Streamlit raises for a setting that it does not have."""
    monkeypatch.setattr(required, "OPTIONS", (f"{option}Gone",))
    assert missing_names() == [f"{option}Gone"]


def users() -> list[Path]:
    """The files that import private names."""
    return [path for path in SOURCES if module_of(path) in imported_names()]


def test_imported_private_names_are_required():
    """A missing name ends the start with a message that names it; the local server imports none."""
    attributes = {name for _, name in ATTRIBUTES}
    for path in users():
        assert {place for place in imported(path) if place not in MODULES} <= NAMES.keys(), path
        assert underscored(path) <= attributes, path


def test_required_names_are_used():
    """The list has no name that nothing imports any more, except what those give back."""
    used = {place for path in users() for place in imported(path)}
    assert NAMES.keys() - used == FROM_STREAMLIT


TAKEN_AWAY = """
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol as protocol
protocol.read_whole = protocol.send_receive_event_to_app
del protocol.send_receive_event_to_app
"""


@pytest.fixture
def without_hook(tmp_path: Path) -> str:
    """A folder before all modules: a hook of the connections has another name then."""
    (tmp_path / "sitecustomize.py").write_text(TAKEN_AWAY, "utf8")
    return str(tmp_path)


def test_public_server_without_hook_refuses(without_hook):
    """It ends with the sentence, and no traceback."""
    command = [sys.executable, "-m", "streamlit", "run", "serve.py", "--server.headless=true", "--server.port=0"]
    environment = os.environ | {"PYTHONPATH": without_hook}
    process = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SAFETY_NET, check=False
    )  # fmt: skip
    assert process.returncode == 1
    assert "cannot protect its users without WebSocketsSansIOProtocol.send_receive_event_to_app" in process.stderr
    assert "Traceback" not in process.stdout + process.stderr


def test_desk_without_hook_starts(without_hook, tmp_path):
    """There is one user, who needs no protection."""
    with serve(ROOT / "app.py", tmp_path / "log.txt", PYTHONPATH=without_hook) as server:
        assert get(server, "/_stcore/health")[0] == get(server, "/")[0] == 200
