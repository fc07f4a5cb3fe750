"""A patch that fails gives way to Streamlit's own code, in that session alone, and is counted once."""

import logging
from types import SimpleNamespace

import pytest
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.state import SafeSessionState, SessionState

from viz.streamlit_internals import containment, less_work
from viz.streamlit_internals.containment import attempt, has_failed


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """Failures of one test."""
    monkeypatch.setattr(containment, "FAULTS", type(containment.FAULTS)())
    return containment.FAULTS


def fail():
    raise ValueError("a user's text")


def test_attempt_after_failure_uses_own_code(counted, caplog):
    caplog.set_level(logging.ERROR)
    failing, other, calls = SimpleNamespace(), SimpleNamespace(), []
    assert attempt("changes", failing, fail, lambda: "own") == "own"
    assert attempt("together", failing, lambda: calls.append("patch"), lambda: "own") == "own"
    assert attempt("changes", other, lambda: "patch", lambda: "own") == "patch"
    assert (has_failed(failing), has_failed(other), calls) == (True, False, [])
    assert counted == {"changes": 1}


def test_attempt_with_common_exception_passes_on(counted):
    """Streamlit's own code fails as well: the patch is not at fault."""
    session = SimpleNamespace()
    with pytest.raises(ValueError):
        attempt("changes", session, fail, fail)
    with pytest.raises(ValueError):
        attempt("changes", session, fail, lambda: "own", passes=(ValueError,))
    assert not has_failed(session) and not counted


@pytest.mark.parametrize("context", [None, SimpleNamespace(session_id="gone"), SimpleNamespace()])
def test_current_session_without_browser_has_not_failed(monkeypatch, context):
    monkeypatch.setattr(containment, "get_script_run_ctx", lambda **_: context)
    running = SimpleNamespace(instance=lambda: SimpleNamespace(get_app_session={}.get))
    monkeypatch.setattr(containment, "Runtime", running)
    assert not has_failed(containment.current_session())


@pytest.fixture
def values(monkeypatch):
    """A session's values as a control asks for them, and as a script does."""
    for name in ("filtered_state", "__getitem__"):
        monkeypatch.setattr(SafeSessionState, name, getattr(SafeSessionState, name))
    session = SimpleNamespace()
    monkeypatch.setattr(less_work, "current_session", lambda: session)
    state = SessionState()
    state["head"] = 7
    less_work.ask_for_one_value()
    less_work.read_values()
    return SafeSessionState(state, lambda: None)


@pytest.mark.parametrize("name", ["_value", "_has"])
def test_values_after_failure_are_the_same(values, counted, monkeypatch, name):
    monkeypatch.setattr(less_work, name, lambda *_: fail())
    assert "head" in values.filtered_state and "layer" not in values.filtered_state
    assert values["head"] == values.filtered_state["head"] == 7
    assert counted == {"values": 1}


def test_theme_after_failure_is_populated(counted, monkeypatch):
    populate = app_session._populate_theme_msg
    monkeypatch.setattr(app_session, "_populate_theme_msg", populate)
    less_work.work_out_once()
    theme = CustomThemeConfig()
    monkeypatch.setattr(less_work, "CustomThemeConfig", fail)
    app_session._populate_theme_msg(theme, "theme.light")
    assert theme.ByteSize() > 0
    assert set(counted) == {"theme"}
