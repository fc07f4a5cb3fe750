"""The running lesson: its step, the step's presets, and the user's progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.frame import modes, view
from viz.frame.available_models import is_here, is_missing, models_here
from viz.frame.inputs import Choice
from viz.frame.links import SHARED
from viz.frame.shared import LANG, SECTION, TEXT
from viz.frame.sidebar import path_of
from viz.frame.view.assets import style
from viz.lessons.lesson import LANGUAGES, Lesson, Step
from viz.lessons.lesson_file import ORDER, lesson_named
from viz.modes.lesson.own import LIST, MINE, of_link
from viz.modes.lesson.parameters import LESSON, LESSON_STEP, OWN_LESSON
from viz.params import Parameter
from viz.params.memory import Remembered
from viz.params.session import of_session
from viz.text import Translate, translator

if TYPE_CHECKING:
    from viz.modes.lesson.covered_data import Cover

_FETCHES: Remembered[tuple[str, ...]] = Remembered("_lesson_fetches", default=())
"""Models that the user has asked to be fetched."""
_EXPLORES: Remembered[bool] = Remembered("_lesson_explores", default=False)


@dataclass(kw_only=True)
class Progress:
    """The user's progress at a step, for as long as the browser's page is open."""

    done: str = ""
    """"right" or "revealed", once it is over."""
    sent: Any = None
    """The last answer, as the browser sent it."""
    about: str = ""
    """The hash of the answer's picture; on another picture the answer is invalid."""
    hinted: bool = False
    shows: Mapping[str, Any] = field(default_factory=dict)
    """The parameters that show the right answer in the page, until they are set."""
    first: str = ""
    """"right" or "wrong", after the first answer; "shown" if the answer was shown before one."""


_PROGRESS: Remembered[dict[tuple[str, int], Progress]] = Remembered("_lessons")


@dataclass(kw_only=True)
class Running:
    """A lesson at one of its steps. ``page`` is the page that is open; ``asks`` while its question is open on it.

    ``cover`` has the parts of the picture that the question covers; ``covers_sections`` says that it covers all.
    ``choice`` is the page's, of the text that it is about.
    ``opens`` is what a link says to open it: its name, or of a teacher's own one all of it.
    """

    lesson: Lesson
    opens: Mapping[str, str]
    number: int
    page: str
    lang: str
    read: str
    is_drawn: bool = False
    asks: bool = False
    covers_sections: bool = False
    why: str = ""
    cover: "Cover | None" = field(default=None, repr=False)
    choice: Choice | None = None
    place: DeltaGenerator | None = field(default=None, repr=False)

    @property
    def step(self) -> Step:
        """The step."""
        return self.lesson.steps[self.number - 1]

    @property
    def t(self) -> Translate:
        """The texts in the user's language."""
        return translator(self.lang)

    @property
    def progress(self) -> Progress:
        """The progress at this step."""
        return progress(self.lesson.name, self.number)

    @property
    def explores(self) -> bool:
        """True if the rest of the app is brought: the sidebar, the other sections, the chips."""
        return _EXPLORES.read()

    def keep_place(self) -> None:
        """Keep a place for the bar, here."""
        # In one element: Streamlit keeps style elements apart, and a missing one would leave the old style in place.
        st.html(style("lesson.css") + self._style_alone())
        asks = "lesson_place" if any(self.step.ask.question.values()) else "lesson_says"
        self.place = st.container(key=asks if self.page == self.step.page else "lesson_away")
        # Streamlit draws no container that is empty.
        self.place.empty()

    def _style_alone(self) -> str:
        """Return the style of a step that stands by itself, at a desk or in front of a class."""
        if view.current().is_paper:
            return f"<style>.stApp {{ --lesson-{self.step.ask.kind}: 1; }}</style>"
        if not (self.is_alone() or (view.current().present and self.page == self.step.page)):
            return ""
        kind = self.step.ask.kind
        marks = f".stApp {{ --lesson-alone: 1; --lesson-{kind}: 1; }}"
        # A sentence is answered in the box.
        if kind != "sentence":
            marks += " .stApp:not([data-shows-all]) .st-key-text_row { display: none !important; }"
        return f"{style('lesson_alone.css') if self.is_alone() else ''}<style>{marks}</style>"

    def is_alone(self) -> bool:
        """Return True if the step shows its picture alone beside the bar."""
        return self.page == self.step.page and not self.explores and not view.current().is_bare

    def is_here(self, sections: list[str]) -> bool:
        """Return True if the open page is the step's page and section."""
        return self.page == self.step.page and self.step.section in sections

    def missing(self, number: int) -> str:
        """Return the model that a step reads, if it is not here and the user has not asked for it; else ""."""
        step = self.lesson.steps[number - 1]
        name = step.shows[_read(step, self.lang)].get("model", "")
        is_fetched = name in _FETCHES.read() and name in models_here()
        return name if is_missing(name) and not is_fetched else ""

    def link(self, number: int) -> str:
        """To a step of the lesson; beyond the last, to the list of lessons, which is told of one that it does not list.

        A sentence of the user's goes along to a step that begins with the same one.
        """
        if not 1 <= number <= len(self.lesson.steps):
            is_own = (
                {OWN_LESSON.name: self.opens[OWN_LESSON.name], SECTION.name: MINE}
                if OWN_LESSON.name in self.opens
                else {}
            )
            return f"{path_of(LIST)}?{urlencode({**is_own, 'lang': self.lang})}"
        step, link = self.lesson.steps[number - 1], {**self.opens, LESSON_STEP.name: str(number)}
        text = TEXT.value if TEXT.has_value else None
        is_same = step.shows[self.read].get("text") == self.step.shows[self.read].get("text")
        if number != self.number and is_same and text and TEXT.is_chosen:
            link[TEXT.name] = str(text)
        return f"{path_of(step.page)}?{urlencode({**link, 'lang': self.lang, **modes.link_parameters()})}"

    def way_on(self) -> tuple[str, str]:
        """Return the link to the next step, or else the next lesson and its title, whose model is here."""
        lesson, after = self.lesson, [name for name in ORDER if name != self.lesson.name]
        if later := [n for n in range(self.number + 1, len(lesson.steps) + 1) if not self.missing(n)]:
            return self.link(later[0]), ""
        if lesson.name in ORDER:
            after = [*after[ORDER.index(lesson.name) :], *after]
        for following in map(lesson_named, after):
            if not replace(self, lesson=following).missing(1):
                return self.link_to(following), following.title[self.lang]
        return self.link(0), ""

    def link_to(self, lesson: Lesson) -> str:
        """To the first step of another of the app's lessons."""
        link = {LESSON.name: lesson.name, LESSON_STEP.name: "1", "lang": self.lang, **modes.link_parameters()}
        return f"{path_of(lesson.steps[0].page)}?{urlencode(link)}"


