"""Lessons read from ``assets/lessons/<name>.toml``; a name that a lesson does not have raises TypeError."""

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from viz import ASSETS
from viz.lessons.lesson import LANGUAGES, Ask, Hides, Lesson, Link, Step

FOLDER = ASSETS / "lessons"
ORDER = (
    *("attention_from_nothing", "ten_minutes", "one_head", "many_heads", "masks_and_order", "training_and_writing"),
    *("cache", "sharing", "feed_forward", "probability", "does_it_explain", "why_there", "first_word"),
    *("looks_at_everything", "convolution"),
)
"""In which they are offered."""


@cache
def lesson_named(name: str) -> Lesson:
    """Return the lesson of this name."""
    return read_lesson(name, (FOLDER / f"{name}.toml").read_text("utf8"))


def lessons() -> tuple[Lesson, ...]:
    """Return all lessons, in the order in which they are offered."""
    return tuple(map(lesson_named, ORDER))


def read_lesson(name: str, text: str) -> Lesson:
    """Return a lesson from the text of its file."""
    table = tomllib.loads(text)
    common = _links(table.pop("parameters", {}))
    steps = tuple(_step(step, common) for step in table.pop("step"))
    return Lesson(name=name, steps=steps, keep=tuple(table.pop("keep", ())), **table)


def _step(table: dict[str, Any], common: Mapping[str, Link]) -> Step:
    """Return a step; the file calls the parameters that it shows ``parameters``."""
    parameters, before = _links(table.pop("parameters", {})), _links(table.pop("before", {}))
    hides = {name: tuple(words) for name, words in table.pop("hides", {}).items()}
    ask = table.pop("ask")
    return Step(
        shows={language: {**common[language], **parameters[language]} for language in LANGUAGES},
        before=before,
        hides=Hides(**hides),
        ask=Ask(arguments=_by_language(ask.pop("arguments", {})), **ask),
        **table,
    )


def _links(table: Mapping[str, Any]) -> dict[str, Link]:
    """Return the parameters of a link by language."""
    return {
        language: {name: str(value) for name, value in link.items()} for language, link in _by_language(table).items()
    }


def _by_language(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Merge what holds for every language with what holds for one: ``{layer = 3, en = {...}, zh = {...}}``."""
    common = {name: value for name, value in table.items() if name not in LANGUAGES}
    return {language: {**common, **table.get(language, {})} for language in LANGUAGES}
