"""Text into tokens, and tokens into labels a person can read: every character visible, none of them active."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from viz.errors import ModelError
from viz.models.spelling.pieces import Span, parts, share_out, spell
from viz.models.spelling.visible import SPACE, visible
from viz.models.spelling.words import number_words, words_in

LETTER_BYTES = 4
"""Bytes of a letter at most: so many tokens may hold a piece of it."""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """A text cut into tokens.

    ``special`` marks what the tokenizer added (``[CLS]``), ``words`` numbers the word each token is a piece of
    (a special token is a word of its own), ``n_excess`` counts the tokens over the limit that were left out.
    ``spans`` has where in ``text`` each token stands; none where tokens are no text, as after a shuffle.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    words: tuple[int, ...]
    n_excess: int = 0
    text: str = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Prediction of a language-model head at one place: token labels and their probabilities, best first."""

    at: int
    labels: tuple[str, ...]
    probabilities: tuple[float, ...]


def word_labels(tokens: Tokens) -> tuple[str, ...]:
    """A label for each word, as it was typed; without a text, its pieces put together again."""
    ends = [*(i for i in range(1, len(tokens.words)) if tokens.words[i] != tokens.words[i - 1]), len(tokens.words)]
    return tuple(_word_label(tokens, start, end) for start, end in pairwise((0, *ends)))


def words_as_read(tokens: Tokens) -> tuple[str, ...]:
    """A label for each word as the model reads it, its pieces put together: in small letters or unknown, if it is."""
    return word_labels(replace(tokens, spans=()))


def _word_label(tokens: Tokens, start: int, end: int) -> str:
    first, *following = tokens.labels[start:end]
    source = tokens.text[tokens.spans[start][0] : tokens.spans[end - 1][1]] if tokens.spans else ""
    if not source:
        return first + "".join(label.removeprefix("##") for label in following)
    if not following and source == first:
        return first
    return SPACE + visible(source) if first[0] == SPACE and source[0] != " " else visible(source)


def _encodable(text: str) -> str:
    """Half a surrogate pair is no text in any encoding, and tokenizers refuse it: it becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def split_words(text: str, max_tokens: int) -> Tokens:
    """One token a word: words whole, Chinese characters and punctuation marks one by one.

    Raises:
        ModelError: if there is no word at all.
    """
    text = _encodable(text)
    words = words_in(text)
    if not words:
        raise ModelError("empty")
    first_words = words[:max_tokens]
    return Tokens(
        ids=tuple(zlib.crc32(word.casefold().encode()) for word, _ in first_words),
        labels=tuple(visible(word) for word, _ in first_words),
        special=(False,) * len(first_words),
        words=tuple(range(len(first_words))),
        n_excess=len(words) - len(first_words),
        text=text,
        spans=tuple(span for _, span in first_words),
    )


def seeded_embeddings(ids: tuple[int, ...], d_model: int, seed: int) -> Float[Tensor, "T d_model"]:
    """A vector of independent N(0, 1) numbers for each id; the same id and seed give the same vector, always."""
    # torch's generator reads the low 32 bits of its seed only: both numbers must go into them.
    seeds = [zlib.crc32(f"{seed} {i}".encode()) for i in ids]
    return torch.stack([torch.randn(d_model, generator=torch.Generator().manual_seed(s)) for s in seeds])


def read_text(tokenizer: Any, text: str, max_tokens: int) -> Tokens:
    """Cut a text with a model's own tokenizer, its special tokens included, at most ``max_tokens`` in all.

    Raises:
        ModelError: if nothing of the text becomes a token.
    """
    text = _encodable(text)
    # Truncation is ours: asking the tokenizer for it would change its state, which users share.
    encoding = tokenizer(text, return_special_tokens_mask=True, return_offsets_mapping=True, verbose=False)
    added = [bool(flag) for flag in encoding["special_tokens_mask"]]
    content = [i for i, flag in enumerate(added) if not flag]
    if not content:
        raise ModelError("empty")
    room = max(1, max_tokens - sum(added))
    ids, offsets, excess = encoding["input_ids"], encoding["offset_mapping"], set(content[room:])
    places_in_limit = [i for i in range(len(ids)) if i not in excess]
    # The first tokens that are left out may hold the rest of the last letter.
    far = excess.difference(content[room : room + LETTER_BYTES])
    near = [i for i in range(len(ids)) if i not in far]
    pieces = dict(zip(near, parts(tokenizer, [ids[i] for i in near]), strict=True))
    labels_by_place = dict(zip(near, spell(list(pieces.values())), strict=True))
    places = share_out(text, [offsets[i] for i in places_in_limit], [pieces[i] for i in places_in_limit])
    read_part = text[: max(end for _, end in places)] if excess else text
    special = tuple(added[i] for i in places_in_limit)
    words, spans = number_words(read_part, places, special)
    return Tokens(
        ids=tuple(ids[i] for i in places_in_limit),
        labels=tuple(labels_by_place[i] for i in places_in_limit),
        special=special,
        words=words,
        n_excess=len(excess),
        text=read_part,
        spans=spans,
    )


def labels(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """Label tokens that follow one another.

    A token may hold a piece of a letter, some of its bytes: it is shown as the letter with its number, 猫₁ 猫₂.
    """
    return spell(parts(tokenizer, ids))


def guesses(tokenizer: Any, ids: Sequence[int]) -> tuple[str, ...]:
    """Label tokens that do not follow one another: of a letter that is cut only bytes are known, ⟨E7…⟩."""
    return tuple(spell([part])[0] for part in parts(tokenizer, ids))


def word_token(tokenizer: Any, word: str) -> int | None:
    """The token that a word begins with where it comes next in a text; None if there is nothing to write.

    In most vocabularies a word brings the space before it: " Mary" is one token and "Mary" another. Of the two ways to
    write it the one of fewer tokens is taken, with the space if they are as many.
    """
    word = _encodable(word).replace(SPACE, " ").strip()
    ways = [tokenizer.encode(way, add_special_tokens=False) for way in (f" {word}", word)] if word else []
    best: list[int] = min((way for way in ways if way), key=len, default=[])
    return best[0] if best else None


def shift(tokenizer: Any, config: Any, tokens: Tokens) -> Tokens:
    """Shift tokens right by one place behind the start token: the input of a decoder that writes them."""
    start_candidates = (getattr(config, name, None) for name in ("decoder_start_token_id", "pad_token_id"))
    # A T5 begins with its padding.
    start = next((token for token in start_candidates if token is not None), 0)
    return Tokens(
        ids=(start, *tokens.ids[:-1]),
        labels=(*labels(tokenizer, [start]), *tokens.labels[:-1]),
        special=(True, *tokens.special[:-1]),
        words=(0, *(word + 1 for word in tokens.words[:-1])),
        n_excess=tokens.n_excess,
        text=tokens.text,
        spans=((0, 0), *tokens.spans[:-1]) if tokens.spans else (),
    )
