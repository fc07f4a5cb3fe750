"""The sentences of the start page, each with a twin that differs in one word, and one head's weights on both.

They are read from a small file, so that the picture needs no model; ``python -m tools.start`` writes it.
"""

import json
from functools import cache
from typing import TypedDict

from viz import ASSETS

FILE = ASSETS / "start.json"
WEIGHT_UNITS = 10_000
"""Stored integer for a weight of 1."""


class Sentence(TypedDict):
    """One text as one head reads it.

    ``word`` is the one in which it differs from its twin; ``labels`` are its tokens, and ``special`` marks those that
    only delimit it; ``weights`` are rows of queries, in units of 1 / ``WEIGHT_UNITS``.
    """

    word: str
    text: str
    labels: list[str]
    special: list[bool]
    weights: list[list[int]]


class Pair(TypedDict):
    """A sentence and its twin, read by one head, with the recording date; ``query`` is the first word to show."""

    lang: str
    model: str
    layer: int
    head: int
    made: str
    query: str
    sentences: list[Sentence]


@cache
def pairs() -> dict[str, Pair]:
    """Return the pair of each language."""
    stored_pairs: list[Pair] = json.loads(FILE.read_text("utf8"))
    return {pair["lang"]: pair for pair in stored_pairs}
