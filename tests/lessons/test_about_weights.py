"""The answers that are read off the weights, beside what numpy makes of queries and keys."""

from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import Sample, hold
from viz.lessons.about_weights import ANSWERS, CLEAR

WORDS = {"query": "it", "first": "animal", "second": "street"}
NEEDS = {"looks_at_most": 1, "left_over": 1, "looks_back": 1, "prefers": 3}
"""The number of words that each function takes."""


def row(example: Sample, word: str) -> np.ndarray:
    weights: np.ndarray = example.row_of_head[example.subject.labels.index(word)]
    return weights


def most(weights: np.ndarray) -> int | None:
    """The word of the largest weight, if the next one is clearly smaller; the first and the last token are marks."""
    order = 1 + np.argsort(-weights[1:-1])
    if len(order) < 2:
        return None
    return int(order[0]) if weights[order[0]] - weights[order[1]] >= CLEAR else None


def looks_at_most(example: Sample, query: str) -> Any:
    return most(row(example, query))


def left_over(example: Sample, query: str) -> Any:
    weights = row(example, query)
    best = most(weights)
    return None if best is None else float(np.delete(weights, best).sum())


def looks_back(example: Sample, query: str) -> Any:
    weights, place = row(example, query), example.subject.labels.index(query)
    other_weights = {j: weights[j] for j in range(1, len(weights) - 1) if j != place}
    best = max(other_weights, key=other_weights.__getitem__, default=None)
    if best is None or other_weights[best] < CLEAR:
        return None
    back = example.row_of_head[best, place]
    return "same" if abs(back - other_weights[best]) < CLEAR else "more" if back > other_weights[best] else "less"


def prefers(example: Sample, query: str, first: str, second: str) -> Any:
    place = most(row(example, query))
    return None if place is None else {first: "first", second: "second"}.get(example.subject.labels[place], "neither")


def previous_word_head(example: Sample) -> Any:
    n_layers, n_heads, n, _ = example.weights.shape
    means = {
        (layer, head): float(np.mean([example.weights[layer, head, i, i - 1] for i in range(1, n)]))
        for layer in range(n_layers)
        for head in range(n_heads)
    }
    best = max(means.values())
    return None if n < 4 or best < 0.5 else {place for place, mean in means.items() if mean >= 0.9 * best}


def most_goes_to(example: Sample) -> Any:
    weights = example.weights[example.subject.layer]
    n, sums = weights.shape[-1], dict.fromkeys(("first", "itself", "beside", "far"), 0.0)
    if n < 5:
        return None
    for i in range(n):
        for j in range(n):
            code = "first" if j == 0 else "itself" if i == j else "beside" if abs(i - j) == 1 else "far"
            sums[code] += float(weights[:, i, j].sum()) / weights.sum()
    code, second = sorted(sums, key=lambda code: -sums[code])[:2]
    return code if sums[code] - sums[second] >= CLEAR else None


def arrives(example: Sample) -> Any:
    weights = example.row_of_head
    arrived = weights * np.linalg.norm(example.messages[example.subject.chosen["head"]], axis=-1)
    weight, message = weights[:, 0].sum() / weights.sum(), arrived[:, 0].sum() / arrived.sum()
    if weight < 2 / weights.shape[-1]:
        return None
    return "same" if abs(weight - message) < CLEAR else "more" if message > weight else "less"


REFERENCES = {work.__name__: work for work in (
    looks_at_most, left_over, looks_back, prefers, previous_word_head, most_goes_to, arrives,
)}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_numpy(name):
    hold(ANSWERS[name], REFERENCES[name], dict(list(WORDS.items())[: NEEDS.get(name, 0)]))
