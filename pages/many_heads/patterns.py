"""Patterns of imagined experts as pairs of tokens: measurable on every head."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from viz.models.spelling.visible import is_mark
from viz.models.tokens import Tokens, word_labels

NEIGHBOURS = {"previous": -1, "next": 1}
WORD_PAIR_EXPERTS = ("coreference", "grammar")
"""Experts whose words the user chooses: the noun of a pronoun, the subject of a verb."""

PATTERNS = (*NEIGHBOURS, *WORD_PAIR_EXPERTS, "punctuation")
NOTES_WORDS = {
    "coreference": (("it", "animal"), ("它", "动物"), ("它", "动")),
    "grammar": (("cross", "animal"), ("过", "动物"), ("过", "动")),
}
"""(query, key) words of the notes' sentence and its translation; other texts have none."""


@dataclass(frozen=True)
class Pattern:
    """An expert and its pairs (query, key) of tokens."""

    name: str
    pairs: tuple[tuple[int, int], ...]

    def target(self, n: int) -> Tensor:
        """True at the pairs, (n, n)."""
        cells = torch.zeros(n, n, dtype=torch.bool)
        cells[tuple(torch.tensor(self.pairs).T)] = True
        return cells


def plain_word(label: str) -> str:
    """Return a word in lower case without the tokenizer's space mark."""
    return label.strip("▁␣Ġ ").casefold()


def known_words(words: Sequence[str], expert: str) -> tuple[int, int] | None:
    """Return the numbers of the notes' two words in a text; None unless each stands in it once.

    Example:
        >>> known_words(("The", "animal", "saw", "it"), "coreference"), known_words(("The", "cat"), "coreference")
        ((3, 1), None)
    """
    plain = [plain_word(word) for word in words]
    for pair in NOTES_WORDS[expert]:
        if all(plain.count(word) == 1 for word in pair):
            return plain.index(pair[0]), plain.index(pair[1])
    return None


def patterns_in(tokens: Tokens, words: dict[str, tuple[int, int] | None]) -> tuple[Pattern, ...]:
    """Return the patterns that a text has, in the order of :data:`PATTERNS`; special tokens are left out."""
    plain = [i for i, special in enumerate(tokens.special) if not special]
    marks = [i for i in plain if is_mark(tokens.labels[i])]
    pairs: dict[str, list[tuple[int, int]]] = {}
    for name, offset in NEIGHBOURS.items():
        pairs[name] = [(i, i + offset) for i in plain if i + offset in plain]
    for name in WORD_PAIR_EXPERTS:
        if (word_pair := words.get(name)) is not None:
            query, key = ([i for i, word in enumerate(tokens.words) if word == number] for number in word_pair)
            pairs[name] = [(i, j) for i in query for j in key]
    pairs["punctuation"] = [(i, j) for i in plain if i not in marks for j in marks]
    return tuple(Pattern(name, tuple(pairs[name])) for name in PATTERNS if pairs.get(name))


def words_of(tokens: Tokens) -> tuple[str, ...]:
    """Return the words of a text, with pieces joined."""
    return word_labels(tokens)
