"""``viz.why``: the parts that one head's score of one word is made of, and whether one of them is the cause."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from viz.core.analysis.score_parts import Part
from viz.models.attention_interface import INTERFACE, install, watch
from viz.models.capture import capture
from viz.models.layers.find import find_layers, separate_shared_layers
from viz.models.layers.score_parts import Explanation, explain, scoring_heads
from viz.models.layout import LoadedModel, check_family
from viz.models.registry import Entry
from viz.models.spelling.visible import SPACE
from viz.notebook.arguments import check_text, check_tokenizer, name_of, open_model, open_tokenizer
from viz.notebook.device import on_processor
from viz.text import LANGUAGES, fill, words_of

ROWS = 6
"""Largest parts of a side in a table."""


@dataclass(frozen=True, kw_only=True)
class Why:
    """A score's parts: ``sentence`` says whether one of them is the reason, ``split`` has them all."""

    sentence: str
    split: Explanation
    words: tuple[str, str]
    lang: str

    @property
    def parts(self) -> list[tuple[str, str, float]]:
        """The name of every part, the word where it is, and its amount; at the query and then at the key."""
        texts = words_of(self.lang, "why")
        return [
            (_name(texts, part), word, amount)
            for word, side in zip(self.words, self.split.sides, strict=True)
            for part, amount in sorted(side.items(), key=lambda pair: -abs(pair[1]))
        ]

    def _rows(self) -> list[tuple[str, str, float]]:
        n = len(self.split.sides[0])
        return [*self.parts[: min(n, ROWS)], *self.parts[n : n + ROWS]]

    def __repr__(self) -> str:
        return "\n".join((self.sentence, *(f"{name:20} {word:12} {value:+8.2f}" for name, word, value in self._rows())))

    def _repr_html_(self) -> str:
        top = max(abs(value) for _, _, value in self._rows())
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(word)}</td><td>{value:+.2f}</td><td><div style='height:1em;"
            f"width:{100 * abs(value) / top:.0f}px;background:{'#2f6fde' if value > 0 else '#d97706'}'></div></td></tr>"
            for name, word, value in self._rows()
        )
        return f"<p>{escape(self.sentence)}</p><table>{rows}</table>"


def _name(texts: dict[str, str], part: Part) -> str:
    return fill(texts[f"part_{part.kind}"], layer=part.layer, head=part.head)


def _open(model: Any, tokenizer: Any) -> LoadedModel:
    """Copy a user's model, with the same tensors, as one of ours; the model itself stays as it is."""
    entry = Entry(id=name_of(model))
    check_family(entry, str(model.config.model_type))
    tensors = [*model.parameters(), *model.buffers()]
    if any(t.device.type != "cpu" or (t.is_floating_point() and t.dtype != torch.float32) for t in tensors):
        raise ValueError("Scores are split in float32 on the processor: viz.why(model.float().cpu(), ...).")
    install()
    copy = deepcopy(model, {id(values): values for values in tensors}).eval()
    copy.set_attn_implementation(INTERFACE)
    separate_shared_layers(copy)
    layers = tuple(find_layers(copy))
    watch(layers)
    return LoadedModel(entry=entry, model=copy, tokenizer=tokenizer, layers=layers)


def _find(labels: Sequence[str], at: Any, name: str) -> int:
    """Return the place of a token, by its number or as the only one that reads so."""
    matches = [i for i, label in enumerate(labels) if at in (label, i) and not isinstance(at, bool)]
    if len(matches) != 1:
        places = ", ".join(f"{i} {label}" for i, label in enumerate(labels[:40]))
        raise ValueError(f"{name}={at!r} is at {len(matches)} places: name one token by its number ({places}).")
    return matches[0]


@on_processor()
def why(
    model: Any, tokenizer: Any, text: str, *, layer: int, head: int, query: int | str, key: int | str, lang: str = "en"
) -> Why:
    """Split the score of one word in one head exactly into parts, and say whether one of them is the reason.

    The score is held against its mean over the other words in sight; the scales of all norms are held as they are.

    Args:
        model: an encoder or a decoder of transformers, in float32; it is left as it was.
        tokenizer: its own.
        text: what it reads.
        layer: counted from 0.
        head: counted from 0.
        query: the token that looks, by its place or as it reads.
        key: the token that is looked at, likewise.
        lang: of the words, "en" or "zh".

    Raises:
        ValueError: a sentence on what is wrong, or has not been tried.
    """
    check_text(model, tokenizer, text)
    model, tokenizer = open_model(model), open_tokenizer(tokenizer)
    check_tokenizer(tokenizer)
    if not isinstance(text, str) or lang not in LANGUAGES:
        raise ValueError(f"viz.why reads one text, a string; lang is one of {', '.join(LANGUAGES)}.")
    opened_model = _open(model, tokenizer)
    for name, number, n in (("layer", layer, opened_model.n_layers), ("head", head, opened_model.n_heads)):
        if type(number) is not int or not 0 <= number < n:
            raise ValueError(f"{name}={number!r} is none of the {n} from 0 to {n - 1}.")
    reading = capture(opened_model, text)
    labels = [label.removeprefix(SPACE).removeprefix("##") for label in reading.tokens.labels]
    edge = _find(labels, query, "query"), _find(labels, key, "key")
    with torch.inference_mode():
        split = explain(reading, scoring_heads(opened_model, reading, layer)[head], (layer, head), edge)
    sentence, side, part, amount = split.statement()
    words, texts = (labels[edge[0]], labels[edge[1]]), words_of(lang, "why")
    values = {"total": split.total, "amount": amount, "before": split.weight, "after": split.after}
    sentence = fill(
        texts[sentence], query=words[0], key=words[1], part=_name(texts, part), kind=texts[f"kind_{part.kind}"],
        at=words[side], **{name: f"{value:.2f}" for name, value in values.items()},
    )  # fmt: skip
    return Why(sentence=sentence, split=split, words=words, lang=lang)