def toggle_explore() -> None:
    """Bring the rest of the app, or hide it again."""
    _EXPLORES.set(not _EXPLORES.read())


def fetch(model: str) -> None:
    """Have a model fetched where a step reads it."""
    _FETCHES.set((*_FETCHES.read(), model))


def progress(lesson: str, number: int) -> Progress:
    """Return the progress at a step of a lesson."""
    if not _PROGRESS.exists():
        _PROGRESS.set({})
    return _PROGRESS.read().setdefault((lesson, number), Progress())


def n_done(lesson: Lesson) -> int:
    """Return the number of completed steps of a lesson."""
    by_step = _PROGRESS.read() if _PROGRESS.exists() else {}
    return sum(bool(by_step.get((lesson.name, number + 1), Progress()).done) for number in range(len(lesson.steps)))


def missing_models(lesson: Lesson, lang: str) -> set[str]:
    """Return the models that a lesson's steps read and that are not here."""
    names = {step.shows[_read(step, lang)].get("model", "") for step in lesson.steps}
    return {name for name in names if is_missing(name)}


def lesson_of_link() -> tuple[Lesson, Mapping[str, str]] | None:
    """Return the lesson of the link and the link's parameter for it: one of the app's, or a teacher's own."""
    if name := LESSON.read(ORDER):
        return lesson_named(name), {LESSON.name: name}
    if OWN_LESSON.is_known:
        return of_link()
    return None


def open_lesson(page: str) -> Running | None:
    """The lesson and the step of the link; what the step shows becomes the page's default."""
    if (lesson_and_link := lesson_of_link()) is None:
        return None
    (lesson, opens), lang = lesson_and_link, LANG.value
    if page == LIST and OWN_LESSON.name in opens:
        return None
    number = LESSON_STEP.read(lesson)
    step = lesson.steps[number - 1]
    running = Running(lesson=lesson, opens=opens, number=number, page=page, lang=lang, read=_read(step, lang))
    if view.current().print == "answers":
        running.progress.done = running.progress.done or "revealed"
    if running.progress.done == "revealed":
        for name, value in running.progress.shows.items():
            Parameter[Any](name).set(value)
        running.progress.shows = {}
    parameters = {} if running.missing(number) else step.link(running.read, is_open=not running.progress.done)
    if page != step.page:
        parameters = {name: value for name, value in parameters.items() if name in SHARED}
    of_session().preset = parameters
    return running


def _read(step: Step, lang: str) -> str:
    """Return the language of a step's text: the user's, unless the model for it alone is not on this machine."""
    model, first = (step.shows[read].get("model", "") for read in (lang, LANGUAGES[0]))
    return lang if model in ("", first) or is_here(model) else LANGUAGES[0]
