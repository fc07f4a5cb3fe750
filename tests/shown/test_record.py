"""Every section sends what is recorded of it, and the same numbers in both languages."""

import pytest

from tests.running import checked
from tests.shown.contents import Contents, contents_of, differences, differences_of_languages
from tests.shown.digests import digest
from tools.record import PLACES, name_of, open_place, read_chinese, read_record

RECORD, CHINESE = read_record(), read_chinese()
A_DECODER = ("next_word",)
"""Pages with sections that have nothing to check without a model that writes."""


@pytest.mark.parametrize("place", PLACES, ids=[name_of(*place) for place in PLACES])
def test_section_sends_recorded_contents(open_app, place):
    """And its checks hold. If the change is meant: ``python -m tools.record PAGE``, and read the difference."""
    app = open_place(open_app, *place)
    assert differences(RECORD[name_of(*place)], contents_of(app)) == []
    passing, n = checked(app, place[1])
    assert passing == n and not app.error
    assert n or place[2] == "words" or place[0] in A_DECODER


@pytest.mark.parametrize("place", PLACES[::2], ids=[name_of(*place) for place in PLACES[::2]])
def test_chinese_section_sends_same_numbers(open_app, place):
    app = open_place(open_app, *place, lang="zh")
    assert differences_of_languages(RECORD[name_of(*place)], CHINESE[name_of(*place)], contents_of(app)) == []


def test_every_section_is_recorded_once():
    names = [name_of(*place) for place in PLACES]
    assert (list(RECORD), list(CHINESE)) == (names, names[::2])


def contents(*sentences: str, legend: tuple[str, ...] = ("a", "b")) -> Contents:
    return {"": (list(sentences), []), "chart": (list(legend), [digest("y", [1.0, 2.0]), digest("y", [3.0, 5.0])])}


def test_another_number_order_or_legend_differs():
    right = contents("0.68 animal 0.05")
    assert differences(right, contents("0.67 animal 0.05")) == [], "rounded the other way"
    for wrong in (
        contents("0.05 animal 0.68"),
        contents("0.68 street 0.05"),
        contents("0.66 animal 0.05"),
        contents("0.68 animal 0.05", legend=("b", "a")),
        contents(),
        {**right, "chart": (["a", "b"], [digest("y", [2.0, 1.0]), digest("y", [3.0, 5.0])])},
        {**right, "chart": (["a", "b"], right["chart"][1][::-1])},
    ):
        assert len(differences(right, wrong)) > 0
