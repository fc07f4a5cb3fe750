"""What a lesson is: steps, each with one idea, that ask before they show. All of it is data, in both languages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LANGUAGES = ("en", "zh")
KINDS = ("word", "head", "cell", "number", "option", "order", "mask", "sentence")
"""What a question may ask for."""

OPEN = "open"
"""The kind of a teacher's own question: it is put to a class, nothing works out its answer, and there may be none."""

IN_THE_PAGE = ("head", "cell", "mask", "sentence")
"""Of these, what is answered in the page itself, and not in the bar."""

Said = Mapping[str, str]
"""One text, by language."""

Link = Mapping[str, str]
"""Parameters of a link, as they stand in it."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A question, and all that is said of the answers to it.

    Args:
        kind: one of KINDS.
        answer: the function of :mod:`viz.lessons.answers` that works out the right answer.
        arguments: of that function, by the language that is read.
        tolerance: how far a number may be off.
        options: what can be chosen or put in order, by its code; empty for other kinds.
        question: what is asked.
        hint: what helps without telling.
        wrong: what is said of a wrong answer, by the reason that the function gives.
        reveal: what is said when it is over.
    """

    kind: str
    answer: str
    arguments: Mapping[str, Mapping[str, Any]]
    tolerance: float
    options: Mapping[str, Said]
    question: Said
    hint: Said
    wrong: Mapping[str, Said]
    reveal: Said


@dataclass(frozen=True, kw_only=True)
class Step:
    """One idea: what the page shows, what is said of it, and a question.

    Args:
        page: the page it is on.
        section: the section that is open.
        shows: the parameters of the link, by the language that is read.
        before: those that differ until the question is answered.
        covers: whether the section is kept back until then: not hidden, but not computed and not sent.
        minutes: how long a class takes.
        text: what is said before the question.
        note: what a teacher should know.
        ask: the question.
    """

    page: str
    section: str
    shows: Mapping[str, Link]
    before: Mapping[str, Link]
    covers: bool
    minutes: float
    text: Said
    note: Said
    ask: Ask

    def link(self, read: str, *, is_open: bool) -> dict[str, str]:
        """What the page shows: while the question is open, and when it is answered."""
        shown = {"section": self.section, **self.shows[read]}
        return {**shown, **self.before[read]} if is_open else shown


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Steps in their order. ``knows`` says what one knows after them."""

    name: str
    title: Said
    knows: Said
    steps: tuple[Step, ...]

    @property
    def minutes(self) -> int:
        """How long it takes."""
        return round(sum(step.minutes for step in self.steps))


class OwnLessonError(ValueError):
    """A lesson from outside cannot be had. ``code`` names the sentence that says why; ``values`` fill it in."""

    def __init__(self, code: str, **values: int | str) -> None:
        self.code, self.values = code, values
        super().__init__(f"{code} {values}" if values else code)
