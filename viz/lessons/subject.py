"""Subject of a question: the words on the page, and every number of the heads that read them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Tensor

from viz.core.heads import MultiHeadTrace
from viz.lessons.key import PremiseError

SPACE = "␣"
"""Label of the space before a word, where a tokenizer takes it for a part of the word."""


@dataclass(frozen=True, kw_only=True)
class Decoder:
    """A decoder that the page asks for the next word.

    Args:
        logits: after each token, (T, V).
        ids: the text's tokens, by their numbers in the vocabulary.
        at: the token after which it is asked.
        word: what is written for a word of the vocabulary.
        token: the number that a word begins with; None if there is none.
        followed: the word whose logit is taken apart.
        parts: what the heads, the feed-forward networks and the embedding write of it; empty where nobody asks.
    """

    logits: Tensor
    ids: tuple[int, ...]
    at: int
    word: Callable[[int], str]
    token: Callable[[str], int | None]
    followed: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """State of the page when a question is asked.

    Args:
        labels: what is written for each token.
        special: which of them are marks of the tokenizer, and no words.
        trace: every step of the layer.
        layer: which that is.
        n_layers: how many the model has.
        weights_of: the weights (H, Q, K) of another layer.
        chosen: what the page says of parameters, by their names in the link; None for what it does not have.
        about: what else the numbers depend on, in words that need mean nothing.
        decoder: that says the next word, on the page where one does.
        facts: numbers of a section that shows more than a trace.
    """

    labels: tuple[str, ...]
    special: tuple[bool, ...]
    trace: MultiHeadTrace
    layer: int = 0
    n_layers: int = 1
    weights_of: Callable[[int], Tensor]
    chosen: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""
    decoder: Decoder | None = None
    facts: Mapping[str, float] = field(default_factory=dict)

    @property
    def head(self) -> int:
        """The head that is looked at."""
        head = self.chosen.get("head")
        last = self.trace.weights.shape[0] - 1
        return min(head, last) if isinstance(head, int) and not isinstance(head, bool) and head >= 0 else 0

    @property
    def words(self) -> tuple[int, ...]:
        """Places of the tokens that are words or pieces of words: neither marks nor punctuation."""
        labels = zip(self.labels, self.special, strict=True)
        return tuple(
            place for place, (label, special) in enumerate(labels) if not special and any(map(str.isalnum, label))
        )

    @property
    def weights(self) -> Tensor:
        """Of that head, (Q, K)."""
        return self.trace.weights[self.head]

    def at_least(self, n: int) -> int:
        """Return the number of tokens.

        Raises:
            PremiseError: "too_short", if there are fewer than ``n``.
        """
        if len(self.labels) < n:
            raise PremiseError("too_short", n=n)
        return len(self.labels)

    def word(self, place: int) -> str:
        """A token as it stands in a sentence."""
        return self.labels[place].removeprefix(SPACE) or self.labels[place]

    def name(self, place: int) -> str:
        """A token in a sentence; where others have the same label, with its place before it, as lists have it."""
        word = self.word(place)
        return word if self._counts[word] == 1 else f"{place % len(self.labels)} · {word}"

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(map(self.word, range(len(self.labels))))
