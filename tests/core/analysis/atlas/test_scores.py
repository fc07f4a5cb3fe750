"""Scores of one text by hand, by loops in float64, and on heads built for one behaviour."""

import math

import pytest
import torch
from torch.testing import assert_close

from viz.core.analysis.atlas.scores import (
    SENTENCES,
    copying_scores,
    repeated_scores,
    sentence_scores,
    window_score,
)
from viz.core.masks import causal

H, T = 5, 11
IDS = torch.tensor([101, 7, 8, 9, 7, 12, 13, 9, 15, 16, 102])
SPECIAL = torch.zeros(T).bool().index_fill(0, torch.tensor([0, 10]), True)
MARKS = torch.zeros(T).bool().index_fill(0, torch.tensor([5, 9]), True)


def by_loops(weights, ids, special, marks, allowed):
    """Compute every score of every head by loops."""
    n = len(ids)
    cells = [(i, j) for i in range(n) for j in range(n)]

    def share(head, is_target, is_query):
        rows = [i for i in range(n) if is_query(i)]
        return sum(float(weights[head, i, j]) for i, j in cells if i in rows and is_target(i, j)) / len(rows)

    def mention(i, j):
        return i != j and ids[i] == ids[j] and not special[i] and not special[j]

    def is_mark(i, j):
        return bool(marks[j])

    def can_attend_to_mark(i):
        return not marks[i] and not special[i] and any(marks[j] and allowed[i, j] for j in range(n))

    shares = []
    for head in range(len(weights)):
        w = weights[head].double()
        shares.append(
            {
                "previous": share(head, lambda i, j: j == i - 1, lambda i: i > 0),
                "next": share(head, lambda i, j: j == i + 1, lambda i: i < n - 1),
                "itself": share(head, lambda i, j: j == i, lambda i: True),
                "first": share(head, lambda i, j: j == 0, lambda i: i > 0),
                "separators": share(head, lambda i, j: special[j] and j > 0, lambda i: not (special[i] and i > 0)),
                "punctuation": share(head, is_mark, can_attend_to_mark),
                "same": share(head, mention, lambda i: any(mention(i, j) for j in range(n))),
                "entropy": -sum(float(w[i, j]) * math.log(float(w[i, j])) for i, j in cells if w[i, j] > 0) / n,
                "distance": sum(float(w[i, j]) * abs(i - j) for i, j in cells) / n,
            }
        )
    return {name: torch.tensor([scores[name] for scores in shares]) for name in SENTENCES}


@pytest.mark.parametrize("allowed", [torch.ones(T, T).bool(), causal(T, T)], ids=["both ways", "causal"])
def test_sentence_scores_equal_loops(allowed):
    scores = torch.randn(H, T, T, generator=torch.Generator().manual_seed(0))
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    actual = sentence_scores(weights, IDS, SPECIAL, MARKS, allowed)
    assert tuple(actual) == SENTENCES
    for name, expected in by_loops(weights, IDS, SPECIAL, MARKS, allowed).items():
        assert_close(actual[name], expected, rtol=0, atol=1e-6, msg=name)


def test_unmarked_text_without_repeats_lacks_scores():
    """A text without punctuation or repeated words has no score for them."""
    weights, no = torch.eye(3)[None], torch.zeros(3).bool()
    scores = sentence_scores(weights, torch.tensor([1, 2, 3]), no, no, torch.ones(3, 3).bool())
    missing = {name for name, score in scores.items() if not score.isfinite().all()}
    assert missing == {"separators", "punctuation", "same"}
    assert scores["itself"] == 1 and scores["distance"] == 0 and scores["entropy"] == 0


def test_random_tokens_separate_duplicate_from_induction():
    ids = torch.randperm(97, generator=torch.Generator().manual_seed(1))[:7].repeat(2)
    n = len(ids)
    first_mention, what_followed = torch.eye(n), torch.eye(n)
    for i in range(7, n):
        first_mention[i] = torch.eye(n)[i - 7]
        what_followed[i] = torch.eye(n)[i - 6]
    scores = repeated_scores(torch.stack([first_mention, what_followed]), ids)
    assert scores["duplicate"].tolist() == [1, 0]
    assert scores["induction"].tolist() == [0, 1]


def test_window_score_of_word_head_low():
    everywhere = torch.ones(T, T).bool()
    previous = torch.eye(T)[[0, *range(T - 1)]]
    of_words = torch.eye(T)[torch.randperm(T, generator=torch.Generator().manual_seed(2))]
    shares = window_score(torch.stack([previous, of_words]), everywhere)
    assert shares[0] > 0.999 and shares[1] < 0.4


def test_copying_and_suppressing_heads_by_sign():
    same = torch.eye(5)
    assert_close(copying_scores(torch.stack([same, -same])), torch.tensor([[1.0, 0.0]]).expand(5, 2))
    chance = copying_scores(torch.randn(1, 401, 401, generator=torch.Generator().manual_seed(3))).mean()
    assert abs(float(chance) - 0.5) < 0.05
