"""The default pair of words of a picture."""

from collections.abc import Sequence

import torch
from torch import Tensor

from viz.frame.scene import Scene
from viz.frame.shared import QUERY, Places
from viz.models.spelling.visible import SPACE

FAMOUS = (("it", "animal"), ("它", "动物"))
"""The pairs to look at first, where the text has one."""


def pair_places(scene: Scene, head: int) -> tuple[Places, Places]:
    """Return the queries and the keys of a head to choose from, with the default of each."""
    special, weights, places = scene.capture.tokens.special, scene.trace.weights[head], range(len(scene.labels))
    queries = Places(scene.labels, first_query(scene.labels, special, weights), places)
    return queries, Places(scene.labels, first_key(scene.labels, special, weights, QUERY.read(queries)), places)


def first_query(labels: Sequence[str], special: Sequence[bool], weights: Tensor) -> int:
    """Return the default query: a famous pair's, else the one with the strongest link to a word."""
    words = _words(labels)
    famous = next((words.index(query) for query, key in FAMOUS if {query, key} <= set(words)), None)
    return int(_links(special, weights).amax(-1).argmax()) if famous is None else famous


def first_key(labels: Sequence[str], special: Sequence[bool], weights: Tensor, query: int) -> int:
    """Return the default key: the famous one for the famous query, else the query's strongest link."""
    words = _words(labels)
    famous = dict(FAMOUS).get(words[query])
    return words.index(famous) if famous in words else int(_links(special, weights)[query].argmax())


def _words(labels: Sequence[str]) -> list[str]:
    return [label.removeprefix(SPACE).casefold() for label in labels]


def _links(special: Sequence[bool], weights: Tensor) -> Tensor:
    """Weights between two words; special tokens, and a word's weight on itself, do not count."""
    plain = ~torch.tensor(special)
    return weights.where(plain & plain[:, None] & ~torch.eye(len(weights), dtype=torch.bool), -1.0)
