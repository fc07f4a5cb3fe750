"""The terms of the field: what each is called and means, where it can be touched, and where a sentence has them."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from viz.text import LANGUAGES

SOURCE = Path(__file__).with_name("glossary.toml")


@dataclass(frozen=True, kw_only=True)
class Term:
    """A term with its names and one sentence, by language, in a theme of the glossary.

    ``found`` is a pattern for how it stands in a sentence, ``see`` the place where it can be touched: "page/section",
    with other parameters of the link behind a question mark. ``also`` is what else it is called, in any language:
    synonyms, abbreviations, other notations. Formulas may have a letter for it, and numbers behind it a shape.
    """

    code: str
    theme: str
    names: Mapping[str, str]
    says: Mapping[str, str]
    found: Mapping[str, str]
    see: str
    letter: str = ""
    shape: str = ""
    also: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str, str]:
        """Page, section, and the rest of the link."""
        return place_of(self.see)


def place_of(see: str) -> tuple[str, str, str]:
    """Page, section, and the rest of the link.

    Example:
        >>> place_of("masks/editor?mask=causal")
        ('masks', 'editor', 'mask=causal')
    """
    path, _, rest = see.partition("?")
    page, _, section = path.partition("/")
    return page, section, rest


@cache
def terms() -> Mapping[str, Term]:
    """Every term by its code, in the order one can learn them in."""
    return MappingProxyType(
        {entry["code"]: _term(**entry) for entry in tomllib.loads(SOURCE.read_text("utf8"))["term"]}
    )


def _term(
    code: str,
    theme: str,
    see: str,
    letter: str = "",
    shape: str = "",
    also: Sequence[str] = (),
    **texts: Mapping[str, str],
) -> Term:
    def in_each(field: str) -> Mapping[str, str]:
        return MappingProxyType({lang: texts[lang][field] for lang in LANGUAGES})

    patterns = {lang: texts[lang].get("found") or _default_pattern(lang, texts[lang]["name"]) for lang in LANGUAGES}
    return Term(
        code=code,
        theme=theme,
        see=see,
        letter=letter,
        shape=shape,
        also=tuple(also),
        names=in_each("name"),
        says=in_each("says"),
        found=MappingProxyType(patterns),
    )


def _default_pattern(lang: str, name: str) -> str:
    return re.escape(name) + "s?" * (lang == "en")


@cache
def _pattern(lang: str) -> re.Pattern[str]:
    """Any term: of two that begin at the same place the longer one, and no part of an English word."""
    longest_first = sorted(terms().values(), key=lambda term: -len(term.names[lang]))
    edge = r"\b" if lang == "en" else ""
    ways = "|".join(f"(?P<{term.code}>{term.found[lang]})" for term in longest_first)
    return re.compile(f"{edge}(?:{ways}){edge}", re.IGNORECASE)


def found_in(sentence: str, lang: str) -> Iterator[tuple[Term, int, int]]:
    """The terms that stand in a sentence, from left to right, each with where it begins and ends."""
    for match in _pattern(lang).finditer(sentence):
        yield terms()[str(match.lastgroup)], *match.span()
