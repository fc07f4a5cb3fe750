"""Lessons read from ``assets/lessons/<name>.toml``. Errors name the place of what is missing or unknown."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from viz import ASSETS
from viz.lessons.answers import ANSWERS
from viz.lessons.lesson import KINDS, LANGUAGES, Ask, Hides, Lesson, Link, Step, Translations

FOLDER = ASSETS / "lessons"
ORDER = (
    *("attention_from_nothing", "ten_minutes", "one_head", "many_heads", "masks_and_order", "training_and_writing"),
    *("cache", "sharing", "feed_forward", "probability", "does_it_explain", "first_word", "convolution"),
)
"""In which they are offered."""


class LessonError(ValueError):
    """A lesson's file is not as it should be; the sentence says where."""


@cache
def lesson_named(name: str) -> Lesson:
    """The lesson of this name.

    Raises:
        LessonError: if its file is not as it should be.
    """
    path = FOLDER / f"{name}.toml"
    return read_lesson(name, path.read_text("utf8"))


def lessons() -> tuple[Lesson, ...]:
    """All lessons, in the order in which they are offered."""
    return tuple(map(lesson_named, ORDER))


def names() -> tuple[str, ...]:
    """Of all lessons, by which links know them."""
    return tuple(path.stem for path in sorted(Path(FOLDER).glob("*.toml")))


def read_lesson(name: str, text: str) -> Lesson:
    """A lesson from what its file says.

    Raises:
        LessonError: if something is missing, of the wrong kind, or not known.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LessonError(f"{name}: {error}") from None
    _check_names(table, {"title", "knows", "parameters", "step", "keep", "next"}, name)
    steps = table.get("step")
    if not isinstance(steps, list) or not steps:
        raise LessonError(f"{name}: there is no [[step]]")
    shared = _by_language(table.get("parameters", {}), f"{name}.parameters")
    return Lesson(
        name=name,
        title=_read_plain_text(table, "title", name),
        knows=_read_plain_text(table, "knows", name),
        steps=tuple(_step(step, shared, f"{name}, step {place}") for place, step in enumerate(steps, 1)),
        keep=_keep(table.get("keep", []), name),
        next=_next(table.get("next", ""), name),
    )


def _keep(sentences: Any, where: str) -> tuple[Translations, ...]:
    """Return the sentences to remember: three, or none."""
    if not isinstance(sentences, list) or len(sentences) not in (0, 3):
        raise LessonError(f"{where}: keep is a list of three sentences")
    return tuple(
        _read_plain_text({"keep": sentence}, "keep", f"{where}, sentence {n}")
        for n, sentence in enumerate(sentences, 1)
    )


def _next(name: Any, where: str) -> str:
    if not isinstance(name, str) or (name and name not in names()):
        raise LessonError(f"{where}: next is the name of a lesson, one of {', '.join(names())}")
    return name


def _check_names(table: Any, names: set[str], where: str) -> None:
    if not isinstance(table, dict):
        raise LessonError(f"{where} is no table")
    if unknown := table.keys() - names:
        raise LessonError(f"{where}: {', '.join(sorted(unknown))} is not known; known are {', '.join(sorted(names))}")


def _read_text(table: Mapping[str, Any], name: str, where: str) -> Translations:
    """A text in every language."""
    text = table.get(name)
    if not isinstance(text, dict) or set(text) != set(LANGUAGES):
        raise LessonError(f"{where}: {name} has to be said in {' and '.join(LANGUAGES)}")
    for language, sentence in text.items():
        if not isinstance(sentence, str) or not sentence.strip():
            raise LessonError(f"{where}: {name}.{language} says nothing")
    return {language: " ".join(sentence.split()) for language, sentence in text.items()}


def _read_plain_text(table: Mapping[str, Any], name: str, where: str) -> Translations:
    """Return a text shown even without a key: it has no placeholders."""
    text = _read_text(table, name, where)
    if any("{" in sentence for sentence in text.values()):
        raise LessonError(f"{where}: {name} has nothing to be filled in with")
    return text


def _by_language(table: Any, where: str) -> dict[str, dict[str, Any]]:
    """Merge what holds for every language with what holds for one: ``{layer = 3, en = {...}, zh = {...}}``."""
    if not isinstance(table, dict):
        raise LessonError(f"{where} is no table")
    common = {name: value for name, value in table.items() if name not in LANGUAGES}
    return {language: {**common, **table.get(language, {})} for language in LANGUAGES}


def _links(table: Any, where: str) -> dict[str, Link]:
    links = _by_language(table, where)
    for link in links.values():
        for name, value in link.items():
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise LessonError(f"{where}: {name} is neither text nor number")
    return {language: {name: str(value) for name, value in link.items()} for language, link in links.items()}


def _step(table: Any, shared: Mapping[str, Mapping[str, Any]], where: str) -> Step:
    fields = {"page", "section", "parameters", "before", "covers", "hides", "minutes", "text", "note", "ask", "why"}
    _check_names(table, fields, where)
    for name, kind in (("page", str), ("section", str), ("minutes", int | float)):
        if not isinstance(table.get(name), kind):
            raise LessonError(f"{where}: {name} is missing")
    shows = _links(table.get("parameters", {}), f"{where}, parameters")
    common = _links(dict(shared), f"{where}, parameters")
    return Step(
        page=table["page"],
        section=table["section"],
        shows={language: {**common[language], **shows[language]} for language in LANGUAGES},
        before=_links(table.get("before", {}), f"{where}, before"),
        covers=bool(table.get("covers", False)),
        minutes=float(table["minutes"]),
        text=_read_plain_text(table, "text", where),
        note=_read_plain_text(table, "note", where),
        ask=_ask(table.get("ask"), f"{where}, ask"),
        hides=_hides(table.get("hides", {}), f"{where}, hides"),
        why=_read_text(table, "why", where) if "why" in table else {},
    )


def _hides(table: Any, where: str) -> Hides:
    _check_names(table, {field.name for field in fields(Hides)}, where)
    for name, words in table.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise LessonError(f"{where}: {name} is a list of words")
    return Hides(**{name: tuple(words) for name, words in table.items()})


def _ask(table: Any, where: str) -> Ask:
    texts = ("question", "hint", "reveal")
    _check_names(table, {"kind", "answer", "arguments", "tolerance", "options", "wrong", *texts}, where)
    kind, answer = table.get("kind"), table.get("answer")
    if kind not in KINDS:
        raise LessonError(f"{where}: {kind} is no kind of question; known are {', '.join(KINDS)}")
    if answer not in ANSWERS:
        raise LessonError(f"{where}: there is no function {answer}")
    function = ANSWERS[answer]
    if function.kind != kind:
        raise LessonError(f"{where}: {answer} answers a question of the kind {function.kind}, not {kind}")
    wrong, options = table.get("wrong", {}), table.get("options", {})
    if set(wrong) != set(function.reasons):
        raise LessonError(f"{where}: {answer} gives the reasons {', '.join(function.reasons)}, not {', '.join(wrong)}")
    if kind in ("option", "order") and not set(function.codes) <= set(options):
        raise LessonError(f"{where}: {answer} needs the options {', '.join(function.codes)}, not {', '.join(options)}")
    return Ask(
        kind=kind,
        answer=answer,
        arguments=_by_language(table.get("arguments", {}), f"{where}, arguments"),
        tolerance=float(table.get("tolerance", 0.0)),
        options={code: _read_text(options, code, f"{where}, options") for code in options},
        wrong={reason: _read_text(wrong, reason, f"{where}, wrong") for reason in wrong},
        **{name: _read_text(table, name, where) for name in texts},
    )
