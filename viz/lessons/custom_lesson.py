"""A teacher's own lesson: steps that are views of the app, each with a title and perhaps a question, as plain text.

It is untrusted input, from a link: only a fixed set of names is accepted, each with a limit.
"""

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from viz import limits
from viz.lessons.lesson import LANGUAGES, OPEN, Ask, Lesson, OwnLessonError, Step, Translations

VERSION = "1"
"""The first character of a lesson in a link: the encoding of the rest."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_CODE = re.compile(r"[A-Za-z0-9_-]+")
_OF_THE_VIEW = frozenset(
    ("section", "lang", "lesson", "lesson_step", "own_lesson", "present", "notes", "print", "without", "theme", "embed")
)
"""Parameters of the lesson itself or of the display, which no step changes."""


@lru_cache(maxsize=64)
def own_lesson(code: str) -> Lesson:
    """The lesson that a link holds.

    Raises:
        OwnLessonError: if it holds none.
    """
    name = blake2b(code.encode(), digest_size=8).hexdigest()
    table = checked(unpacked(code))
    # Only the teacher judges its answers.
    steps = tuple(_lesson_step(step) for step in table["step"])
    title, knows = _in_every_language(table["title"]), _in_every_language("")
    return Lesson(name=f"own-{name}", title=title, knows=knows, steps=steps)


def unpacked(code: str) -> Any:
    """Decode a lesson in a link: JSON, compressed, as URL-safe base64.

    Raises:
        OwnLessonError: if that cannot be read, or is larger than it may be.
    """
    if len(code) > limits.OWN_LESSON_LINK:
        raise OwnLessonError("large")
    if not code.startswith(VERSION) or not _CODE.fullmatch(code):
        raise OwnLessonError("broken")
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        compressed = base64.urlsafe_b64decode(code[1:] + "=" * (-len(code[1:]) % 4))
        content = unpacker.decompress(compressed, limits.OWN_LESSON_BYTES)
    except (binascii.Error, zlib.error):
        raise OwnLessonError("broken") from None
    # A few bytes may expand to gigabytes: stop at the limit.
    if unpacker.unconsumed_tail:
        raise OwnLessonError("large")
    try:
        return json.loads(content) if unpacker.eof else None
    except (RecursionError, ValueError):
        raise OwnLessonError("broken") from None


def packed(table: Mapping[str, Any]) -> str:
    """A lesson as a link holds it; the browser does the same (``client/lesson/store.js``)."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    content = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    compressed = packer.compress(content) + packer.flush()
    return VERSION + base64.urlsafe_b64encode(compressed).decode().rstrip("=")


def checked(table: Any) -> dict[str, Any]:
    """A lesson's table with nothing in it but what a lesson may hold, every text within its limit.

    Raises:
        OwnLessonError: if something is missing, of the wrong kind, not known, or too much.
    """
    if not isinstance(table, dict):
        raise OwnLessonError("broken")
    _check_names(table, {"title", "step"}, 0)
    steps = table.get("step")
    if not isinstance(steps, list) or not 1 <= len(steps) <= limits.OWN_LESSON_STEPS:
        raise OwnLessonError("steps", most=limits.OWN_LESSON_STEPS)
    title = _text(table, "title", limits.OWN_LESSON_TITLE, 0)
    return {"title": title, "step": [_step(step, number) for number, step in enumerate(steps, 1)]}


def _check_names(table: Any, names: set[str], number: int) -> None:
    if not isinstance(table, dict):
        raise OwnLessonError("kind", name="step", step=number)
    if unknown := sorted(table.keys() - names):
        safe_names = [name if _NAME.fullmatch(name) else "?" for name in unknown[:3]]
        raise OwnLessonError("unknown", names=", ".join(safe_names), step=number)


def _text(table: Mapping[str, Any], name: str, longest: int, number: int) -> str:
    """Return a text, "" where nothing is said."""
    text = table.get(name, "")
    if not isinstance(text, str):
        raise OwnLessonError("kind", name=name, step=number)
    if len(text) > longest:
        raise OwnLessonError("long", name=name, most=longest, step=number)
    return text


def _step(table: Any, number: int) -> dict[str, Any]:
    _check_names(table, {"page", "section", "parameters", "covers", "title", "ask"}, number)
    for name in ("page", "section"):
        if not isinstance(table.get(name), str) or not _NAME.fullmatch(table[name]):
            raise OwnLessonError("kind", name=name, step=number)
    ask, covers = table.get("ask", {}), table.get("covers", False)
    _check_names(ask, {"question"}, number)
    if not isinstance(covers, bool):
        raise OwnLessonError("kind", name="covers", step=number)
    return {
        "page": table["page"],
        "section": table["section"],
        "parameters": _parameters(table.get("parameters", {}), number),
        "covers": covers,
        "title": _text(table, "title", limits.OWN_LESSON_TITLE, number),
        "ask": {"question": _text(ask, "question", limits.OWN_LESSON_QUESTION, number)},
    }


def _parameters(table: Any, number: int) -> dict[str, str]:
    """Of the page's link, as they stand in it. What each may be the page itself says, as of any link's."""
    if not isinstance(table, dict) or len(table) > limits.OWN_LESSON_PARAMETERS:
        raise OwnLessonError("kind", name="parameters", step=number)
    parameters = {}
    for name, value in table.items():
        if not _NAME.fullmatch(name) or not isinstance(value, str):
            raise OwnLessonError("kind", name="parameters", step=number)
        if len(value) > limits.CHARACTERS:
            raise OwnLessonError("long", name=name, most=limits.CHARACTERS, step=number)
        if name not in _OF_THE_VIEW:
            parameters[name] = value
    return parameters


def _in_every_language(text: str) -> Translations:
    return dict.fromkeys(LANGUAGES, text)


def _lesson_step(step: Mapping[str, Any]) -> Step:
    nothing: dict[str, dict[str, str]] = {language: {} for language in LANGUAGES}
    question = _in_every_language(step["ask"]["question"])
    return Step(
        page=step["page"],
        section=step["section"],
        shows=dict.fromkeys(LANGUAGES, step["parameters"]),
        before=nothing,
        covers=step["covers"] and bool(step["ask"]["question"]),
        minutes=0,
        text=_in_every_language(step["title"]),
        note=_in_every_language(""),
        ask=Ask(
            kind=OPEN,
            answer="",
            arguments=nothing,
            question=question,
            hint=_in_every_language(""),
            reveal=_in_every_language(""),
        ),
    )
