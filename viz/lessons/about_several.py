"""Answers about why a layer has several heads, and about one that looks at its neighbour."""

import torch

from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.analysis.several_heads import lost, neighbours, offset_scores
from viz.core.attention import row_softmax
from viz.lessons.about_weights import most_of_heads
from viz.lessons.key import Key, Part, Registry, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
HEADS = ({-1: 0.5, 1: 0.5}, {-1: 1.0}, {1: 1.0})
"""Shares by offset: the head that divides itself between both neighbours, and those that look at one of them."""
NOTHING = 1e-9
"""A share below it is rounding."""


def _lost(heads: tuple[dict[int, float], ...]) -> float:
    """The share of both neighbours of random vectors that no read-out gets from what these heads bring."""
    # These are the numbers of the picture.
    x = torch.randn(512, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    read = torch.cat([(row_softmax(offset_scores(len(x), shares)) @ x)[1:-1] for shares in heads], dim=-1)
    return float(lost(read, neighbours(x)))


@registered(ANSWERS, "number", "one", "more", "other")
def heads_for_two_places(_: Subject) -> Key:
    """The fewest heads that bring the word before and the word after and lose nothing of them."""
    losses = {1: _lost(HEADS[:1]), 2: _lost(HEADS[1:])}
    fewest = min(n for n, share in losses.items() if share < NOTHING)
    return Key(right=(float(fewest),), values={"n": fewest, "lost": Part(losses[1])}, traps={"one": 1.0, "more": 3.0})


@registered(ANSWERS, "head", "little")
def next_word_head(subject: Subject) -> Key:
    """The heads in which a token looks at the one after it."""
    return most_of_heads(subject, lambda weights: weight_at_offset(weights, 1).mean(-1), near=0.9)
