"""The answers about several heads, beside plain numpy."""

from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import Sample, hold
from viz.lessons.about_several import ANSWERS


def heads_for_two_places(_: Sample) -> Any:
    """Two: the sum of two random vectors has half the numbers that both have."""
    x = np.random.default_rng(7).normal(size=(50, 3))
    expected = np.hstack([x[:-2], x[2:]])

    def rest(read: np.ndarray) -> float:
        return float(((expected - read @ np.linalg.pinv(read) @ expected) ** 2).sum() / (expected**2).sum())

    assert rest(x[:-2] + x[2:]) > 0.2 and rest(expected) < 1e-12
    return 2.0


def next_word_head(example: Sample) -> Any:
    n = len(example.subject.labels)
    if n < 4:
        return None
    means = {
        (layer, head): np.mean([example.weights[layer, head, i, i + 1] for i in range(n - 1)])
        for layer in range(example.weights.shape[0])
        for head in range(example.weights.shape[1])
    }
    best = max(means.values())
    return None if best < 0.5 else {place for place, mean in means.items() if mean >= 0.9 * best}


REFERENCES = {work.__name__: work for work in (heads_for_two_places, next_word_head)}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_numpy(name):
    asks = {"next_word_head": 3}.get(name, 10)
    hold(ANSWERS[name], REFERENCES[name], {}, refuses=name == "next_word_head", asks=asks)
