"""Data model of lessons: steps, each with one idea, that ask before they show. All of it is data, in both languages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LANGUAGES = ("en", "zh")
KINDS = ("word", "head", "cell", "number", "option", "order", "mask", "sentence")
"""Kinds of questions."""

OPEN = "open"
"""The kind of a teacher's own question: it is put to a class, nothing works out its answer, and there may be none."""

IN_THE_PAGE = ("head", "cell", "mask", "sentence")
"""The kinds that are answered in the page, not in the bar."""

Translations = Mapping[str, str]
"""One text, by language."""

Link = Mapping[str, str]
"""Parameters of a link, as they stand in it."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A question with its hint, its explanation and the texts for wrong answers.

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
    tolerance: float = 0.0
    options: Mapping[str, Translations] = field(default_factory=dict)
    question: Translations
    hint: Translations
    wrong: Mapping[str, Translations] = field(default_factory=dict)
    reveal: Translations


@dataclass(frozen=True, kw_only=True)
class Hides:
    """Parts of a step's picture that are covered with "?" while the question is open, beside the answer's own places.

    Args:
        labels: bars and rows of tables with these names.
        words: keys of texts of the page that name bars, rows of tables or columns of maps, such as
            "attention_today.nobody.column"; covered like those of ``labels``, in any language.
        views: pictures whose cells are all covered, by their keys on the page; or one map of a strip ("key.code"), or
            the names along a side of a matrix ("key.columns"), with the legend of its blocks.
    """

    labels: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    views: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step: a page with its parameters, a text and a question.

    Args:
        page: the page it is on.
        section: the section that is open.
        shows: the parameters of the link, by the language that is read.
        before: those that differ until the question is answered.
        covers: whether the whole section is kept back until then: not hidden, but not computed and not sent.
        hides: else, the parts of its picture that are.
        minutes: how long a class takes.
        text: what is said before the question.
        note: what a teacher should know.
        ask: the question.
        why: a model answer to "say why", to compare a sentence with; filled in like the reveal.
    """

    page: str
    section: str
    shows: Mapping[str, Link]
    before: Mapping[str, Link]
    covers: bool = False
    minutes: float
    text: Translations
    note: Translations
    ask: Ask
    hides: Hides = Hides()
    why: Translations = field(default_factory=dict)

    def link(self, read: str, *, is_open: bool) -> dict[str, str]:
        """Return the link's parameters while the question is open, or when it is answered."""
        parameters = {"section": self.section, **self.shows[read]}
        return {**parameters, **self.before[read]} if is_open else parameters


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """Steps in their order, what one knows after them, sentences to ``keep``, and the ``next`` lesson's name or ""."""

    name: str
    title: Translations
    knows: Translations
    steps: tuple[Step, ...]
    keep: tuple[Translations, ...] = ()
    next: str = ""

    @property
    def minutes(self) -> int:
        """Duration in minutes."""
        return round(sum(step.minutes for step in self.steps))


class OwnLessonError(ValueError):
    """A lesson from outside cannot be had. ``code`` names the sentence that says why; ``values`` fill it in."""

    def __init__(self, code: str, **values: int | str) -> None:
        self.code, self.values = code, values
        super().__init__(f"{code} {values}" if values else code)
