"""A whole lesson for paper: a sheet for each step, with room to write or with answers."""

from urllib.parse import urlencode

import streamlit as st

from viz.components.view import View
from viz.frame import view
from viz.frame.sidebar import path_of
from viz.modes.lesson.running import Running
from viz.text import Translate

SHEET = View("lesson/sheet", words="sheet.")


def sheets(t: Translate, lesson: Running) -> None:
    """Draw every step in a frame, as the page it is on shows it there."""
    lang, view_options = lesson.lang, view.current()
    common = {**lesson.opens, "lang": lang, "embed": "1", "embed_options": "light_theme", "print": view_options.print}
    steps = [
        f"{path_of(step.page)}?{urlencode({**common, 'lesson_step': number})}"
        for number, step in enumerate(lesson.lesson.steps, 1)
    ]
    back = f"{path_of(lesson.step.page)}?{urlencode({**lesson.opens, 'lang': lang})}"
    title = lesson.lesson.title[lang]
    data = {
        "title": t("paper.with_answers", title=title) if view_options.print == "answers" else title,
        "answers": view_options.print == "answers",
        "steps": steps,
        "back": back,
    }
    lesson.is_drawn = True
    # As wide as A4, the narrower of the two papers, is between these margins.
    st.html("<style>@page { margin: 12mm; } .stApp { --paper-width: 696px; }</style>")
    SHEET.mount(key="sheet", data=data)
