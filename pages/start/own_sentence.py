"""The user's own sentence as one head reads it, and what follows from it, computed on request."""

from collections.abc import Mapping
from typing import Any

from pages.start.sentences import WEIGHT_UNITS
from viz.frame.connection import loading

MOST_TOKENS = 48
"""Longer texts open on Heads: their arcs could not be told apart."""


def read_sentence(text: str) -> Mapping[str, Any] | None:
    """Return the picture's data for a sentence, or None if it is too long for arcs.

    The first query is the word with the strongest weight on another word, on one that is no neighbour if there is one.

    Raises:
        ValueError: if the text has no word; a ModelError if the model cannot be used now.
    """
    # The compute modules are imported in the background while users look at the page.
    loading.wait_until_warm()
    compute = loading.module("viz.frame.compute")
    compute.warm()
    numbers, spelling = (loading.module(name) for name in ("pages.start.numbers", "viz.models.spelling.visible"))
    place = numbers.head_for(text)
    capture = compute.read(numbers.source_of(text, place["model"]))
    tokens = capture.tokens
    if len(tokens.ids) > MOST_TOKENS:
        return None
    weights = capture.layer(place["layer"]).weights[place["head"]]
    words = [key for key, special in enumerate(tokens.special) if not special]
    # A sign looks at words, too, but nobody asks what it means.
    words = [key for key in words if any(map(str.isalnum, tokens.labels[key]))] or words
    are_whole = numbers.whole_words(text, tokens.labels)
    words = [key for key in words if are_whole[key]] or words
    ties = {(query, key): float(weights[query, key]) for query in words for key in words if query != key}
    ties = {(query, key): tie for (query, key), tie in ties.items() if abs(query - key) > 1} or ties
    sentence = {
        "word": "",
        "text": text,
        "labels": [label.removeprefix(spelling.SPACE) for label in tokens.labels],
        "special": list(tokens.special),
        "weights": (weights * WEIGHT_UNITS).round().int().tolist(),
    }
    at = max(ties, key=ties.__getitem__)[0] if ties else words[0]
    return {**place, "made": "", "query": sentence["labels"][at], "at": at, "sentences": [sentence]}


def read_story(pair: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what stands below the arcs of a typed sentence."""
    loading.wait_until_warm()
    numbers = loading.module("pages.start.numbers")
    text = pair["sentences"][0]["text"]
    story = numbers.story_of(numbers.source_of(text, pair["model"]), pair["layer"], pair["head"])
    decoder = numbers.decoder_for(pair["model"])
    return {**story, "next": numbers.next_of(decoder, text) if decoder else None, "writes": bool(decoder)}
