"""Detection of a text file's encoding: strict decodings in a fixed order, the first that gives text.

1. A byte-order mark names the encoding (UTF-8, UTF-16, UTF-32, GB18030), and no other is tried.
2. ISO-2022-JP, whose escapes no other text has, and UTF-8.
3. Where there are zero bytes, UTF-16: its byte order is the one that puts the zeros of Latin letters and spaces in
   their place. No other encoding has zero bytes.
4. Shift-JIS and EUC-JP (as Windows writes them), if there is kana and most of it is full width.
5. EUC-KR (as Windows writes it), if there are enough syllables of Korean, and nearly nothing else beyond ASCII.
6. GB18030, if most of what is beyond ASCII is common Chinese characters and punctuation; Big5, by the same rule.
7. Windows-1252, of which Latin-1 is a part, if at least a third is ASCII, and no sign is between two letters.
8. An alphabet of eight bits, by the letters that follow each other in its languages (charset-normalizer).
9. UTF-16 again, for East Asian text without a space or a line break, little end first.

From 3 on control characters and characters that no text has (unassigned, private) rule an encoding out. Every step
reads the file once: a file is bounded in bytes, so the time is.
"""

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from charset_normalizer import from_bytes

MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
    (b"\x84\x31\x95\x33", "gb18030", "GB18030"),
)
"""Byte-order marks; those of UTF-32 begin with one of UTF-16."""

WESTERN_ASCII = 1 / 3
"""The share of ASCII in a text in Western letters at least: Cyrillic or Greek in eight bits has a fifth."""

FEWEST_SYLLABLES = 16
"""Of a Korean text: so many Chinese characters are hardly all in the rows of GB18030 that are Korean in EUC-KR."""

ALPHABETS = [
    "cp1250", "iso8859_2", "cp1251", "koi8_r", "koi8_u", "cp866", "iso8859_5", "mac_cyrillic", "cp1253", "cp1255",
    "cp1256", "iso8859_6", "cp874",
]  # fmt: skip
COHERENT = 0.25
"""The share of letters that follow each other as in a language, at least: of random bytes it is 0."""

_BETWEEN = re.compile(r"[a-z][\xa1-\xac\xae-\xb6\xb8-\xbf][a-z]")
_LAYOUT = set("\t\n\r\f")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HALF_KANA = re.compile(r"[\uff66-\uff9f]")
_EAST_ASIAN = re.compile(r"[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]")
_COMMON = {
    "gb18030": re.compile(rb"[\xb0-\xd7][\xa1-\xfe]|[\xa1\xa3][\xa1-\xfe]"),
    "cp950": re.compile(rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]|[\xa1\xa2][\x40-\x7e\xa1-\xfe]"),
}
"""The 3,755 characters that GB 2312 calls common, and the 5,401 of Big5; punctuation, and letters of full width."""


def read_encoded(data: bytes) -> tuple[str, str] | None:
    """Return a file's text and the name of its encoding; None if it is no text."""
    for mark, codec, name in MARKS:
        if data.startswith(mark) and (text := _decode(data[len(mark) :], codec)) is not None:
            return (text, name) if "\0" not in text else None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return None
    if b"\x1b$" in data and (text := _decode(data, "iso2022_jp_2")) is not None and _is_text(text):
        return text, "ISO-2022-JP"
    if (text := _decode(data, "utf-8")) is not None and "\0" not in text:
        return text, "UTF-8"
    for codec, name, is_likely in _candidates(data):
        if (text := _decode(data, codec)) is not None and _is_text(text) and is_likely(text):
            return text, name
    return None


def _candidates(data: bytes) -> Iterator[tuple[str, str, Callable[[str], bool]]]:
    """The encodings to try, and what must be true of the text in each."""
    if b"\0" in data:
        is_little = data[1::2].count(0) >= data[::2].count(0)
        yield ("utf-16-le" if is_little else "utf-16-be"), "UTF-16", bool
        return
    yield "cp932", "Shift-JIS", _is_japanese
    yield "euc_jp", "EUC-JP", _is_japanese
    yield "cp949", "EUC-KR", _is_korean
    yield "gb18030", "GB18030", partial(_is_chinese, "gb18030")
    yield "cp950", "Big5", partial(_is_chinese, "cp950")
    yield "cp1252", "Windows-1252", _is_western
    for match in from_bytes(data, cp_isolation=ALPHABETS):
        if match.coherence >= COHERENT:
            yield match.encoding, match.encoding.replace("cp125", "Windows-125"), lambda text: not _BETWEEN.search(text)
    yield "utf-16-le", "UTF-16", _is_east_asian
    yield "utf-16-be", "UTF-16", _is_east_asian


def _decode(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _is_text(text: str) -> bool:
    return not any(unicodedata.category(letter) in ("Cc", "Cn", "Co") for letter in set(text) - _LAYOUT)


def _is_japanese(text: str) -> bool:
    n, beyond_ascii = len(_KANA.findall(text)), sum(not letter.isascii() for letter in text)
    return n > len(_HALF_KANA.findall(text)) and 6 * n >= beyond_ascii


def _is_korean(text: str) -> bool:
    n = len(re.findall(r"[\uac00-\ud7a3]", text))
    return n >= FEWEST_SYLLABLES and 10 * n >= 9 * sum(letter.isalpha() and not letter.isascii() for letter in text)


def _is_chinese(codec: str, text: str) -> bool:
    """Return True if two thirds of the characters beyond ASCII are common ones or punctuation."""
    counts = Counter(letter for letter in text if not letter.isascii())
    common = sum(n for letter, n in counts.items() if _COMMON[codec].fullmatch(letter.encode(codec)))
    return 3 * common >= 2 * counts.total()


def _is_western(text: str) -> bool:
    return sum(map(str.isascii, text)) >= WESTERN_ASCII * len(text) and not _BETWEEN.search(text)


def _is_east_asian(text: str) -> bool:
    return 3 * len(_EAST_ASIAN.findall(text)) >= 2 * len(text)
