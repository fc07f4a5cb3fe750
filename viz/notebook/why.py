"""``viz.why``: the parts that one head's score of one word is made of, and whether one of them is the cause."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from viz.core.analysis.score_parts import GROUPS, Part, ScoreParts, contrast_weights, split_score
from viz.core.analysis.score_parts.exchange import exchange_part
from viz.models.attention_interface import INTERFACE, install, watch
from viz.models.capture import Capture, capture
from viz.models.layers.find import find_layers, separate_shared_layers
from viz.models.layers.score_parts import refusal, scoring_heads, sinks, visible_tokens, words_of
from viz.models.layout import LoadedModel, check_family
from viz.models.registry import Entry
from viz.models.spelling.visible import SPACE
from viz.notebook.arguments import check_text, check_tokenizer, name_of, open_model, open_tokenizer
from viz.notebook.device import on_processor

MOST_TOKENS = 512
LEAST_CONTRAST = 1.0
"""Below it a key gets less than e times the weight of the others: there is little to explain."""
ROWS = 6
"""Largest parts of a side in a table; the rest stands in one line."""
NAMES = {"word": "word", "place": "place", "constant": "biases and shifts"}


@dataclass(frozen=True, kw_only=True)
class Why:
    """Parts of one score, ``query`` at ``key`` in a head, against its mean over the other words in sight.

    ``split`` has all parts; ``weight`` is the edge's own, and ``exchanged`` its mean once the largest head, word or
    place, ``cause`` if it is half of the contrast, is exchanged for what the text's other words have there.
    """

    query: str
    key: str
    layer: int
    head: int
    weight: float
    split: ScoreParts
    cause: Part | None
    exchanged: float

    @property
    def parts(self) -> list[tuple[str, str, float]]:
        """Name, side and amount of every part, the largest of each side first."""
        return [(_name(part), side, part.amount) for side in ("query", "key") for part in self.split.side(side)]

    @property
    def is_confirmed(self) -> bool:
        """True if a part is named, and the exchange halves the weight."""
        return self.cause is not None and self.exchanged <= self.weight / 2

    @property
    def sentence(self) -> str:
        """One sentence on the part that the score is by: "No single part" unless its exchange halves the weight."""
        total = f"{self.split.contrast:.1f}"
        after = (
            f"exchanged for what other words have there, the weight goes from {self.weight:.2f} to {self.exchanged:.2f}"
        )
        if self.cause is None:
            part = max((part for part in self.split.parts if part.kind != "constant"), key=lambda part: part.amount)
            return f"No single part: the largest, {_name(part)} at the {part.side}, has {part.amount:.1f} of {total}."
        name, amount = f"{_name(self.cause)} at the {self.cause.side}", f"{self.cause.amount:.1f} of {total}"
        if not self.is_confirmed:
            return f"No single part: the largest, {name}, has {amount}, and {after}."
        group = GROUPS.index(self.cause.kind)
        both = float(self.split.grid[group, group])
        if self.cause.kind != "head" and both >= self.split.contrast / 2:
            kind = self.cause.kind
            return f"{self.key!r} is looked at by {kind}, {kind} × {kind}: {both:.1f} of {total}; {after}."
        return f"{self.key!r} is looked at by {name}: {amount}; {after}."

    @property
    def _rows(self) -> Iterator[tuple[str, str, str]]:
        for side in ("query", "key"):
            parts = self.split.side(side)
            by_size = sorted(parts, key=lambda part: -abs(part.amount))
            first = [part for part in parts if part in by_size[:ROWS]]
            yield from ((_name(part), side, f"{part.amount:+.2f}") for part in first)
            if rest := by_size[ROWS:]:
                yield f"the rest ({len(rest)} parts)", side, f"{sum(part.amount for part in rest):+.2f}"

    @property
    def _title(self) -> str:
        return f"Layer {self.layer}, head {self.head}: {self.query!r} looks at {self.key!r} with {self.weight:.2f}"

    def __repr__(self) -> str:
        rows = (f"{name:24} {side:6} {amount:>8}" for name, side, amount in self._rows)
        return "\n".join((self._title, self.sentence, *rows, "Split with the norms held at this pass."))

    def _repr_html_(self) -> str:
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in self._rows)
        head = "".join(f"<th>{name}</th>" for name in ("part", "side", "amount"))
        return (
            f"<p><strong>{escape(self._title)}</strong><br>{escape(self.sentence)}</p>"
            f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
            "<p>Split with the norms held at this pass.</p>"
        )


def _name(part: Part) -> str:
    if part.kind == "head":
        return f"head {part.layer}.{part.head}"
    return f"feed-forward {part.layer}" if part.kind == "feed_forward" else NAMES[part.kind]


def _copy_of(model: Any, tokenizer: Any) -> LoadedModel:
    """A copy of a user's model, with the same tensors, as one of ours; the model itself stays as it is.

    Raises:
        ValueError: a sentence, if its blocks are not known, or it is not in float32 on the processor.
    """
    entry = Entry(id=name_of(model))
    check_family(entry, str(model.config.model_type))
    if model.config.is_encoder_decoder:
        raise ValueError("Scores are split in models with one stack of layers, an encoder or a decoder.")
    tensors = [*model.parameters(), *model.buffers()]
    if any(
        (values.is_floating_point() and values.dtype != torch.float32) or values.device.type != "cpu"
        for values in tensors
    ):
        raise ValueError("Scores are split in float32 on the processor: viz.why(model.float().cpu(), ...).")
    install()
    copied = deepcopy(model, {id(values): values for values in tensors}).eval()
    copied.set_attn_implementation(INTERFACE)
    separate_shared_layers(copied)
    layers = tuple(find_layers(copied))
    watch(layers)
    return LoadedModel(entry=entry, model=copied, tokenizer=tokenizer, layers=layers)


def _find(read: Capture, at: Any, name: str) -> int:
    """Return the place of a token, by its number or as the one that reads so.

    Raises:
        ValueError: a sentence with the places, if there is none or more than one.
    """
    labels = [label.strip(SPACE).removeprefix("##") for label in read.tokens.labels]
    if isinstance(at, str):
        matches = [i for i, label in enumerate(labels) if label == at.strip()]
    else:
        matches = [int(at)] if type(at) is int and 0 <= at < len(labels) else []
    if len(matches) != 1:
        where = " and ".join(map(str, matches)) or "no place"
        places = ", ".join(f"{i} {label}" for i, label in enumerate(labels[:40]))
        raise ValueError(f"{name}={at!r} is at {where}: name one token by its number ({places}).")
    return matches[0]


def _check(number: Any, n: int, name: str) -> None:
    if type(number) is not int or not 0 <= number < n:
        raise ValueError(f"{name}={number!r} is none of the {n} from 0 to {n - 1}.")


def _check_edge(read: Capture, layer: int, query: int, key: int) -> list[int]:
    """Return the words in sight beside the key.

    Raises:
        ValueError: a sentence on why this edge is not split.
    """
    words, long = words_of(read, layer), sinks(read, layer)
    for at in (query, key):
        label = read.tokens.labels[at]
        if at in long:
            raise ValueError(
                f"{label!r} has a stream several times as long as other words': a sink, whose parts say little."
            )
        if at not in words:
            kind = "a special token" if read.tokens.special[at] else "a decoder's first token"
            raise ValueError(f"{label!r} is {kind}: heads look there when they look at nothing, and no part says why.")
    visible = visible_tokens(read, layer, query)
    if not visible[key]:
        raise ValueError(f"{read.tokens.labels[query]!r} may not look at {read.tokens.labels[key]!r}.")
    against = [at for at in words if visible[at] and at != key]
    if not against:
        raise ValueError("There is no other word in sight to hold this score against.")
    return against


@on_processor()
def why(model: Any, tokenizer: Any, text: str, *, layer: int, head: int, query: int | str, key: int | str) -> Why:
    """Split the score of one word in one head into what it is made of, exactly, and say whether one part is the cause.

    The score is held against its mean over the other words in sight. It is a sum of parts at the query, and of parts at
    the key: its word and place, what each earlier head and feed-forward network wrote there, biases and shifts; with
    the scale of every norm held at its value of this pass. A head, a word or a place is named if it is half of the sum,
    and exchanging it for what the text's other words have there halves the weight; a feed-forward network never.

    Args:
        model: an encoder or a decoder of transformers, in float32; it is left as it was.
        tokenizer: its own.
        text: what it reads.
        layer: counted from 0.
        head: counted from 0.
        query: the token that looks, by its place or as it reads.
        key: the token that is looked at, likewise.

    Raises:
        ValueError: a sentence on what is wrong, or has not been tried: other positions than a table and RoPE, norms of
            queries and keys, latent attention, learned sinks, special tokens, contrasts below 1.
    """
    check_text(model, tokenizer, text)
    model, tokenizer = open_model(model), open_tokenizer(tokenizer)
    check_tokenizer(tokenizer)
    if not isinstance(text, str) or not getattr(tokenizer, "is_fast", False):
        raise ValueError(
            "viz.why reads one text, a string, with a fast tokenizer: viz.why(model, tokenizer, text, ...)."
        )
    ours = _copy_of(model, tokenizer)
    _check(layer, ours.n_layers, "layer")
    _check(head, ours.n_heads, "head")
    read = capture(ours, text, max_tokens=MOST_TOKENS)
    if read.tokens.n_excess:
        raise ValueError(f"The text has {read.tokens.n_excess} tokens more than can be split.")
    if reason := refusal(ours, read, layer):
        raise ValueError(reason)
    i, j = _find(read, query, "query"), _find(read, key, "key")
    against = _check_edge(read, layer, i, j)
    with torch.inference_mode():
        return _explain(read, layer, head, i, j, against, scoring_heads(ours, read, layer)[head])


def _explain(read: Capture, layer: int, head: int, i: int, j: int, against: Sequence[int], scoring: Any) -> Why:
    split = split_score(scoring, i, contrast_weights(len(read.tokens.ids), j, against))
    if split.contrast < LEAST_CONTRAST:
        raise ValueError(
            f"The score is {split.contrast:.2f} above its mean over the other words: too little to explain."
        )
    weight, cause, exchanged = float(read.layer(layer).weights[head, i, j]), split.main_part(), float("nan")
    if cause is not None:
        at = i if cause.side == "query" else j
        donors = torch.tensor([word for word in words_of(read, layer) if word != at])
        allowed = visible_tokens(read, layer, i)
        exchanged = float(exchange_part(scoring, i, j, cause, donors, allowed).mean())
    edge = {name: read.tokens.labels[at].strip(SPACE) for name, at in (("query", i), ("key", j))}
    return Why(**edge, layer=layer, head=head, weight=weight, split=split, cause=cause, exchanged=exchanged)
