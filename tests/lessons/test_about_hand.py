"""The answers that can be redone on paper, beside plain sums over numbers."""

import math
from typing import Any

import pytest

from tests.lessons.samples import D_K, D_V, G, H, Sample, hold, softmax
from viz.lessons.about_hand import ANSWERS, APART


def place(example: Sample) -> tuple[int, int]:
    return example.subject.layer, example.subject.chosen["head"]


def products(first: Any, second: Any) -> float:
    return sum(float(a) * float(b) for a, b in zip(first, second, strict=True))


def key_vector(example: Sample, word: int) -> list[float]:
    trace, group = example.subject.trace, place(example)[1] * G // H
    return [products(trace.x[word], trace.projections.w_k[:, group * D_K + c]) for c in range(D_K)]


def query_vector(example: Sample, word: int) -> list[float]:
    trace, head = example.subject.trace, place(example)[1]
    return [products(trace.x[word], trace.projections.w_q[:, head * D_K + c]) for c in range(D_K)]


def query_number(example: Sample, word: int, column: int) -> Any:
    return query_vector(example, word)[column] if word < len(example.subject.labels) else None


def score(example: Sample, query: int, key: int) -> Any:
    if max(query, key) >= len(example.subject.labels):
        return None
    return products(query_vector(example, query), key_vector(example, key))


def scaled_score(example: Sample, query: int, key: int) -> Any:
    unscaled = score(example, query, key)
    return unscaled if unscaled is None else unscaled / math.sqrt(D_K)


def weight(example: Sample, query: int, key: int) -> Any:
    n = len(example.subject.labels)
    return (float(example.row_of_head[query, key]) or None) if max(query, key) < n else None


def weighted_sum(example: Sample, query: int, column: int) -> Any:
    if query >= len(example.subject.labels):
        return None
    return products(example.row_of_head[query], example.values[place(example)[1]][:, column])


def weight_under_mask(example: Sample, query: int, key: int) -> Any:
    n = len(example.subject.labels)
    if max(query, key) >= n or example.bias.any():
        return None
    layer, head = place(example)
    now = float(example.row_of_head[query, key])
    before = softmax(example.scores[layer, head] - example.bias[head])[query, key]
    return now if now and now - before >= APART else None


REFERENCES = {work.__name__: work for work in (
    query_number, score, scaled_score, weight, weighted_sum, weight_under_mask,
)}  # fmt: skip
ARGUMENTS = {
    "query_number": {"word": 5, "column": D_K - 1},
    "weighted_sum": {"query": 5, "column": D_V - 1},
}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_sum(name):
    asks = 4 if name == "weight_under_mask" else 10  # a mask, and nothing added to the scores
    hold(ANSWERS[name], REFERENCES[name], ARGUMENTS.get(name, {"query": 5, "key": 2}), asks=asks)
