"""The section of layers with windows: hand values of the reach, and checks that hold in both languages."""

import pytest

from tests.running import sentences_of
from viz.text import translator

T = translator("en")
SEEDED = {"source": "words", "text": "a b c d e f g h i j", "n_heads": 2}


@pytest.mark.parametrize(
    ("link", "first", "n"),
    [
        ({"stack": 3}, "d", 7),  # 3 layers of windows of 3 reach 3 · 2 tokens back
        ({"stack": 12, "near": "chunks", "near_size": 4}, "i", 2),
        ({"stack": 5, "pattern": "five", "near_size": 2}, "e", 6),  # the sixth layer would be the first full one
    ],
)
def test_layers_reach_by_hand(open_app, link, first, n):
    app = open_app("masks", section="layers", **SEEDED | link)
    assert T("masks.layers.says", L=link["stack"], n=n, all=10) in sentences_of(app)
    assert T("masks.layers.span", first=first, last="j") in [element.value for element in app.text]
