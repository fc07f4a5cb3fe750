"""Labels of tokens that may hold pieces of letters: a letter that is cut is numbered by its place, 猫₁ 猫₂ 猫₃."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain, groupby, pairwise
from operator import itemgetter
from typing import Any

from viz.models.spelling.visible import hexadecimal, part_of, visible

SPECIAL = re.compile(r"\[[A-Z]+\]|</?[a-z_]+>|<[|｜].*[|｜]>")
"""Tokens that a tokenizer adds, as tokenizers write them: [CLS], <s>, <|endoftext|>."""

WORD_END = "</w>"
"""Suffix of the last piece of a word in some tokenizers (CLIP, GPT-1)."""

GOES_ON = "@@"
"""Suffix of a piece behind which its word goes on, in tokenizers of subword-nmt and fastBPE (CTRL, PhoBERT)."""

_FALLBACK = re.compile(r"<0x([0-9A-F]{2})>")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_STRAY = re.compile("[\udc80-\udcff]")

Span = tuple[int, int]
"""Place of a token or a word in the text: its first character, and the one behind its last."""

Part = bytes | str
"""The bytes of a token, or its label where it is no part of the text."""


@cache
def _table() -> dict[str, int]:
    """The letter that stands for each byte in a vocabulary of bytes: GPT-2's table, Radford et al. 2019."""
    plain = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    remaining = [byte for byte in range(0x100) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(0x100 + i): byte for i, byte in enumerate(remaining)}


def writes_bytes(tokenizer: Any) -> bool:
    """Return True if the tokenizer's names for its tokens spell bytes, as GPT-2's do; its decoder says so."""
    decoder = getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None)
    if decoder is not None:
        return bool(decoder.decode(["ĠaĠb"]) == " a b")
    return spells_bytes(tokenizer)


def spells_bytes(tokenizer: Any) -> bool:
    """Return whether a tokenizer's smallest tokens are bytes, so that no word is unknown to it.

    It has a token for a space, Ġ, and none for SentencePiece's mark of one, which is three bytes to it.
    """
    space, mark = (tokenizer.convert_tokens_to_ids(token) for token in "Ġ▁")
    none = (None, tokenizer.unk_token_id)
    return space not in none and mark in none


def _writes_latin(tokenizer: Any) -> bool:
    """Return True if the tokenizer names each byte by the letter of Latin-1 with its number, as ByT5's does."""
    return not getattr(tokenizer, "is_fast", True) and tokenizer.tokenize("é") == ["Ã", "©"]


def _are_latin_bytes(tokens: Sequence[str]) -> bool:
    """Return True if tokens are letters of Latin-1, one each, that are UTF-8 together: other text hardly ever is."""
    if not all(len(token) == 1 and token <= "\xff" for token in tokens):
        return False
    text = "".join(tokens).encode("latin-1").decode("utf-8", "surrogateescape")
    return not text.isascii() and not _STRAY.search(text)


@lru_cache(maxsize=20_000)
def _bytes_of(token: str, of_bytes: bool) -> bytes:
    token = token.removesuffix(WORD_END) or token
    if of_bytes:
        table = _table()
        return bytes(table[letter] for letter in token) if table.keys() >= set(token) else token.encode()
    token = token.removesuffix(GOES_ON) or token
    if cut := _FALLBACK.fullmatch(token):
        return bytes.fromhex(cut[1])
    return token.replace("▁", " ").encode()


def parts(tokenizer: Any, ids: Sequence[int]) -> list[Part]:
    """The bytes of each token; of one that is no text its label."""
    of_bytes, of_latin, added = writes_bytes(tokenizer), _writes_latin(tokenizer), tokenizer.added_tokens_decoder
    labels_or_bytes: list[Part] = []
    for number, token in zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True):
        # A model's table may have more rows than its tokenizer has tokens, as Qwen2.5's has.
        if token is None:
            labels_or_bytes.append(f"⟨{number}⟩")
        elif number in added and (of_bytes or of_latin or added[number].special) and not _FALLBACK.fullmatch(token):
            labels_or_bytes.append(visible(token) or token)
        elif of_latin:
            labels_or_bytes.append(token.encode("latin-1"))
        else:
            labels_or_bytes.append(_bytes_of(token, of_bytes))
    return labels_or_bytes


