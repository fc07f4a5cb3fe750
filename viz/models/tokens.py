"""Text into tokens, and tokens into labels a person can read: every character visible, none of them active."""

import unicodedata
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from viz.errors import ModelError

SPACE = "␣"
_NAMED = {"\n": "↵", "\t": "⇥", "\r": "↵", " ": SPACE}
_BLANK = "\u034f\u115f\u1160\u2800\u3164\uffa0"  # letters and marks by category, yet nothing to see
_PIECE = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """A text cut into tokens.

    ``special`` marks what the tokenizer added (``[CLS]``), ``words`` numbers the word each token is a piece of
    (a special token is a word of its own), ``dropped`` counts the tokens over the limit that were left out.
    """

    ids: tuple[int, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    words: tuple[int, ...]
    dropped: int = 0


def word_labels(tokens: Tokens) -> tuple[str, ...]:
    """A label for each word: its pieces put together again."""
    words = [""] * (tokens.words[-1] + 1)
    for word, label in zip(tokens.words, tokens.labels, strict=True):
        words[word] += label.removeprefix("##") if words[word] else label
    return tuple(words)


def is_mark(label: str) -> bool:
    """Whether a token is punctuation: something is written, and no letter or number.

    Example:
        >>> [is_mark(label) for label in (".", "'", "a.", "它", "␣")]
        [True, True, False, False, False]
    """
    shown = label.removeprefix("##").strip("▁␣Ġ↵⇥ ")
    return bool(shown) and not any(letter.isalnum() for letter in shown)


def visible(text: str) -> str:
    """Show what would be invisible or would act on its surroundings: spaces, controls, direction marks.

    Example:
        >>> visible("a b" + chr(0x202E))
        'a␣b⟨202E⟩'
    """
    shown = "".join(_visible_character(character) for character in text)
    if shown.startswith("\u200d"):  # it joins nothing here
        shown = f"⟨200D⟩{shown[1:]}"
    # A mark with nothing before it would be drawn on whatever stands to its left: give it a circle to sit on.
    return f"◌{shown}" if shown and unicodedata.category(shown[0]).startswith("M") else shown


@lru_cache(maxsize=1_000)  # a vocabulary's words are made of few
def _visible_character(character: str) -> str:
    if character in _NAMED:
        return _NAMED[character]
    # U+200D joins emoji into one picture, and the newest emoji are unknown to Python's tables; every other control,
    # format, private or blank character is written out.
    blank = unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Zs") or character in _BLANK
    emoji = character == "\u200d" or "\U0001f000" <= character <= "\U0001faff"
    return f"⟨{ord(character):04X}⟩" if blank and not emoji else character


def _encodable(text: str) -> str:
    """Half a surrogate pair is no text in any encoding, and tokenizers refuse it: it becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


@cache
def _word_splitter() -> Any:
    from tokenizers import Regex, pre_tokenizers

    single = r"\p{Han}\p{Hiragana}\p{Katakana}"  # scripts without spaces: one character a token
    word = rf"(?:(?![{single}])[\p{{L}}\p{{M}}\p{{N}}_])+"
    # At each flag \X counts all flags before it, which is quadratic: they are cut two letters at a time.
    flag = r"[\x{1F1E6}-\x{1F1FF}]{2}[\p{M}\x{200C}\x{200D}\x{1F3FB}-\x{1F3FF}]*"
    pattern = Regex(rf"[{single}]|{word}(?:['’]{word})*|{flag}|(?!\s)\X")
    return pre_tokenizers.Split(pattern, behavior="removed", invert=True)


def split_words(text: str, max_tokens: int) -> Tokens:
    """One token a word: words whole, Chinese characters and punctuation marks one by one.

    Raises:
        ModelError: if there is no word at all.

    Example:
        >>> split_words("It didn't 下雨!", 10).labels
        ('It', "didn't", '下', '雨', '!')
    """
    words = [word for word, _ in _word_splitter().pre_tokenize_str(_encodable(text))]
    if not words:
        raise ModelError("empty")
    kept = words[:max_tokens]
    return Tokens(
        ids=tuple(zlib.crc32(word.casefold().encode()) for word in kept),
        labels=tuple(visible(word) for word in kept),
        special=(False,) * len(kept),
        words=tuple(range(len(kept))),
        dropped=len(words) - len(kept),
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
    # Truncation is ours: asking the tokenizer for it would change its state, which visitors share.
    encoding = tokenizer(text, return_special_tokens_mask=True, return_offsets_mapping=True, verbose=False)
    added = [bool(flag) for flag in encoding["special_tokens_mask"]]
    content = [i for i, flag in enumerate(added) if not flag]
    if not content:
        raise ModelError("empty")
    room = max(1, max_tokens - sum(added))
    dropped = set(content[room:])
    kept = [i for i in range(len(added)) if i not in dropped]
    ids = [encoding["input_ids"][i] for i in kept]
    offsets = [encoding["offset_mapping"][i] for i in kept]
    word_of_each = encoding.word_ids()  # made anew at every call: asked for each token, a text took quadratic time
    words = [word_of_each[i] for i in kept]
    return Tokens(
        ids=tuple(ids),
        labels=labels(tokenizer, ids, [text[slice(*offset)] for offset in offsets]),
        special=tuple(added[i] for i in kept),
        words=_number(words, offsets, text),
        dropped=len(dropped),
    )


def _stands_alone(character: str) -> bool:
    """True for scripts written without spaces: there a character counts as a word."""
    return unicodedata.name(character, "").startswith(("CJK", "HIRAGANA", "KATAKANA")) if character else False


def _number(words: list[int | None], offsets: list[tuple[int, int]], text: str) -> tuple[int, ...]:
    """Number the words from 0; a token of no word (a special one) is a word of its own.

    A tokenizer's own "word" may be the whole text (Llama's) or a run of Chinese (GPT-2's). So a word also ends
    before a space, before a character of a script without spaces unless the token is a further byte of it, and before
    a mark behind one.
    """
    numbers: list[int] = []
    for i, (word, (start, end)) in enumerate(zip(words, offsets, strict=True)):
        same = i > 0 and word is not None and word == words[i - 1]
        if same and offsets[i - 1] != (start, end) and not text[slice(*offsets[i - 1])].isspace():
            piece, before = text[start:end], text[max(0, start - 1) : start]
            mark_after = _stands_alone(before) and not piece[:1].isalnum()
            same = not (piece[:1].isspace() or before.isspace() or _stands_alone(piece[:1]) or mark_after)
        numbers.append(numbers[-1] if same else (numbers[-1] + 1 if numbers else 0))
    return tuple(numbers)


def spells_bytes(tokenizer: Any) -> bool:
    """Whether a tokenizer's smallest tokens are bytes, so that no word is unknown to it.

    It has a token for a space, Ġ, and none for SentencePiece's mark of one, which is three bytes to it.
    """
    space, mark = (tokenizer.convert_tokens_to_ids(token) for token in "Ġ▁")
    none = (None, tokenizer.unk_token_id)
    return space not in none and mark in none


def labels(tokenizer: Any, ids: list[int], pieces: list[str] | None = None) -> tuple[str, ...]:
    """What to write for each token id.

    A byte-level tokenizer may cut a character into bytes that are no text of their own: such a piece is shown as the
    character (from ``pieces``, the text behind each token) with its number, 猫₁ 猫₂.
    """
    raw = tokenizer.convert_ids_to_tokens(ids)
    byte_level = spells_bytes(tokenizer)
    shown: list[str] = []
    number = 0
    for i, token in enumerate(raw):
        number = number + 1 if pieces and i > 0 and pieces[i] == pieces[i - 1] else 1
        if token is None:  # a model's table may have more rows than its tokenizer has tokens (Qwen2.5's has)
            shown.append(f"⟨{ids[i]}⟩")
            continue
        label = token.replace("▁", " ")
        if byte_level:
            label = tokenizer.decode([ids[i]], clean_up_tokenization_spaces=False)
            if "\ufffd" in label:
                label = pieces[i] + str(number).translate(_PIECE) if pieces else token
        shown.append(visible(label) or token)
    return tuple(shown)


def word_token(tokenizer: Any, word: str) -> int | None:
    """The token that a word begins with where it comes next in a text; None if there is nothing to write.

    In most vocabularies a word brings the space before it: " Mary" is one token and "Mary" another. Of the two ways to
    write it the one of fewer tokens is taken, with the space if they are as many.
    """
    word = _encodable(word).replace(SPACE, " ").strip()
    ways = [tokenizer.encode(way, add_special_tokens=False) for way in (f" {word}", word)] if word else []
    best: list[int] = min((way for way in ways if way), key=len, default=[])
    return best[0] if best else None
