"""The section of layers with windows: hand values of the reach, and checks that hold in both languages."""

import pytest

from pages.masks.layers import levels_by_hand
from tests.running import checked, sentences_of
from viz.core.variants.today.interleaved import PERIODS, full_layers
from viz.text import translator

T = translator("en")
SEEDED = {"source": "words", "text": "a b c d e f g h i j", "n_heads": 2}


@pytest.mark.parametrize(
    "link",
    [
        {},
        SEEDED | {"pattern": "five", "near": "chunks", "near_size": 4, "lang": "zh"},
        SEEDED | {"pattern": "one", "near_size": 64},
        {"source": "words", "text": "word", "n_heads": 1, "near_size": 1, "stack": 1},
    ],
)
@pytest.mark.usefixtures("without_source_checks")
def test_layers_checks_hold(open_app, link):
    app = open_app("masks", section="layers", **link)
    assert not app.exception
    assert checked(app, "layers") == (4, 4)


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


@pytest.mark.parametrize(
    ("pattern", "full"),
    [("five", [5, 11]), ("three", [3, 7, 11]), ("one", [1, 3, 5, 7, 9, 11]), ("full", list(range(12))), ("none", [])],
)
def test_layer_kinds_by_hand(pattern, full):
    assert [layer for layer, is_full in enumerate(full_layers(12, period=PERIODS[pattern])) if is_full] == full


def test_levels_by_hand_of_two_windows():
    assert levels_by_hand(5, (False, False), 2, "window") == [{2, 3, 4}, {3, 4}, {4}]
