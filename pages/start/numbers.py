"""Numbers of the start page below its sentence: the head's values, all maps, and a decoder's next words."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from io import BytesIO
from string import punctuation
from typing import Any, TypedDict

import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import pad

from pages.start.sentences import pairs
from viz import limits
from viz.core.analysis.lens import chances
from viz.frame import compute
from viz.frame.available_models import is_here, models_here
from viz.frame.specs import Source, local_entries
from viz.models.capture import Capture
from viz.models.layout import LoadedModel
from viz.models.registry import SMALL_DECODER
from viz.models.spelling.visible import SPACE
from viz.models.stream import has_words, logits_of
from viz.models.tokens import Tokens, guesses, read_text, word_token

VALUE_UNITS = 1_000
"""Stored integer for a component 1 of a value."""
N_NEXT = 5
"""Number of likeliest words."""
MOST_TOKENS = 64
"""Tokens of a prompt; of a longer one the beginning is gone on from, and said to be."""
N_SHADES = 24
"""Number of opacities of a small map: more cannot be told apart, and take twice the bytes."""
LAST_WORD = re.compile(r"(.*\S)\s+(\w+)[.!?…]+\s*", re.DOTALL)
"""A sentence that a sign ends: what stands before its last word, and that word."""
_PIECE = re.compile(r"⟨.*|\[UNK\]|<unk>|[^\x00-\x7f]{1,2}")


class Next(TypedDict):
    """A decoder's likeliest ``words`` after ``prompt``, and their ``shares`` of all words.

    ``last_word`` is the word that the sentence has there, "" if the sentence goes no further, and ``share`` its share.
    """

    model: str
    prompt: str
    words: list[str]
    shares: list[float]
    last_word: str
    share: float


class Story(TypedDict):
    """One head's ``values``, a row of a token in units of 1 / ``VALUE_UNITS``, and every head's map as an image.

    ``maps`` is a PNG's address, ``cell`` the width of a map in it with its gap, in pixels.
    """

    values: list[list[int]]
    maps: str
    cell: int
    layers: int
    heads: int


def source_of(text: str, model: str) -> Source:
    """Return a text as a model reads it."""
    return Source(kind="model", text=text, model=model)


def head_for(text: str) -> Mapping[str, Any]:
    """Return the model, layer and head that read a text: the user's own model, or one that knows the script."""
    for entry in local_entries():
        layer, head = farthest_head(source_of(text, entry.id))
        return {"model": entry.id, "layer": layer, "head": head}
    first, second = pairs()["en"], pairs()["zh"]
    tokens = read_text(compute.model(first["model"]).tokenizer, text, limits.CHARACTERS)
    pair = second if is_spelled(tokens) and second["model"] in models_here() else first
    return {"model": pair["model"], "layer": pair["layer"], "head": pair["head"]}


def whole_words(text: str, labels: Sequence[str]) -> Tensor:
    """Return which tokens are words by themselves, not "t" of "didn't"; all of a text without spaces."""
    words = {word.strip(punctuation).lower() for word in text.split()}
    are_whole = torch.tensor([label.removeprefix(SPACE).lower() in words for label in labels])
    return are_whole if are_whole.sum() > 1 else torch.ones_like(are_whole)


@compute.cached
def farthest_head(source: Source) -> tuple[int, int]:
    """Return the layer and head in which a word looks most at another one that is no neighbour."""
    capture = compute.read(source)
    words = ~torch.tensor(capture.tokens.special) & whole_words(source.text, capture.tokens.labels)
    far = torch.ones(len(words), len(words), dtype=torch.bool)
    far = (far.triu(2) | far.tril(-2)) & words & words[:, None]
    strongest = [(capture.layer(layer).weights * far).amax((1, 2)) for layer in range(capture.n_layers)]
    return divmod(int(torch.stack(strongest).argmax()), capture.n_heads)


def decoder_for(model: str) -> str:
    """Return the model that gives the next word: this one if it writes, or the small one; "" if none is here."""
    if has_words(compute.model(model)):
        return model
    return SMALL_DECODER if is_here(SMALL_DECODER) else ""


@compute.cached
def story_of(source: Source, layer: int, head: int) -> Story:
    """As :func:`read_story`, cached."""
    return read_story(compute.read(source), layer, head)


@compute.cached
def next_of(model: str, text: str) -> Next | None:
    """As :func:`next_words`, cached."""
    return next_words(compute.model(model), text)


def read_story(capture: Capture, layer: int, head: int) -> Story:
    """Return a head's values and every head's map of one text."""
    trace = capture.layer(layer)
    values = trace.v[head * len(trace.v) // len(trace.weights)]
    weights = torch.stack([capture.layer(number).weights for number in range(capture.n_layers)])
    image, cell = maps_image(weights)
    return {
        "values": (values * VALUE_UNITS).round().int().tolist(),
        "maps": image,
        "cell": cell,
        "layers": capture.n_layers,
        "heads": capture.n_heads,
    }


def maps_image(weights: Tensor) -> tuple[str, int]:
    """Return all maps (L, H, T, T) side by side as a PNG's address, and the width of one with its gap, in pixels.

    A pixel is a weight: its root is the opacity, in ``N_SHADES``, so that a browser gives it the theme's colour.
    """
    n_layers, n = len(weights), weights.shape[-1]
    cell = n + max(1, n // 8)
    sheet = pad(weights.sqrt(), (0, cell - n, 0, cell - n)).permute(0, 2, 1, 3).reshape(n_layers * cell, -1)
    shades = (sheet * (N_SHADES - 1)).round() / (N_SHADES - 1)
    opacity = Image.fromarray((255 * shades).round().to(torch.uint8).numpy())
    picture, file = Image.new("LA", opacity.size), BytesIO()
    picture.putalpha(opacity)
    picture.save(file, "PNG", optimize=True)
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}", cell


def next_words(model: LoadedModel, text: str) -> Next | None:
    """Return what a decoder gives in place of a finished sentence's last word, or after an open one.

    None if its tokenizer does not know the script: then it would read letters or bytes.
    """
    match = LAST_WORD.fullmatch(text)
    prompt, last_word = match.groups() if match else (text.rstrip(), "")
    tokens = read_text(model.tokenizer, prompt, MOST_TOKENS)
    if is_spelled(tokens):
        return None
    if tokens.n_excess:
        prompt, last_word = tokens.text, ""
    shares = chances(logits_of(model, tokens.ids)[-1])
    best = shares.topk(N_NEXT)
    token = word_token(model.tokenizer, last_word)
    return {
        "model": model.entry.id,
        "prompt": prompt,
        "words": [word.removeprefix(SPACE) for word in guesses(model.tokenizer, best.indices.tolist())],
        "shares": [round(share, 4) for share in best.values.tolist()],
        "last_word": "" if token is None else last_word,
        "share": 0.0 if token is None else round(float(shares[token]), 4),
    }


def is_spelled(tokens: Tokens) -> bool:
    """Return True if most pieces of a text are letters, bytes or unknown: its tokenizer does not know the script."""
    labels = [
        label.removeprefix("##") for label, special in zip(tokens.labels, tokens.special, strict=True) if not special
    ]
    return 2 * sum(bool(_PIECE.fullmatch(label)) for label in labels) > len(labels)
