"""A lesson in a presentation: its steps as places, and the slide at its end."""

from functools import partial
from typing import Any
from urllib.parse import urlencode

from viz.frame import modes
from viz.frame.modes.steps import Place, Walk, title_of
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import lesson_named
from viz.modes.lesson.bar import do
from viz.modes.lesson.running import Running
from viz.text import Translate


def walk_of(t: Translate, running: Running) -> Walk:
    """Return where a lesson stands."""
    steps, number = running.lesson.steps, running.number
    return Walk(
        place=place_of(t, running),
        shown_next=steps[number].shows[running.read] if number < len(steps) else {},
        closing=partial(closing, t, running),
        reveal=partial(reveal, running),
    )


def place_of(t: Translate, running: Running) -> Place:
    """A step of a lesson."""
    steps, number = running.lesson.steps, running.number
    following = steps[number] if number < len(steps) else None
    stands = title_of(t, running.step.page, running.step.section)
    return Place(
        at=number,
        of=len(steps),
        title=t("present.step", lesson=running.lesson.title[running.lang], place=stands),
        note=f"{running.step.text[running.lang]} {running.step.note[running.lang]}".strip(),
        minutes=running.step.minutes,
        previous=running.link(number - 1) if number > 1 else "",
        next=running.link(number + 1) if following else "",
        next_page=following.page if following else "",
        following=title_of(t, following.page, following.section) if following else "",
        asks=running.asks,
        why=running.why,
        lesson=True,
    )


def reveal(running: Running) -> None:
    """Answer the open question, in a callback."""
    if running.asks:
        do(running.progress, "reveal", None)


def closing(t: Translate, running: Running) -> dict[str, Any]:
    """Return the last slide: the steps, what to remember, and the next lessons."""
    lesson, lang = running.lesson, running.lang
    titles = [title_of(t, step.page, step.section) for step in lesson.steps]
    return {
        "title": lesson.title[lang],
        "shown": [*dict.fromkeys(titles)],
        "keep": [sentence[lang] for sentence in lesson.keep],
        "links": [_link(lesson.next, lang)] if lesson.next else [],
    }


def _link(name: str, lang: str) -> dict[str, str]:
    """Return a link that presents a lesson from its first step."""
    lesson = lesson_named(name)
    query = {"lesson": name, "lesson_step": "1", "lang": lang, **modes.link_parameters()}
    return {"text": lesson.title[lang], "to": f"{path_of(lesson.steps[0].page)}?{urlencode(query)}"}
