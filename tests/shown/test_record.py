"""Every section sends what is recorded of it, and the same numbers in both languages."""

from collections import Counter

import pytest

from tests.shown.contents import NEAR, Contents, contents_of, differences, is_number
from tests.shown.digests import Digest, digest, missing
from tools.record import PLACES, name_of, open_place, read_record

RECORD = read_record()


@pytest.mark.parametrize("place", PLACES, ids=[name_of(*place) for place in PLACES])
def test_section_sends_recorded_contents(open_app, place):
    """If the change is meant: ``python -m tools.record PAGE``, and read the difference."""
    app = open_place(open_app, *place)
    assert differences(RECORD[name_of(*place)], contents_of(app)) == []


def numbers_of(contents: Contents) -> tuple[Counter[str], list[Digest]]:
    """The numbers of all sentences and the digests of all pictures, in no order.

    Numbers of one digit are left out: one language may write them as words.
    """
    marks = " ".join(contents[""][0]).split()
    return Counter(mark for mark in marks if is_number(mark) and len(mark) > 1), [
        digest_ for _, digests in contents.values() for digest_ in digests
    ]


@pytest.mark.parametrize("place", PLACES[::2], ids=[name_of(*place) for place in PLACES[::2]])
def test_chinese_section_sends_same_numbers(open_app, place):
    words, digests = numbers_of(contents_of(open_place(open_app, *place, lang="zh")))
    words_before, digests_before = numbers_of(RECORD[name_of(*place)])
    assert (words - words_before, words_before - words) == (Counter(), Counter())
    assert missing(digests_before, digests, NEAR) == missing(digests, digests_before, NEAR) == []


def test_every_section_is_recorded_once():
    assert [name_of(*place) for place in PLACES] == list(RECORD)


def contents(*sentences: str, legend: tuple[str, ...] = ("a", "b")) -> Contents:
    return {"": (list(sentences), []), "chart": (list(legend), [digest("y", [1.0, 2.0])])}


def test_another_number_order_or_legend_differs():
    right = contents("0.68 animal 0.05")
    assert differences(right, contents("0.67 animal 0.05")) == [], "rounded the other way"
    for wrong in (
        contents("0.05 animal 0.68"),
        contents("0.68 street 0.05"),
        contents("0.66 animal 0.05"),
        contents("0.68 animal 0.05", legend=("b", "a")),
        contents(),
        {**right, "chart": (["a", "b"], [digest("y", [2.0, 1.0])])},
    ):
        assert len(differences(right, wrong)) > 0
