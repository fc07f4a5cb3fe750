"""A step's question about the page: compute the right answer and judge the user's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import streamlit as st
from torch import Tensor

from viz.frame import compute
from viz.frame.available_models import models_here
from viz.frame.format import number, part
from viz.frame.mask_code import to_code
from viz.frame.scene import Scene
from viz.frame.shared import KEY, QUERY
from viz.lessons.about_masks import allowed
from viz.lessons.answers import key_of
from viz.lessons.judge import Verdict, judge, read_answer
from viz.lessons.key import AnswerValue, Key, Part, PremiseError, Value
from viz.lessons.lesson import IN_THE_PAGE, OPEN, Ask
from viz.lessons.subject import Subject
from viz.models.stream import has_words
from viz.modes.lesson.bar import IN_PAGE, BarContent, ask_class, draw
from viz.modes.lesson.covers import cover_of
from viz.modes.lesson.running import Running
from viz.params import Parameter
from viz.params.session import of_session
from viz.text import Translate, fill

if TYPE_CHECKING:
    from viz.frame.section import Section

ANSWER_PARAMETERS = {
    "head": ("layer", "head"),
    "cell": ("query", "key"),
    "mask": ("mask", "painted"),
    "sentence": ("text",),
}
"""Of a question that is answered in the page, the parameters that hold the answer."""


def ask_here(running: Running, scene: Scene, open_sections: "Sequence[Section]", context: Any) -> bool:
    """Draw the bar with the step's question, and say whether the sections stay covered."""
    if running.step.ask.kind == OPEN:
        return ask_class(running)
    running.choice = scene.choice
    section = next(section for section in open_sections if section.name == running.step.section)
    # A page may be without its subject, such as a decoder.
    has_own = context is not None
    subject = section.subject(context) if section.subject and has_own else of_scene(scene, running)
    if subject.decoder is None and _lacks_decoder(running, scene):
        draw(running, BarContent(premise=running.t("lesson.premise_no_decoder"), intro=False))
        return False
    if not _fill_bar(running, subject):
        return False
    return running.step.covers and not running.progress.done


def _lacks_decoder(running: Running, scene: Scene) -> bool:
    """Return True if the step is about a model that writes, and the page shows none: its text would be false."""
    entry = models_here().get(running.step.shows[running.read].get("model", ""))
    if entry is None or not entry.writes:
        return False
    source = scene.choice.source
    return source.kind != "model" or not has_words(compute.model(source.model))


def of_scene(scene: Scene, running: Running) -> Subject:
    """Return the subject of a page that reads a text."""
    choice = scene.choice
    names = {*running.step.shows[running.read], *running.step.before[running.read], "head", "query", "key"}
    return Subject(
        labels=scene.labels,
        special=scene.capture.tokens.special,
        trace=scene.trace,
        layer=choice.layer,
        n_layers=scene.capture.n_layers,
        weights_of=lambda layer: compute.trace(choice.source, layer, choice.mask).weights,
        chosen={name: _value(name) for name in names},
        about=repr((choice.source, choice.mask)),
    )


def _value(name: str) -> Any:
    """Return the value of a parameter of the page, None if it has none."""
    parameter = Parameter[Any](name)
    return parameter.value if parameter.has_value else None


def _fill_bar(running: Running, subject: Subject) -> bool:
    """Draw the bar; return False if the page's text or model does not allow the question."""
    ask, progress = running.step.ask, running.progress
    try:
        key = key_of(running.step, subject, running.read)
    except PremiseError as error:
        premise = running.t(f"lesson.premise_{error.code}", **format_values(error.values))
        draw(running, BarContent(premise=premise, reveal=""))
        return False
    about, is_nothing = _about(ask, subject), False
    if ask.kind in IN_THE_PAGE and progress.sent == IN_PAGE:
        answer_in_page = answer_in_page_of(ask, subject)
        progress.sent, is_nothing = (answer_in_page.sent, False) if answer_in_page else (None, True)
    verdict = _judge_answer(ask, key, subject, progress.sent) if progress.about in ("", about) else None
    if progress.sent is not None and not progress.about:
        progress.about = about
    if verdict and not progress.first:
        progress.first = "right" if verdict.is_right else "wrong"
    if verdict and verdict.is_right and not progress.done:
        progress.done = "right"
        if running.step.before[running.read]:
            st.rerun()
    running.asks = not progress.done
    if running.asks:
        progress.shows = {name: to_code(of) if isinstance(of, Tensor) else of for name, of in key.shows.items()}
    running.cover = cover_of(running, key, subject)
    if running.cover and running.cover.asked and QUERY.name not in of_session().declared:
        # The head grid opens at the cell that is asked for.
        cell = zip((QUERY.name, KEY.name), map(str, running.cover.asked), strict=True)
        of_session().preset = {**dict(cell), **of_session().preset}
    content = _bar_content(running, key, subject, verdict)
    if is_nothing:
        content = replace(content, is_right=False, wrong=running.t("lesson.bar_nothing"))
    draw(running, content)
    return True


