"""Streamlit's session state is used in viz/params alone."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.test_house import SOURCES, house_of, name, nodes

LEFT = {
    # The value that a view in the browser sent, read in its callback: it is to be read by the object of the view.
    **dict.fromkeys(
        (
            "pages/block/diagram.py",
            "pages/convolution/picture.py",
            "pages/convolution/windows.py",
            "pages/long_text/head_map.py",
            "pages/long_text/wall.py",
            "pages/masks/editor.py",
            "pages/masks/every_mask.py",
            "pages/next_word/word_grid.py",
            "pages/positions/encodings.py",
            "pages/positions/sinusoids.py",
            "pages/start/arcs.py",
            "viz/components/mount.py",
            "viz/frame/compare/picture.py",
            "viz/frame/head_grid/grid.py",
            "viz/frame/lesson/bar.py",
            "viz/frame/lesson/editor.py",
            "viz/frame/present/presenter.py",
            "viz/frame/share/panel.py",
            "viz/frame/show.py",
        ),
        1,
    ),
    "pages/convolution/vision/heads.py": 2,
    "pages/step_by_step/own_numbers/editor.py": 3,
    "pages/step_by_step/three_words.py": 3,
    # An uploaded file, of a widget whose key its caller gives.
    "viz/frame/connection/uploads.py": 2,
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
    """What a session keeps is a parameter of its link, or remembered: both are declared, with their types.

    A public server's safety needs Streamlit's own object, in viz/streamlit_internals.
    """
    others = [path for path in SOURCES if house_of(path) not in ("params", "streamlit_internals")]
    found = Counter({name(path): n for path in others if (n := uses(path))})
    assert found - Counter(LEFT) == Counter(), "declare a parameter, or Remembered"
    assert Counter(LEFT) - found == Counter(), "fewer are left: shorten the list"


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
