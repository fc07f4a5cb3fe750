"""The list of lessons: how long each takes, what one knows after it, how far one has come; and a course's topics."""

from collections.abc import Iterable
from html import escape
from urllib.parse import urlencode

import streamlit as st

from pages.lessons.course import draw_course
from viz.frame.links import SHARED
from viz.frame.modes import say
from viz.frame.page import Page, say_refused
from viz.frame.shared import LANG, SECTION, Sections
from viz.frame.sidebar import path_of
from viz.lessons.lesson import Lesson
from viz.lessons.lesson_file import lessons
from viz.modes.lesson.editor import editor
from viz.modes.lesson.running import n_done
from viz.params.link import retain_in_link
from viz.text import Translate, translator


class Lessons(Page):
    """The list of lessons, a page without a text."""

    def draw(self) -> None:
        """Draw every lesson with a link to its first step."""
        lang = LANG.value
        t = translator(lang)
        SECTION.enter(Sections(self.name, ()))
        note = self.head(t)
        with st.container(key="lessons_list"):  # as high as it will be, before the browser has what draws it
            st.html(lesson_list(t, lang, lessons()))
        draw_course(t, lang)
        mine(t, lang)
        retain_in_link(*SHARED)
        say_refused(t, note)


def mine(t: Translate, lang: str) -> None:
    """One's own lesson, which the browser keeps; and one that came in a link, to begin or to take over."""
    st.header(t("lessons.mine"), anchor=False)
    say(t("lessons.mine_lead"))
    editor(lang)


def lesson_list(t: Translate, lang: str, lessons: Iterable[Lesson]) -> str:
    """Lessons as a list in HTML."""
    return f'<ol class="lessons">{"".join(_item(t, lang, lesson) for lesson in lessons)}</ol>'


def _item(t: Translate, lang: str, lesson: Lesson) -> str:
    n_finished, steps = n_done(lesson), len(lesson.steps)
    at = next((n for n in range(1, steps + 1) if n > n_finished), 1)
    link = f"{path_of(lesson.steps[at - 1].page)}?{urlencode({'lesson': lesson.name, 'lesson_step': at, 'lang': lang})}"
    size = t("lessons.size", minutes=lesson.minutes, steps=steps)
    far = f" · {t('lessons.done', done=n_finished, steps=steps)}" if n_finished else ""
    ways = [f'<a href="{escape(f"{link}&present=1")}">{escape(t("lessons.present"))}</a>']
    ways += [
        f'<a target="_blank" href="{escape(f"{link}&print={print_as}")}">{escape(t(f"lessons.{name}"))}</a>'
        for print_as, name in (("1", "sheet"), ("answers", "answers"))
    ]
    return (
        f'<li><a class="see alone" href="{escape(link)}">{escape(lesson.title[lang])}</a> '
        f"<small>{escape(size + far)}</small><p>{escape(lesson.knows[lang])}</p>"
        f'<small class="sheets">{" · ".join(ways)}</small></li>'
    )


PAGE = Lessons(name="lessons", sections=())
