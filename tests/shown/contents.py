"""The content of one section as a browser gets it: numbers and names in sentences, words and numbers of pictures.

Other wording changes nothing here; another number, another word of the text, another order does.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.running import sentences_of
from tests.shown.digests import STYLE, Digest, are_equal, digests_of_view, tables_of

OF_FRAME = ("see", "document", "search_box", "share", "qr")
"""Keys of views that no section draws."""
NOT_SHOWN = {*STYLE, "id"} - {"words"}
"""Keys of a view's data that say how it looks, or name its bytes."""
SENTENCES = ("caption", "info", "warning", "error", "success", "text", "metric")
NUMBER = r"[−-]?\d+(?:,\d{3})*(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?%?"
MARK = re.compile(rf"[“‘]([^”’]*)[”’]|(?<![\w.])({NUMBER})|(NaN|∞)")
"""A quoted word of the user's text, or a number that stands alone: not that of float32 or W2."""
POWER = re.compile(r"·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
FINGERPRINT = re.compile("[0-9a-f]{16}")
"""A name of bytes by their content: it moves with the last bit."""
FORMULA = re.compile(r"\$[^$]*\$")
CHINESE = re.compile("[一-鿿]")

NEAR = 1e-3
"""Tolerance of a picture's numbers, as a share of the largest: models that read images differ by 8e-4 by processor."""

Words = dict[str, list[str]]
Contents = dict[str, tuple[list[str], list[Digest]]]


def marks(sentence: str) -> list[str]:
    """Return the quoted words and the numbers of a sentence, in their order; tiny numbers are what rounding leaves."""
    parts = [next(filter(None, match), "") for match in MARK.findall(FORMULA.sub(" ", sentence))]
    return ["tiny" if POWER.search(mark) else mark for mark in parts]


def is_number(mark: str) -> bool:
    """Return True for a mark that is no word."""
    return re.fullmatch(NUMBER, mark) is not None


def contents_of(app: AppTest) -> Contents:
    """Return the marks of each sentence under "", and the words and digests of each picture under its key."""
    texts = [*sentences_of(app), *(str(e.value) for e in _elements(app.main) if e.type in SENTENCES)]
    contents: Contents = {"": (sorted(filter(None, (" ".join(marks(text)) for text in texts))), tables_of(app))}
    for view in app.get("bidi_component"):
        key = view.proto.id.rpartition("-")[2]
        if key not in OF_FRAME:
            header, digests = digests_of_view(view)
            contents[key] = (list(_words(header)), digests)
    return contents


def _elements(block: Any) -> Iterator[Any]:
    """Every element below a part of the page that is on the screen by itself."""
    for child in block.children.values():
        if child.type == "text" and child.value.startswith("apart"):
            continue
        yield child
        if hasattr(child, "children") and child.type != "popover":
            yield from _elements(child)


def _words(data: Any, name: str = "") -> Iterator[str]:
    """Every string of a header, in its order; of sentences their marks alone."""
    if isinstance(data, str) and data and not FINGERPRINT.fullmatch(data):
        yield " ".join(marks(data)) if data.count(" ") > 3 or len(CHINESE.findall(data)) > 6 else data
    elif isinstance(data, dict):
        for key, part in data.items():
            if key not in NOT_SHOWN:
                yield from _words(part, key)
    elif isinstance(data, list):
        for part in data:
            yield from _words(part, name)


def differences(before: Contents, now: Contents) -> list[str]:
    """Return a line for each sentence and picture that is another one now."""
    lines = [f"{key or 'sentences'}: came or went" for key in before.keys() ^ now.keys()]
    for key in sorted(before.keys() & now.keys()):
        (words, digests), (words_now, digests_now) = before[key], now[key]
        lines += [
            f"{key or 'sentence'}: {old} -> {new}"
            for old, new in zip_longest(words, words_now)
            if old is None or new is None or not _are_alike(old, new)
        ]
        lines += [
            f"{key or 'table'}: {old} -> {new}"
            for old, new in zip_longest(digests, digests_now)
            if old is None or new is None or not are_equal(old, new, NEAR)
        ][:1]
    return lines


def differences_of_languages(english: Contents, words: Words, chinese: Contents) -> list[str]:
    """Return what another language sends beside its own words and the numbers of English.

    Of a sentence's numbers those of one digit are left out: one language may write them as words.
    """
    expected = {key: (words.get(key, []), digests) for key, (_, digests) in english.items()}
    numbers, chinese_numbers = (Counter(_numbers_of(contents[""][0])) for contents in (english, chinese))
    marks = *(numbers - chinese_numbers), *(chinese_numbers - numbers)
    return [*differences(expected, chinese), *(f"number in sentences: {mark}" for mark in marks)]


def _numbers_of(sentences: list[str]) -> Iterator[str]:
    return (mark for mark in " ".join(sentences).split() if is_number(mark) and len(mark) > 1)


def _are_alike(old: str, new: str) -> bool:
    """Return True if two strings differ by a last digit of their numbers at most."""
    first, second = (re.split(rf"({NUMBER})", text.replace("tiny", "0")) for text in (old, new))
    return len(first) == len(second) and all(map(_are_alike_parts, first, second))


def _are_alike_parts(old: str, new: str) -> bool:
    if old == new or not (is_number(old) and is_number(new)):
        return old == new
    unit = 10.0 ** -max(len(text.rstrip("%").partition(".")[2]) for text in (old, new))
    has_fraction = "." in old or "." in new
    return has_fraction and abs(_value(old) - _value(new)) <= 1.01 * unit


def _value(text: str) -> float:
    return float(text.rstrip("%").replace(",", "").replace("−", "-").partition("·")[0])


def to_json(contents: Contents | Words) -> str:
    """One line of JSON."""
    return json.dumps(contents, ensure_ascii=False, separators=(",", ":"))


def from_json(data: dict[str, Any]) -> Contents:
    """Read what :func:`to_json` wrote."""
    return {
        key: (words, [Digest(kind, tuple(shape), *numbers) for kind, shape, *numbers in digests])
        for key, (words, digests) in data.items()
    }
