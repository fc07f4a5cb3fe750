"""The answers about the first token's share, beside numpy."""

from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import SEEDS, Sample, hold, sample
from viz.lessons.about_sinks import ANSWERS
from viz.lessons.about_weights import CLEAR

ARGUMENTS: dict[str, dict[str, float]] = {"sum_when_nothing_fits": {"lower": 5.0}, "gate_of_sink": {"sigma": 1.5}}


def exps_of_last(example: Sample) -> Any:
    """The exponentials of the last row's scores, 0 where it may not look; None if the text is too short."""
    subject = example.subject
    scores = example.scores[subject.layer, subject.chosen["head"], -1]
    return None if len(scores) < 4 else np.exp(scores) * (example.row_of_head[-1] > 0)


def first_share(example: Sample) -> Any:
    rows = example.row_of_head
    return None if len(rows) < 4 else float(sum(row[0] for row in rows[1:]) / (len(rows) - 1))


def sum_when_nothing_fits(example: Sample, lower: float) -> Any:
    exps = exps_of_last(example)
    return None if exps is None else float((exps * np.exp(-lower) / (exps * np.exp(-lower)).sum()).sum())


def share_of_equal_sink(example: Sample) -> Any:
    exps = exps_of_last(example)
    return None if exps is None else float(exps.sum() / (exps.sum() + exps.sum()))


def gate_of_sink(example: Sample, sigma: float) -> Any:
    exps = exps_of_last(example)
    if exps is None:
        return None
    values = example.values[example.subject.chosen["head"]]
    with_sink, without = (exps @ values / (exps.sum() + more) for more in (np.exp(sigma), 0))
    return float(np.linalg.norm(with_sink) / np.linalg.norm(without))


def _has_sink(example: Sample) -> bool:
    row = example.row_of_head[-1]
    return len(row) >= 4 and 2 / len(row) <= row[0] < 1 - CLEAR


def growth_without_first(example: Sample) -> Any:
    row = example.row_of_head[-1]
    return float(1 / (1 - row[0])) if _has_sink(example) else None


def larger_loss(example: Sample) -> Any:
    if not _has_sink(example):
        return None
    row, values = example.row_of_head[-1], example.values[example.subject.chosen["head"]]
    changes = []
    for place in (0, len(row) // 2):
        remaining = np.delete(np.arange(len(row)), place)
        after = row[remaining] @ values[remaining] / row[remaining].sum()
        changes.append(np.linalg.norm(after - row @ values) / np.linalg.norm(row @ values))
    first, middle = changes
    return "same" if abs(first - middle) < CLEAR * max(changes) else "first" if first > middle else "other"


REFERENCES = {
    work.__name__: work
    for work in (
        *(first_share, sum_when_nothing_fits, share_of_equal_sink, gate_of_sink),
        *(growth_without_first, larger_loss),
    )
}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_is_what_numpy_finds(name: str):
    """On random sentences the key is the one that numpy finds, and is refused where numpy finds none."""
    refuses = sum(REFERENCES[name](example, **ARGUMENTS.get(name, {})) is None for example in map(sample, SEEDS))
    hold(ANSWERS[name], REFERENCES[name], ARGUMENTS.get(name, {}), refuses=refuses >= 5)
