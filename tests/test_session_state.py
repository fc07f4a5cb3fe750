"""Streamlit's session state is used in viz/params alone."""

import ast
from pathlib import Path

import pytest

from tests.test_house import SOURCES, house_of, name, nodes


def uses(path: Path) -> int:
    """Return how often a file uses the session state, however it is imported."""
    count = 0
    for node in nodes(path):
        match node:
            case (
                ast.Attribute(attr="session_state")
                | ast.alias(name="session_state")
                | ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value="session_state"), *_])
            ):
                count += 1
    return count


def test_session_state_used_in_params_alone():
    """Every value of a session is a parameter of its link, or remembered: both are declared, with their types.

    A public server's safety needs Streamlit's own object, in viz/streamlit_internals.
    """
    paths_outside = [path for path in SOURCES if house_of(path) not in ("params", "streamlit_internals")]
    assert [name(path) for path in paths_outside if uses(path)] == [], "declare a parameter, or Remembered"


@pytest.mark.parametrize(
    "way",
    [
        "st.session_state['x']",
        "st.session_state.x = 1",
        "from streamlit import session_state",
        "from streamlit import session_state as kept",
        "getattr(st, 'session_state')",
    ],
)
def test_use_of_session_state_is_found(way, tmp_path):
    (file := tmp_path / "use.py").write_text(way)
    assert uses(file) == 1
