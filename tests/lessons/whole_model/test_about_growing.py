"""The answers about a text that grows, beside plain loops over numpy."""

from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import D_K, D_V, G, H, Sample, hold, softmax
from viz.lessons.whole_model.about_growing import ANSWERS


def n_of(example: Sample) -> int:
    return len(example.subject.labels)


def guesses_in_one_pass(example: Sample) -> Any:
    return float(len(example.subject.labels[1:])) if n_of(example) >= 3 else None


def rows_that_change(example: Sample) -> Any:
    """Only the last row reads the last token."""
    return 1.0 if n_of(example) >= 3 else None


def same_as_training(example: Sample) -> Any:
    """Each row of the causal softmax is the softmax of the scores so far."""
    trace, n = example.subject.trace, n_of(example)
    if n < 3:
        return None
    k = np.repeat(trace.k.numpy(), H // G, 0)
    scores = np.einsum("hqd,hkd->hqk", trace.q.numpy(), k) / D_K**0.5
    in_one_pass = softmax(np.where(np.tri(n, dtype=bool), scores, -np.inf))
    so_far = [softmax(scores[:, t : t + 1, : t + 1])[:, 0] for t in range(n)]
    return "same" if all(np.allclose(in_one_pass[:, t, : t + 1], row) for t, row in enumerate(so_far)) else "other"


def scores_of_newest(example: Sample) -> Any:
    return float(n_of(example)) if n_of(example) >= 3 else None


def reads_of_earlier(example: Sample) -> Any:
    """Keys and values; where no query says anything, values alone, and nothing is asked."""
    if n_of(example) < 3 or not np.abs(example.subject.trace.q.numpy()).max():
        return None
    return "keys_values"


def numbers_kept(example: Sample) -> Any:
    return float(G * (D_K + D_V)) if n_of(example) >= 3 else None


def keys_without_cache(example: Sample) -> Any:
    n = n_of(example)
    return n * (n + 1) / 2 if n >= 3 else None


REFERENCES = {work.__name__: work for work in (
    guesses_in_one_pass, rows_that_change, same_as_training, scores_of_newest, reads_of_earlier, numbers_kept,
    keys_without_cache,
)}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_loops(name):
    hold(ANSWERS[name], REFERENCES[name], {}, refuses=name == "reads_of_earlier")


def test_rows_without_mask_all_change():
    """The claim of the reveal about a text without a mask."""
    from tests.lessons.samples import sample

    subject = sample(1).subject
    key = ANSWERS["rows_that_change"].work(subject)
    assert key.values["without"] == len(subject.labels)
