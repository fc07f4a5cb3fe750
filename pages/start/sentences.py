"""The sentences of the start page, each beside a twin that differs in one word, and one head's weights on both.

They are read from a small file, so that the picture needs no model; ``python -m pages.start.record`` makes it.
"""

import json
from functools import cache
from typing import TypedDict

from viz import ASSETS

FILE = ASSETS / "start.json"
WHOLE = 10_000
"""Weights are stored as whole numbers: so many are 1."""


class Sentence(TypedDict):
    """One text as one head reads it.

    ``word`` is the one in which it differs from its twin; ``labels`` are its tokens, and ``special`` tells those that
    only mark its ends; ``weights`` are rows of queries, so many parts of ``WHOLE``.
    """

    word: str
    text: str
    labels: list[str]
    special: list[bool]
    weights: list[list[int]]


class Pair(TypedDict):
    """A sentence and its twin, read by one head, on the day they were written down; ``query`` is looked at first."""

    lang: str
    model: str
    layer: int
    head: int
    made: str
    query: str
    sentences: list[Sentence]


@cache
def pairs() -> dict[str, Pair]:
    """The pair of each language."""
    found: list[Pair] = json.loads(FILE.read_text("utf8"))
    return {pair["lang"]: pair for pair in found}
