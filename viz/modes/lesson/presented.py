"""A lesson in a presentation: its steps as places, and the slide at its end."""

from functools import partial
from typing import Any

from viz.frame.modes.steps import Place, Walk, title_of
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
    after = lesson_named(lesson.next) if lesson.next else None
    titles = [title_of(t, step.page, step.section) for step in lesson.steps]
    return {
        "title": lesson.title[lang],
        "shown": [*dict.fromkeys(titles)],
        "keep": [sentence[lang] for sentence in lesson.keep],
        "links": [{"text": after.title[lang], "to": running.link_to(after)}] if after else [],
    }
