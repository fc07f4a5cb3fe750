"""The lessons as a path of cards; a course's topics; and the lesson of one's own, each with a tab."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.lessons.course import draw_course
from pages.lessons.pictures import pictures
from viz.components.view import View
from viz.frame.links import SHARED
from viz.frame.modes import say
from viz.frame.page import Page, Section, say_refused
from viz.frame.shared import LANG
from viz.frame.sidebar import path_of
from viz.lessons.lesson import Lesson
from viz.lessons.lesson_file import lessons
from viz.modes.lesson.editor import editor
from viz.modes.lesson.own import MINE
from viz.modes.lesson.running import missing_models
from viz.params.link import retain_in_link
from viz.text import Translate, translator

PATH = View("lesson/lesson_path", words="lessons.card.")


class Lessons(Page):
    """The lessons, a page without a text."""

    def draw(self) -> None:
        """Draw the open tab."""
        lang = LANG.value
        t = translator(lang)
        open_sections = self._open_sections()
        note = self.head(t, open_sections)
        for section in open_sections:
            with st.container(key=f"tab_{section.name}"):
                if section != self.sections[0]:
                    say(t(f"lessons.{section.name}.lead"))
                section.draw((t, lang))
        retain_in_link(*SHARED)
        say_refused(t, note)


def draw_path(context: tuple[Translate, str]) -> None:
    """Draw every lesson with a link to its first step that is not over; which that is the browser knows."""
    t, lang = context
    PATH.mount(key="lesson_path", data={"lessons": [_card(t, lang, lesson) for lesson in lessons()]})


def _card(t: Translate, lang: str, lesson: Lesson) -> Mapping[str, Any]:
    models = {step.shows[lang]["model"] for step in lesson.steps if "model" in step.shows[lang]}
    missing = missing_models(lesson, lang)
    model = "missing" if missing else "models" if models else "no_model"
    return {
        "name": lesson.name,
        "title": lesson.title[lang],
        "knows": lesson.knows[lang],
        "size": t("lessons.size", minutes=lesson.minutes, steps=len(lesson.steps)),
        "model": t(f"lessons.{model}", names=", ".join(sorted(missing or models))),
        "missing": bool(missing),
        "picture": pictures()[lesson.name],
        "links": [
            f"{path_of(step.page)}?{urlencode({'lesson': lesson.name, 'lesson_step': number, 'lang': lang})}"
            for number, step in enumerate(lesson.steps, 1)
        ],
    }


SECTIONS = (
    Section("path", draw_path),
    Section("course", draw_course),
    Section(MINE, lambda context: editor(context[1])),
)
PAGE = Lessons(name="lessons", sections=SECTIONS)
