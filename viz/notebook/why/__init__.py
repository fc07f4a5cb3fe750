"""``viz.why``: the parts that one head's score of one word is made of, and whether one of them is the cause."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from viz.models.attention_interface import INTERFACE, install, watch
from viz.models.capture import capture
from viz.models.layers.find import find_layers, separate_shared_layers
from viz.models.layers.score_parts import Explanation, explain, name_part, say_reason, scoring_heads
from viz.models.layout import LoadedModel, check_family
from viz.models.registry import Entry
from viz.models.spelling.visible import SPACE
from viz.notebook.arguments import check_text, check_tokenizer, name_of, open_model, open_tokenizer
from viz.notebook.device import on_processor
from viz.text import LANGUAGES, translator

ROWS = 6
"""Largest parts of a side in a table."""


@dataclass(frozen=True, kw_only=True)
class Why:
    """A score's parts: ``sentence`` says whether one of them is the reason, ``split`` has them all.

    ``rows`` are the largest at the query and at the key: their names, the word where they are, and their amounts.
    """

    sentence: str
    split: Explanation
    rows: Sequence[tuple[str, str, float]]

    def __repr__(self) -> str:
        return "\n".join((self.sentence, *(f"{name:20} {word:12} {value:+8.2f}" for name, word, value in self.rows)))

    def _repr_html_(self) -> str:
        top = max(abs(value) for _, _, value in self.rows)
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(word)}</td><td>{value:+.2f}</td><td><div style='height:1em;"
            f"width:{100 * abs(value) / top:.0f}px;background:{'#2f6fde' if value > 0 else '#d97706'}'></div></td></tr>"
            for name, word, value in self.rows
        )
        return f"<p>{escape(self.sentence)}</p><table>{rows}</table>"


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
    watch(layers := tuple(find_layers(copy)))
    return LoadedModel(entry=entry, model=copy, tokenizer=tokenizer, layers=layers)


def _find(name: str, at: Any, labels: Sequence[str]) -> int:
    """Return a place by its number, or as the only one that reads so."""
    matches = [i for i, label in enumerate(labels) if type(at) in (int, str) and at in (label, i)]
    if len(matches) != 1:
        places = ", ".join(f"{i} {label}".strip() for i, label in enumerate(labels[:40]))
        raise ValueError(f"{name}={at!r} is at {len(matches)} places: name one by its number ({places}).")
    return matches[0]


@on_processor()
def why(
    model: Any, tokenizer: Any, text: str, *, layer: int, head: int, query: int | str, key: int | str, lang: str = "en"
) -> Why:
    """Split the score of one word in one head exactly into parts, and say whether one of them is the reason.

    The score is held against its mean over the other words in sight; the scales of all norms are held as they are.

    The model is an encoder or a decoder of transformers in float32, and is left as it was. Layers and heads count from
    0; query and key are tokens, by their places or as they read; lang is "en" or "zh".

    Raises:
        ValueError: a sentence on what is wrong, or has not been tried.
    """
    check_text(model, tokenizer, text)
    check_tokenizer(tokenizer := open_tokenizer(tokenizer))
    if not isinstance(text, str) or lang not in LANGUAGES:
        raise ValueError(f"viz.why reads one text, a string; lang is one of {', '.join(LANGUAGES)}.")
    opened_model, t = _open(open_model(model), tokenizer), translator(lang)
    for name, number, n in (("layer", layer, opened_model.n_layers), ("head", head, opened_model.n_heads)):
        _find(name, number, [""] * n)
    reading = capture(opened_model, text)
    labels = [label.removeprefix(SPACE).removeprefix("##") for label in reading.tokens.labels]
    edge = _find("query", query, labels), _find("key", key, labels)
    with torch.inference_mode():
        split = explain(scoring_heads(opened_model, reading, layer)[head], edge)
    rows = [
        (name_part(t, part), labels[place], side[part])
        for place, side in zip(edge, split.sides, strict=True)
        for part in sorted(side, key=lambda part: -abs(side[part]))[:ROWS]
    ]
    sentence = say_reason(t, split, [labels[place] for place in edge], "{:.2f}".format, "{:.2f}".format)
    return Why(sentence=sentence, split=split, rows=rows)
