"""The user's own sentence as the head of the start page reads it, computed on request."""

import re
from collections.abc import Mapping
from typing import Any

from pages.start.sentences import WEIGHT_UNITS, Pair, pairs
from viz.frame.connection import loading

MOST_TOKENS = 48
"""Longer texts open on Heads: their arcs could not be told apart."""

_CHINESE = re.compile("[\u3400-\u9fff]")


def head_for(text: str) -> Pair:
    """Return the pair whose model and head read a text: those of its language, if that model is available."""
    available = loading.module("viz.frame.available_models").models_here()
    pair = pairs()["zh" if _CHINESE.search(text) else "en"]
    return pair if pair["model"] in available else pairs()["en"]


def read_sentence(text: str) -> Mapping[str, Any] | None:
    """Return the picture's data for a sentence, or None if it is too long for arcs.

    The first query is the word with the strongest weight on another word.

    Raises:
        ValueError: if the text has no word; a ModelError if the model cannot be used now.
    """
    # The compute modules are imported in the background while users look at the page.
    loading.wait_until_warm()
    compute, specs = loading.module("viz.frame.compute"), loading.module("viz.frame.specs")
    spelling = loading.module("viz.models.spelling.visible")
    compute.warm()
    pair = head_for(text)
    capture = compute.read(specs.Source(kind="model", text=text, model=pair["model"]))
    tokens = capture.tokens
    if len(tokens.ids) > MOST_TOKENS:
        return None
    weights = capture.layer(pair["layer"]).weights[pair["head"]]
    words = [key for key, special in enumerate(tokens.special) if not special]
    ties = {(query, key): float(weights[query, key]) for query in words for key in words if query != key}
    sentence = {
        "word": "",
        "text": text,
        "labels": [label.removeprefix(spelling.SPACE) for label in tokens.labels],
        "special": list(tokens.special),
        "weights": (weights * WEIGHT_UNITS).round().int().tolist(),
    }
    at = max(ties, key=ties.__getitem__)[0] if ties else words[0]
    return {**pair, "made": "", "query": sentence["labels"][at], "at": at, "sentences": [sentence]}
