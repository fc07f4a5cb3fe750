"""Values that a session keeps from run to run and its link does not hold."""

import ast
from collections import Counter

import pytest
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.testing.v1 import AppTest

from tests.running import start_app
from tests.test_house import SOURCES, name, nodes
from viz.params.memory import Remembered


def counter() -> None:
    import streamlit as st

    from viz.params.memory import Remembered

    clicks, flag = Remembered("_clicks", default=0), Remembered("_flag", default=False)
    st.button("more", on_click=lambda: clicks.set(clicks.read() + 1))
    st.button("flag", on_click=flag.set, args=(True,))
    st.button("forget", on_click=clicks.forget)
    st.text(f"{clicks.read()} {clicks.exists()} {flag.take()} {flag.exists()}")


def press(app: AppTest, label: str) -> str:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return str(app.text[0].value)


def test_value_is_kept_until_forgotten():
    app = start_app(counter).run()
    assert app.text[0].value == "0 False False False"
    assert press(app, "more") == "1 True False False"
    assert press(app, "more") == "2 True False False"
    assert press(app, "forget") == "0 False False False"


def test_value_taken_is_forgotten():
    app = start_app(counter).run()
    assert press(app, "flag") == "0 False True False"
    assert press(app, "more") == "1 True False False"


def test_value_of_session_stays_there():
    first, second = (start_app(counter).run() for _ in range(2))
    assert press(first, "more") == "1 True False False"
    assert second.run().text[0].value == "0 False False False"


def test_required_value_unset_raises(monkeypatch):
    monkeypatch.setattr("streamlit.session_state", {})
    place: Remembered[str] = Remembered("_place")
    assert not place.exists()
    with pytest.raises(KeyError):
        place.read()
    place.set("above")
    assert place.read() == "above"


@pytest.mark.parametrize("default", [[], {}, set()])
def test_mutable_default_is_refused(default):
    """One user's change of it would reach all others."""
    with pytest.raises(TypeError):
        Remembered("_list", default=default)


def test_name_of_parameter_is_refused():
    with pytest.raises(ValueError, match="underscore"):
        Remembered("layer", default=0)


def declared_names() -> list[tuple[str, str]]:
    """Return the file and the name of each remembered value that is declared in the app."""
    return [
        (name(path), ast.unparse(node.args[0]))
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).partition("[")[0] == "Remembered"
    ]


def test_remembered_names_are_unique():
    """Two declarations of the same name would write over each other."""
    names = declared_names()
    counts = Counter(key for _, key in names)
    assert [entry for entry in names if counts[entry[1]] > 1] == []


@pytest.mark.parametrize("page", ["heads", "masks"])
def test_run_reads_state_once(monkeypatch, open_app, page):
    """Each read locks the session: of some 400 a run these are left."""
    app, reads = open_app(page), []
    read = SafeSessionState.__getitem__
    monkeypatch.setattr(SafeSessionState, "__getitem__", lambda state, key: (reads.append(key), read(state, key))[1])
    app.run()
    assert not app.exception and 0 < len([key for key in reads if not key.startswith("$$STREAMLIT")]) < 100
