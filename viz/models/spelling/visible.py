"""Text as labels: every character visible, none of them active."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

SPACE = "␣"
_SYMBOLS = {"\n": "↵", "\t": "⇥", "\r": "↵", " ": SPACE}
# Letters and marks by category, of which nothing is seen.
_BLANK = "\u034f\u115f\u1160\u2800\u3164\uffa0"
_JOINERS, _TAG_END = "\u200c\u200d", "\U000e007f"
_LINKS = frozenset(_JOINERS + _TAG_END)
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
"""A flag of a part of a country, as England's: longer tags could hide a text."""

_SUBSCRIPT = "₀₁₂₃₄₅₆₇₈₉"
_LOWERED = str.maketrans("0123456789", _SUBSCRIPT)


def visible(text: str) -> str:
    """Show what would be invisible or would act on its surroundings: spaces, controls, direction marks."""
    if text.isascii() and text.isprintable():
        return text.replace(" ", SPACE)
    label = "".join(map(_visible_character, text) if _LINKS.isdisjoint(text) else _linked(text))
    # A mark with nothing before it would be drawn on whatever stands to its left: give it a circle to sit on.
    return f"◌{label}" if label and unicodedata.category(label[0]).startswith("M") else label


def _linked(text: str) -> Iterator[str]:
    """The characters of a text in which some may be linked into one picture or one word."""
    flags = {i for flag in _FLAG.finditer(text) for i in range(*flag.span())}
    for i, letter in enumerate(text):
        is_link = i in flags or (letter in _JOINERS and i > 0 and _joins(text[i - 1]))
        yield letter if is_link else _visible_character(letter)


def part_of(letter: str, number: int) -> str:
    """Label a piece of a letter that is cut into several tokens.

    Example:
        >>> part_of("猫", 2)
        '猫₂'
    """
    return visible(letter) + str(number).translate(_LOWERED)


def hexadecimal(stray: bytes) -> str:
    """Label bytes that are no letter: the dots stand where the rest of the letter would.

    Example:
        >>> hexadecimal(bytes([0xE7, 0x8C])), hexadecimal(bytes([0xAB]))
        ('⟨E7 8C…⟩', '⟨…AB⟩')
    """
    begins = stray[0] >= 0xC0
    return f"⟨{'' if begins else '…'}{stray.hex(' ').upper()}{'…' if begins else ''}⟩"


def is_mark(label: str) -> bool:
    """Return True for punctuation: something is written, and no letter or number.

    A vowel sign in a token of its own is a part of a letter, and a piece of a mark is a mark.
    """
    text = label.removeprefix("##").strip("▁␣Ġ↵⇥ ")
    text = text.rstrip(_SUBSCRIPT) or text
    signs = text[1:] if text.startswith("◌") else ""
    is_vowel = any(unicodedata.category(sign) in ("Mn", "Mc") and not "\ufe00" <= sign <= "\ufe0f" for sign in signs)
    return bool(text) and not is_vowel and not any(letter.isalnum() for letter in text)


@lru_cache(maxsize=1_000)
def _joins(before: str) -> bool:
    """Return True where a joiner behind this character shapes what is written: in emoji, and scripts without case."""
    return unicodedata.category(before) in ("Lo", "Mn", "Mc", "Me", "So", "Sk") or _is_emoji(before)


def _is_emoji(character: str) -> bool:
    """The newest emoji are unknown to Python's tables."""
    return "\U0001f000" <= character <= "\U0001faff"


@lru_cache(maxsize=1_000)
def _visible_character(character: str) -> str:
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    # Every control, format, private or blank character is written out.
    blank = unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp", "Zs") or character in _BLANK
    return f"⟨{ord(character):04X}⟩" if blank and not _is_emoji(character) else character
