"""A course's table of contents: topics part by part, each with the sections that show it, and the part's lessons."""

from collections.abc import Iterable
from html import escape
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.lessons.contents import Part, Topic, parts
from viz.frame.links import link_to
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import lesson_named
from viz.text import Translate, has_text


def draw_course(context: tuple[Translate, str]) -> None:
    """Draw a table for each part: a row for its lessons, and one for each topic with links to its sections."""
    t, lang = context
    st.html("".join(_part(t, lang, part) for part in parts()))


def _part(t: Translate, lang: str, part: Part) -> str:
    rows = [(topic.names[lang], _places(t, lang, topic)) for topic in part.topics]
    if part.lessons:
        rows.insert(0, (t("lessons.course_lessons"), " ".join(_lesson(lang, name) for name in part.lessons)))
    return f"<h3>{escape(part.names[lang])}</h3>{_table(rows)}"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = (f'<tr><th scope="row">{escape(name)}</th><td>{links}</td></tr>' for name, links in rows)
    return f'<table class="course">{"".join(lines)}</table>'


def _lesson(lang: str, name: str) -> str:
    """A link to a lesson's first step, with its minutes."""
    lesson = lesson_named(name)
    link = f"{path_of(lesson.steps[0].page)}?{urlencode({'lesson': name, 'lesson_step': 1, 'lang': lang})}"
    return f'<a class="see" href="{escape(link)}">{escape(lesson.title[lang])} · {lesson.minutes}′</a>'


def _places(t: Translate, lang: str, topic: Topic) -> str:
    return " ".join(link_to(lang, place, _title(t, place)) for place in topic.places)


def _title(t: Translate, place: tuple[str, str, str]) -> str:
    """The title of a link: its page, its section or view, and the step if it has one."""
    page, section, more = place
    query = dict(parse_qsl(more))
    views = [f"{page}.{name}.title" for value in query.values() for name in (f"{section}.{value}", value)]
    title_key = next(filter(has_text, views), f"{page}.{section}.title")
    steps = [t(f"step_by_step.short_{query['step']}")] if "step" in query else []
    return " › ".join([t(f"{page}.title"), t(title_key), *steps])
