"""What an imagined expert looks at, as pairs of tokens: measurable on every head."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from viz.models.tokens import Tokens, is_mark, word_labels

NEIGHBOURS = {"previous": -1, "next": 1}
CHOSEN = ("coreference", "grammar")
"""Experts whose words a reader has to name: which noun is meant, which word is the subject."""

PATTERNS = (*NEIGHBOURS, *CHOSEN, "punctuation")
KNOWN = {
    "coreference": (("it", "animal"), ("它", "动物"), ("它", "动")),
    "grammar": (("cross", "animal"), ("过", "动物"), ("过", "动")),
}
"""The words of the notes' sentence, and of its translation: who looks, at whom. Of any other text nothing is known."""


@dataclass(frozen=True)
class Pattern:
    """An expert and the pairs (query, key) of tokens it is about."""

    name: str
    pairs: tuple[tuple[int, int], ...]

    def target(self, n: int) -> Tensor:
        """True at its pairs, (n, n)."""
        cells = torch.zeros(n, n, dtype=torch.bool)
        cells[tuple(torch.tensor(self.pairs).T)] = True
        return cells


def bare(label: str) -> str:
    """A word without what tokenizers write before it, in small letters."""
    return label.strip("▁␣Ġ ").casefold()


def known_words(words: Sequence[str], expert: str) -> tuple[int, int] | None:
    """Which words of a text are the notes' two; None if they do not stand in it, once each.

    Example:
        >>> known_words(("The", "animal", "saw", "it"), "coreference"), known_words(("The", "cat"), "coreference")
        ((3, 1), None)
    """
    plain = [bare(word) for word in words]
    for pair in KNOWN[expert]:
        if all(plain.count(word) == 1 for word in pair):
            return plain.index(pair[0]), plain.index(pair[1])
    return None


def found_in(tokens: Tokens, words: dict[str, tuple[int, int] | None]) -> tuple[Pattern, ...]:
    """The patterns that a text has, in the order of :data:`PATTERNS`; special tokens have no part in any.

    Args:
        tokens: the text.
        words: for each expert of :data:`CHOSEN` the two words, by their number in the text.
    """
    plain = [i for i, special in enumerate(tokens.special) if not special]
    marks = [i for i in plain if is_mark(tokens.labels[i])]
    pairs: dict[str, list[tuple[int, int]]] = {}
    for name, offset in NEIGHBOURS.items():
        pairs[name] = [(i, i + offset) for i in plain if i + offset in plain]
    for name in CHOSEN:
        if (chosen := words.get(name)) is not None:
            query, key = ([i for i, word in enumerate(tokens.words) if word == wanted] for wanted in chosen)
            pairs[name] = [(i, j) for i in query for j in key]
    pairs["punctuation"] = [(i, j) for i in plain if i not in marks for j in marks]
    return tuple(Pattern(name, tuple(pairs[name])) for name in PATTERNS if pairs.get(name))


def words_of(tokens: Tokens) -> tuple[str, ...]:
    """The words of a text, pieces put together."""
    return word_labels(tokens)