def _about(ask: Ask, subject: Subject) -> str:
    """Return a short hash of the picture: on another one the same answer may be wrong."""
    choices = {name: value for name, value in subject.chosen.items() if name not in ANSWER_PARAMETERS.get(ask.kind, ())}
    layer = None if ask.kind == "head" else subject.layer
    description = repr((subject.labels, sorted(choices.items()), layer, subject.about))
    return blake2b(description.encode(), digest_size=8).hexdigest()


def _judge_answer(ask: Ask, key: Key, subject: Subject, message: Any) -> Verdict | None:
    if message is None:
        return None
    answer = read_answer(ask.kind, message, _options(ask, subject))
    # It stands in the page: what is kept says only which it was when it was checked.
    if ask.kind in IN_THE_PAGE:
        answer_in_page = answer_in_page_of(ask, subject)
        answer = answer_in_page.given if answer_in_page is not None and answer_in_page.sent == message else None
    return None if answer is None else judge(key, answer, ask.tolerance)


def _options(ask: Ask, subject: Subject) -> list[int | str]:
    """Return the options to choose from or to order in the bar."""
    if ask.kind == "word":
        return [*subject.words]
    return [*ask.options]


def _bar_content(running: Running, key: Key, subject: Subject, verdict: Verdict | None) -> BarContent:
    """The sentences of the bar, filled in."""
    ask, lang, progress = running.step.ask, running.lang, running.progress
    values = format_values(key.values)
    options = [
        (code, fill(ask.options[code][lang], **values) if isinstance(code, str) else subject.name(code))
        for code in _options(ask, subject)
    ]
    wrong = ""
    if verdict and not verdict.is_right:
        wrong = fill(ask.wrong[verdict.reason][lang], **format_values(verdict.values))
    return BarContent(
        question=fill(ask.question[lang], **values),
        options=options,
        selection=_describe_page_answer(running.t, ask, subject),
        is_right=verdict.is_right if verdict else None,
        wrong=wrong,
        hint=fill(ask.hint[lang], **values) if progress.hinted else None,
        reveal=fill(ask.reveal[lang], **values) if progress.done else "",
        about=_about(ask, subject),
        why=fill(running.step.why[lang], **values) if progress.done and running.step.why else "",
        right=_right(ask.kind, key) if progress.done else [],
    )


def _right(kind: str, key: Key) -> list[AnswerValue]:
    """The options of the bar that are right; of an order, all of them in it."""
    if kind == "order":
        (order,) = key.right
        assert isinstance(order, tuple)
        return [*order]
    return [*key.right] if kind in ("word", "option") else []


@dataclass(frozen=True, kw_only=True)
class PageAnswer:
    """An answer given in the page itself: what the browser ``sent`` for it, and the values of what it is called."""

    sent: Any
    given: AnswerValue
    values: Mapping[str, Value]


def answer_in_page_of(ask: Ask, subject: Subject) -> PageAnswer | None:
    """Return the answer given in the page; None if the bar asks for it, or nothing is chosen."""
    match ask.kind:
        case "head":
            place = (subject.layer, subject.head)
            return PageAnswer(sent=[*place], given=place, values={"layer": subject.layer, "head": subject.head})
        case "cell":
            row, column = (subject.chosen.get(name) for name in ANSWER_PARAMETERS["cell"])
            n = len(subject.labels)
            if not (isinstance(row, int) and isinstance(column, int) and 0 <= row < n and 0 <= column < n):
                return None
            words = {"query": subject.name(row), "key": subject.name(column)}
            return PageAnswer(sent=[row, column], given=(row, column), values=words)
        case "mask":
            open_cells = allowed(subject)
            code = blake2b(open_cells.numpy().tobytes(), digest_size=8).hexdigest()
            return PageAnswer(sent=code, given=True, values={"open": int(open_cells.sum()), "all": open_cells.numel()})
        case "sentence":
            code = blake2b(repr(subject.labels).encode(), digest_size=8).hexdigest()
            return PageAnswer(sent=code, given=True, values={"n": len(subject.labels)})
    return None


def _describe_page_answer(t: Translate, ask: Ask, subject: Subject) -> tuple[Any, str] | None:
    """The same in words, for the bar."""
    answer_in_page = answer_in_page_of(ask, subject)
    if answer_in_page is None:
        return None
    return answer_in_page.sent, t(f"lesson.picked_{ask.kind}", **format_values(answer_in_page.values))


def format_values(values: Mapping[str, Value]) -> dict[str, str]:
    """Values as they stand in a sentence."""
    return {name: _format_value(value) for name, value in values.items()}


def _format_value(value: Value) -> str:
    match value:
        case Part():
            return part(value)
        case float():
            return number(value, 3)
        case int():
            return f"{value:,}"
        case tuple():
            return f"({', '.join(map(_format_value, value))})"
    return value