def raw_parts(tokens: Sequence[str]) -> list[Part]:
    """The same of tokens as ``convert_ids_to_tokens`` names them, where no tokenizer is at hand."""
    plain = [token for token in tokens if not SPECIAL.fullmatch(token)]
    if _are_latin_bytes(plain):
        return [visible(token) if SPECIAL.fullmatch(token) else token.encode("latin-1") for token in tokens]
    of_bytes = _spell_bytes(plain)
    return [
        visible(token) if SPECIAL.fullmatch(token) else _bytes_of(token, of_bytes and _table().keys() >= set(token))
        for token in tokens
    ]


def _spell_bytes(tokens: Sequence[str]) -> bool:
    """Return True if tokens are spelled in the letters that stand for bytes.

    Spaces say so, and letters beyond ASCII that are UTF-8 in all: other text hardly ever is. Control characters, which
    other letters would stand for, say no.
    """
    byte_tokens = [token for token in tokens if _table().keys() >= set(token)]
    text = b"".join(_bytes_of(token, True) for token in byte_tokens).decode("utf-8", "surrogateescape")
    if _CONTROL.search(text):
        return False
    is_utf8 = len(byte_tokens) == len(tokens) and not text.isascii() and not _STRAY.search(text)
    return is_utf8 or any(token.startswith("Ġ") for token in byte_tokens)


def spell(tokens: Sequence[Part]) -> tuple[str, ...]:
    """Label tokens that follow one another; those that hold a part of a letter are read together."""
    runs = ((_spell_cut(run) if is_cut else map(_spell_part, run)) for is_cut, run in groupby(tokens, _is_cut))
    return tuple(chain.from_iterable(runs))


@lru_cache(maxsize=20_000)
def _spell_part(part: Part) -> str:
    return part if isinstance(part, str) else visible(part.decode())


@lru_cache(maxsize=20_000)
def _is_cut(part: Part) -> bool:
    if isinstance(part, bytes):
        try:
            part.decode()
        except UnicodeDecodeError:
            return True
    return False


def share_out(text: str, spans: Sequence[Span], tokens: Sequence[Part]) -> list[Span]:
    """Give each token its letters of the text, where the tokenizer says of several tokens only where all of them stand.

    SentencePiece does so of letters that it writes as bytes, 猫猫 as six tokens from 0 to 2.
    """
    if not any(this == following and this[1] - this[0] > 1 for this, following in pairwise(spans)):
        return list(spans)
    shares: list[Span] = []
    for (start, end), group in groupby(zip(spans, tokens, strict=True), itemgetter(0)):
        run = [part for _, part in group]
        shares += _shared(text[start:end], start, run) if len(run) > 1 < end - start else [(start, end)] * len(run)
    return shares


def _shared(stretch: str, start: int, run: Sequence[Part]) -> Iterator[Span]:
    """The letters of a stretch of text that each token holds a byte of; all of them if the bytes are others."""
    data = b"".join(part for part in run if isinstance(part, bytes))
    # Of a text that is cut off the last letters are missing.
    if not stretch.encode().startswith(data):
        yield from [(start, start + len(stretch))] * len(run)
        return
    ends, at = list(accumulate(len(letter.encode()) for letter in stretch)), 0
    for part in run:
        first, at = at, at + len(part)
        yield start + bisect_right(ends, first), start + bisect_right(ends, max(first, at - 1)) + 1


def _spell_cut(tokens: Iterable[Part]) -> list[str]:
    """Label a run of tokens in which letters are cut."""
    run = [part for part in tokens if isinstance(part, bytes)]
    ends = list(accumulate(map(len, run)))
    pieces: list[list[tuple[str, int]]] = [[] for _ in run]
    at = 0
    for letter in b"".join(run).decode("utf-8", "surrogateescape"):
        size = 1 if _STRAY.match(letter) else len(letter.encode())
        first, last = bisect_right(ends, at), bisect_right(ends, at + size - 1)
        for number, token in enumerate(range(first, last + 1), 1):
            pieces[token].append((letter, number if last > first else 0))
        at += size
    return ["".join(_join(token_pieces)) for token_pieces in pieces]


def _join(pieces: list[tuple[str, int]]) -> Iterator[str]:
    """The whole letters, the parts of letters and the stray bytes of a token."""

    def kind(piece: tuple[str, int]) -> tuple[int, bool]:
        return piece[1], bool(_STRAY.match(piece[0]))

    for (number, is_stray), group in groupby(pieces, kind):
        text = "".join(letter for letter, _ in group)
        if is_stray:
            yield hexadecimal(text.encode("utf-8", "surrogateescape"))
        else:
            yield part_of(text, number) if number else visible(text)
