"""The section of the k largest scores: checks that hold everywhere, and a text with nothing open."""

import pytest

from tests.running import checked
from viz.text import translator

T = translator("en")
SEEDED = {"source": "words", "text": "one two three four five two", "n_heads": 4}
NOTHING = {"mask": "padding", "pad": 32}


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"model": "twin-g2", "layer": 1, "text": "red blue red", "lang": "zh", "keep": 2},
        SEEDED | {"mask": "own", "keep": 1, "head": 3},
        SEEDED | {"mask": "window", "width": 1, "n_kv_heads": 2, "keep": 6, "lang": "zh"},
        SEEDED | {"text": "a a a a a a", "keep": 3},
        SEEDED | NOTHING,
        {"source": "words", "text": "word", "n_heads": 1},
    ],
)
@pytest.mark.usefixtures("without_source_checks")
def test_top_k_checks_hold(open_app, link):
    app = open_app("masks", section="top_k", **link)
    assert not app.exception
    assert checked(app, "top_k") == (4, 4)


def test_top_k_without_open_cells(open_app):
    app = open_app("masks", section="top_k", **SEEDED | NOTHING)
    assert T("masks.late_nothing") in [element.value for element in app.info]
