"""The answers about heads that look at a place, beside exponentials written out."""

import math
from typing import Any

import pytest

from tests.lessons.samples import Sample, hold
from viz.lessons.about_convolution import ANSWERS


def weights(n: int, place: int, offset: float, alpha: float) -> list[float]:
    exps = [
        math.exp(-alpha * ((key - place - offset) ** 2 - min((k - place - offset) ** 2 for k in range(n))))
        for key in range(n)
    ]
    return [exp / sum(exps) for exp in exps]


def centre(example: Sample, place: int, offset: int, alpha: float) -> Any:
    n = len(example.subject.labels)
    if place + offset >= n - 1:  # the last token is a mark
        return None
    row = weights(n, place, offset, alpha)
    return row.index(max(row))


def without_sharpness(example: Sample) -> Any:
    return 1 / len(example.subject.labels)


def at_the_border(example: Sample, alpha: float) -> Any:
    row = weights(len(example.subject.labels), 0, -1, alpha)
    return "edge" if row[0] == max(row) and row[0] >= 0.5 else "nothing"


def heads_of_kernel(_: Sample, side: int) -> Any:
    return float(len({(row, column) for row in range(side) for column in range(side)}))


def holds_the_kernel(_: Sample) -> Any:
    return "w_o"  # Cordonnier et al. 2020, theorem 1: W_Q = W_K = 0, W_V the identity


REFERENCES = {work.__name__: work for work in (
    centre, without_sharpness, at_the_border, heads_of_kernel, holds_the_kernel,
)}  # fmt: skip
ARGUMENTS: dict[str, dict[str, float]] = {
    "centre": {"place": 1, "offset": 2, "alpha": 2.0},
    "at_the_border": {"alpha": 3.0},
    "heads_of_kernel": {"side": 5},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_explicit_sum(name):
    hold(ANSWERS[name], REFERENCES[name], ARGUMENTS.get(name, {}), refuses=name == "centre")
