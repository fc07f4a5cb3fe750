"""The texts that heads are scored on: sentences in two languages (``assets/corpus``), and random tokens, repeated."""

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from viz import ASSETS
from viz.models.layout import LoadedModel
from viz.models.spelling.visible import is_mark
from viz.models.tokens import read_text

LANGUAGES = ("en", "zh")
LONGEST = 96
"""Tokens of a text; what is beyond is left out. No sentence of the corpus is so long in any model here."""
SEQUENCES, LENGTH, SEED = 16, 24, 0
"""Texts of random tokens, how many tokens each has before they are repeated, and the seed they are drawn with."""


@dataclass(frozen=True)
class Part:
    """Lines from one place: books whose copyright has ended, or this project's own."""

    source: str
    lines: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Text:
    """A text as the scores need it: its tokens, which of them are special, which are punctuation."""

    ids: Tensor
    special: Tensor
    marks: Tensor


@cache
def parts(lang: str) -> tuple[Part, ...]:
    """The corpus of a language, part by part."""
    if lang not in LANGUAGES:
        raise ValueError(f"no corpus in {lang!r}, only in {', '.join(LANGUAGES)}")
    with (ASSETS / "corpus" / f"{lang}.toml").open("rb") as file:
        return tuple(
            Part(part["source"], tuple(part["lines"].strip().splitlines())) for part in tomllib.load(file)["part"]
        )


def sentences(lang: str) -> tuple[str, ...]:
    """Every line of a language's corpus, in order."""
    return tuple(line for part in parts(lang) for line in part.lines)


def digest(lines: Sequence[str]) -> str:
    """Identify a corpus: the first twelve digits of its SHA-256."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def read_lines(model: LoadedModel, lines: Iterable[str]) -> list[Text]:
    """Cut lines with a model's tokenizer.

    Raises:
        ModelError: if nothing of a line becomes a token.
    """
    limit = min(LONGEST, model.max_tokens)
    texts = []
    for line in lines:
        tokens = read_text(model.tokenizer, line, limit)
        marks = [is_mark(label) and not added for label, added in zip(tokens.labels, tokens.special, strict=True)]
        texts.append(Text(torch.tensor(tokens.ids), torch.tensor(tokens.special), torch.tensor(marks)))
    return texts


def repeated_tokens(model: LoadedModel, count: int = 0, length: int = LENGTH) -> list[Text]:
    """Random tokens, each sequence once more behind itself, between the model's own special tokens.

    No token comes twice in a sequence before it is repeated. ``count`` 0 is the default, ``SEQUENCES``.
    """
    tokenizer = model.tokenizer
    special = set(tokenizer.all_special_ids)
    valid_ids = torch.tensor([i for i in range(len(tokenizer)) if i not in special])
    frame = read_text(tokenizer, "a", model.max_tokens)
    content = frame.special.index(False)
    before, after = frame.ids[:content], frame.ids[len(frame.ids) - frame.special[::-1].index(False) :]
    room = (model.max_tokens - len(before) - len(after)) // 2
    generator = torch.Generator().manual_seed(SEED)
    texts = []
    for _ in range(count or SEQUENCES):
        sample = valid_ids[torch.randperm(len(valid_ids), generator=generator)[: min(length, room)]]
        ids = torch.cat([torch.tensor(before).long(), sample, sample, torch.tensor(after).long()])
        added = torch.ones(len(ids)).bool()
        added[len(before) : len(ids) - len(after)] = False
        texts.append(Text(ids, added, torch.zeros(len(ids)).bool()))
    return texts
