"""A course's table of contents: parts, topics, and the sections that show each topic."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from viz.text import LANGUAGES
from viz.text.glossary import place_of

SOURCE = Path(__file__).with_name("contents.toml")


@dataclass(frozen=True, kw_only=True, eq=False)
class Topic:
    """Title in every language, and the target: page, section, and the rest of the link."""

    names: Mapping[str, str]
    places: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A group of topics in order of teaching, its title, and its lessons."""

    names: Mapping[str, str]
    lessons: tuple[str, ...]
    topics: tuple[Topic, ...]


@cache
def parts() -> tuple[Part, ...]:
    """Every part, in the order of a course."""
    entries = tomllib.loads(SOURCE.read_text("utf8"))["part"]
    return tuple(
        Part(names=_names(part), lessons=tuple(part.get("lessons", ())), topics=tuple(map(_topic, part["topics"])))
        for part in entries
    )


def _names(entry: Mapping[str, str]) -> Mapping[str, str]:
    return MappingProxyType({lang: entry[lang] for lang in LANGUAGES})


def _topic(entry: Mapping[str, list[str]]) -> Topic:
    return Topic(names=_names(entry), places=tuple(map(place_of, entry["see"])))  # type: ignore[arg-type]
