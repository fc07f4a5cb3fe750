"""The answers that can be redone on paper, beside plain sums over numbers."""

import math
from typing import Any

import pytest

from tests.lessons.samples import D_K, D_V, G, H, Sample, hold, softmax
from viz.lessons.about_hand import ANSWERS, APART


def place(drawn: Sample) -> tuple[int, int]:
    return drawn.subject.layer, drawn.subject.chosen["head"]


def products(left: Any, right: Any) -> float:
    return sum(float(a) * float(b) for a, b in zip(left, right, strict=True))


def key_vector(drawn: Sample, word: int) -> list[float]:
    trace, group = drawn.subject.trace, place(drawn)[1] * G // H
    return [products(trace.x[word], trace.projections.w_k[:, group * D_K + c]) for c in range(D_K)]


def query_vector(drawn: Sample, word: int) -> list[float]:
    trace, head = drawn.subject.trace, place(drawn)[1]
    return [products(trace.x[word], trace.projections.w_q[:, head * D_K + c]) for c in range(D_K)]


def query_number(drawn: Sample, word: int, column: int) -> Any:
    return query_vector(drawn, word)[column] if word < len(drawn.subject.labels) else None


def score(drawn: Sample, query: int, key: int) -> Any:
    if max(query, key) >= len(drawn.subject.labels):
        return None
    return products(query_vector(drawn, query), key_vector(drawn, key))


def scaled_score(drawn: Sample, query: int, key: int) -> Any:
    found = score(drawn, query, key)
    return found if found is None else found / math.sqrt(D_K)


def weight(drawn: Sample, query: int, key: int) -> Any:
    n = len(drawn.subject.labels)
    return (float(drawn.row_of_head[query, key]) or None) if max(query, key) < n else None


def weighted_sum(drawn: Sample, query: int, column: int) -> Any:
    if query >= len(drawn.subject.labels):
        return None
    return products(drawn.row_of_head[query], drawn.values[place(drawn)[1]][:, column])


def weight_under_mask(drawn: Sample, query: int, key: int) -> Any:
    n = len(drawn.subject.labels)
    if max(query, key) >= n or drawn.bias.any():
        return None
    layer, head = place(drawn)
    now = float(drawn.row_of_head[query, key])
    before = softmax(drawn.scores[layer, head] - drawn.bias[head])[query, key]
    return now if now and now - before >= APART else None


REFERENCES = {work.__name__: work for work in (
    query_number, score, scaled_score, weight, weighted_sum, weight_under_mask,
)}  # fmt: skip
ARGUMENTS = {
    "query_number": {"word": 5, "column": D_K - 1},
    "weighted_sum": {"query": 5, "column": D_V - 1},
}


def test_every_function_has_a_reference():
    assert set(REFERENCES) == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_sum(name):
    asks = 4 if name == "weight_under_mask" else 10  # a mask, and nothing added to the scores
    hold(ANSWERS[name], REFERENCES[name], ARGUMENTS.get(name, {"query": 5, "key": 2}), asks=asks)
