"""The answers about looking at less than everything, beside numpy."""

from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import SEEDS, Sample, hold, sample
from viz.lessons.about_chosen import ANSWERS

ARGUMENTS: dict[str, dict[str, Any]] = {
    "tokens_for_share": {"query": "it", "share": 0.7},
    "tokens_in_blocks": {"query": "it", "size": 3},
    "lost_outside": {"k": 4},
    "rows_without_own": {"k": 4},
    "keys_of_last": {"size": 4, "fresh": 3},
}


def tokens_for_share(example: Sample, query: str, share: float) -> Any:
    row, count, total = sorted(example.row_of_head[example.subject.labels.index(query)]), 0, 0.0
    while total < share:
        count, total = count + 1, total + row.pop()
    return float(count)


def tokens_in_blocks(example: Sample, query: str, size: int) -> Any:
    place, n = example.subject.labels.index(query), len(example.subject.labels)
    visible = [at for at in range(n) if at // size <= place // size]
    return float(len(visible)) if all(example.row_of_head[place][visible] > 0) else None


def _best(example: Sample, k: int) -> Any:
    """For each row the places of the k largest scores, of equals the first; those below 0 are equal."""
    rows, scores = example.row_of_head, example.scores[example.subject.layer, example.subject.chosen["head"]]
    liked = np.where(rows > 0, np.maximum(scores, 0), -1)
    order = np.argsort(-liked, kind="stable")[:, :k]
    return (
        None if len(rows) <= k else [{at for at in best if row[at] > 0} for best, row in zip(order, rows, strict=True)]
    )


def lost_outside(example: Sample, k: int) -> Any:
    if (best := _best(example, k)) is None:
        return None
    rows = zip(example.row_of_head, best, strict=True)
    return float(np.mean([1 - sum(row[at] for at in places) for row, places in rows]))


def rows_without_own(example: Sample, k: int) -> Any:
    best = _best(example, k)
    return None if best is None else float(sum(at not in places for at, places in enumerate(best)))


def keys_of_last(example: Sample, size: int, fresh: int) -> Any:
    row = example.row_of_head[-1] > 0
    entries = [row[at : at + size] for at in range(0, len(row) - size + 1, size)]
    return None if len(row) < size else float(sum(map(all, entries)) + row[-fresh:].sum())


REFERENCES = {
    work.__name__: work for work in (tokens_for_share, tokens_in_blocks, lost_outside, rows_without_own, keys_of_last)
}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_is_what_numpy_finds(name: str):
    arguments = ARGUMENTS[name]
    examples = [example for example in map(sample, SEEDS) if "query" not in arguments or "it" in example.subject.labels]
    refuses = sum(REFERENCES[name](example, **arguments) is None for example in examples) >= 5
    hold(ANSWERS[name], REFERENCES[name], arguments, refuses=refuses or len(examples) < len(SEEDS))
