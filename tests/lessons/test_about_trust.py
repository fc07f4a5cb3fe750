"""The answers about what a weight does not say, beside numpy."""

from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import Sample, hold
from viz.lessons.about_trust import ALIKE, ANSWERS
from viz.lessons.about_weights import CLEAR


def comparison(first: float, second: float) -> str:
    return "same" if abs(first - second) < CLEAR * second else "more" if first > second else "less"


def sink_head(case: Sample) -> Any:
    n_layers, n_heads, n, _ = case.weights.shape
    means = {
        (layer, head): sum(case.weights[layer, head, i, 0] for i in range(1, n)) / (n - 1)
        for layer in range(n_layers)
        for head in range(n_heads)
    }
    best = max(means.values())
    return None if n < 4 or best < 0.5 else {place for place, mean in means.items() if mean >= 0.95 * best}


def value_length(case: Sample) -> Any:
    lengths = np.sqrt((case.messages[case.subject.chosen["head"]] ** 2).sum(-1))
    return comparison(lengths[0], lengths[1:].mean())


def looks_away(case: Sample, query: str, key: str, below: float, example: str) -> Any:
    labels = case.subject.labels
    return {True} if case.row_of_head[labels.index(query), labels.index(key)] < below else set()


def sharp_and_strong(case: Sample) -> Any:
    weights = case.weights[case.subject.layer]
    peaks = [np.mean([max(row) for row in of_head]) for of_head in weights]
    head = int(np.argmax(peaks))
    if sorted(peaks)[-1] - sorted(peaks)[-2] < ALIKE:
        return None
    lengths = [
        np.linalg.norm(of_head @ message, axis=-1).mean()
        for of_head, message in zip(weights, case.messages, strict=True)
    ]
    return comparison(lengths[head], float(np.mean(lengths)))


REFERENCES = {work.__name__: work for work in (sink_head, value_length, looks_away, sharp_and_strong)}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_numpy(name):
    words = {"query": "it", "key": "animal", "below": 0.2, "example": ""} if name == "looks_away" else {}
    hold(ANSWERS[name], REFERENCES[name], words, refuses=name != "value_length")
