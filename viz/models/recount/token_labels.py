"""Labels of tokens held to what the tokenizer itself makes of their numbers."""

import unicodedata
import zlib
from collections.abc import Sequence
from typing import Any

LOST = "\ufffd"
"""Replacement character for bytes that are no valid text by themselves."""


def letters(text: str) -> str:
    """Return what can be compared of a label: its letters and digits, small, without marks above or below them.

    Example:
        >>> letters("##Straße"), letters(" café")
        ('strasse', 'cafe')
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if c.isalnum())


def wrong_labels(
    tokenizer: Any,
    ids: Sequence[int],
    token_labels: Sequence[str],
    rows: Sequence[int] | None = None,
    *,
    merged: bool = False,
) -> int:
    """Return how many tokens stand under a label that is not theirs.

    A piece that is no text by itself, bytes of a letter, is not compared, nor one without letters, nor, below a word as
    it was typed, a token that stands for all that the tokenizer does not know. ``rows`` has the label that each token
    stands under, -1 for none; None: each has its own. A label may be that of several tokens if ``merged``.
    """
    wrong = 0 if rows is not None or len(ids) == len(token_labels) else 1
    for place, token in enumerate(ids[: len(token_labels)] if rows is None else ids):
        label = place if rows is None else rows[place]
        piece = tokenizer.decode([token], clean_up_tokenization_spaces=False)
        is_lost = LOST in piece or (merged and token == tokenizer.unk_token_id)
        is_same = label >= 0 and piece == token_labels[label]
        if label < 0 or is_lost or is_same or not (letters_of_piece := letters(piece)):
            continue
        read = letters(token_labels[label])
        wrong += letters_of_piece not in read if merged else letters_of_piece != read
    return wrong


def wrong_numbers(tokenizer: Any, text: str, ids: Sequence[int], n_dropped: int) -> int:
    """Return how many of the tokenizer's own numbers of a text, read once more, are not those that are shown.

    Of a text that was cut its beginning is compared, as far as no mark stands at its end.
    """
    expected_ids = tokenizer(text.encode("utf-8", "replace").decode(), verbose=False)["input_ids"]
    n = len(expected_ids) if not n_dropped else max(1, len(ids) - 2)
    return sum(a != b for a, b in zip(expected_ids[:n], ids[:n], strict=False)) + abs(
        len(expected_ids) - len(ids) - n_dropped
    )


def wrong_numbers_of_words(ids: Sequence[int], word_labels: Sequence[str]) -> int:
    """Return how many words stand above another word's number; signs, which may be written out, are not compared."""
    pairs = zip(ids, word_labels, strict=False)
    return sum(word.isalnum() and zlib.crc32(word.casefold().encode()) != number for number, word in pairs)


def wrong_words(text: str, ids: Sequence[int], word_labels: Sequence[str]) -> int:
    """Return how many words of a text stand under another word's number, or in another order than in the text."""
    wrong, at = abs(len(ids) - len(word_labels)) + wrong_numbers_of_words(ids, word_labels), 0
    for word in filter(str.isalnum, word_labels):
        place = text.find(word, at)
        wrong += place < 0
        at = max(at, place + len(word))
    return wrong
