"""Streamlit's session state is used in viz/params alone."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.test_house import SOURCES, house_of, name, nodes

EXCEPTIONS = {
    # The messages of a view in the browser, and the language of its words.
    "viz/components/view.py": 2,
}
"""The uses that are left, by file. It may only shrink."""


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
    counts = Counter({name(path): n for path in paths_outside if (n := uses(path))})
    assert counts - Counter(EXCEPTIONS) == Counter(), "declare a parameter, or Remembered"
    assert Counter(EXCEPTIONS) - counts == Counter(), "fewer are left: shorten the list"


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
