"""The letters of our formulas, and their names in other books."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.text import LANGUAGES

SOURCE = Path(__file__).with_name("letters.toml")
BOOKS = {
    "d2l": "d2l",
    "vaswani": "Vaswani et al.",
    "cordonnier": "Cordonnier et al.",
}
WORDS = re.compile(r"\\(?:text|begin|end)\{[^{}]*\}")
"""Commands of LaTeX whose letters are none of a formula."""


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A letter, in LaTeX: ``ours``, and what it is called ``elsewhere``, by book; what it ``means``, by language."""

    ours: str
    find: re.Pattern[str]
    places: tuple[str, ...]
    elsewhere: Mapping[str, str]
    means: Mapping[str, str]


@cache
def letters() -> tuple[Letter, ...]:
    """All of them; the file is read when somebody asks for the first time."""
    return tuple(
        Letter(
            ours=entry["ours"],
            find=re.compile(entry["find"]),
            places=tuple(entry.get("in", ())),
            elsewhere={book: entry[book] for book in BOOKS if book in entry},
            means={lang: entry[lang] for lang in LANGUAGES},
        )
        for entry in tomllib.loads(SOURCE.read_text("utf8"))["letter"]
    )


def letters_in(latex: str, page: str, section: str) -> list[Letter]:
    r"""Return the letters in a section's formula, with their meaning on this page."""
    bare = WORDS.sub(" ", latex)
    return [
        letter
        for letter in letters()
        if (not letter.places or {page, f"{page}/{section}"} & set(letter.places)) and letter.find.search(bare)
    ]
