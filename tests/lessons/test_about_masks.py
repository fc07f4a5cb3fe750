"""The answers about who may look at whom, counted cell by cell."""

from typing import Any

import pytest

from tests.lessons.samples import Sample, hold, softmax
from viz.lessons.about_masks import ANSWERS
from viz.lessons.about_weights import CLEAR


def cells(example: Sample) -> list[list[bool]]:
    """True where there is a weight: a word may look there."""
    return [[bool(weight > 0) for weight in row] for row in example.row_of_head]


def looks_ahead(example: Sample) -> Any:
    n = len(example.subject.labels)
    return {(i, j) for i in range(n) for j in range(n) if j > i}


def open_cells(example: Sample) -> Any:
    return float(sum(i + 1 for i in range(len(example.subject.labels))))


def first_row(example: Sample) -> Any:
    return 1.0 if sum(cells(example)[0]) == 1 else None


def with_the_mask(example: Sample, query: str, key: str) -> Any:
    subject = example.subject
    place, key_place, head = subject.labels.index(query), subject.labels.index(key), subject.chosen["head"]
    if all(cells(example)[place]) or not cells(example)[place][key_place] or example.bias.any():
        return None
    before = softmax(example.scores[subject.layer, head] - example.bias[head])[place, key_place]
    now = example.row_of_head[place, key_place]
    return "same" if abs(now - before) < CLEAR else "more" if now > before else "less"


def itself_and_before(example: Sample) -> Any:
    expected = [
        [j in (i, i - 1) for j in range(len(example.subject.labels))] for i in range(len(example.subject.labels))
    ]
    return {True} if cells(example) == expected else set()


REFERENCES = {work.__name__: work for work in (
    looks_ahead, open_cells, first_row, with_the_mask, itself_and_before,
)}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_count(name):
    words = {"query": "it", "key": "animal"} if name == "with_the_mask" else {}
    hold(ANSWERS[name], REFERENCES[name], words, refuses=name in ("first_row", "with_the_mask"), asks=4)
