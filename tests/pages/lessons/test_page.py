"""The list of lessons: each with its length, what one knows after it, and a link to its first step."""

import re
from html import unescape

import pytest

from pages import FIRST, LESSONS, NAVIGATION, PAGES
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import lessons
from viz.text import LANGUAGES, translator


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_lesson_opens_its_first_step(open_app, lang):
    assert NAVIGATION["basics"][:2] == (FIRST, LESSONS) and LESSONS not in PAGES
    app, t = open_app("lessons", lang=lang, text="zebra"), translator(lang)
    assert not app.exception
    assert app.title[0].value == t("lessons.title")
    entries = unescape("".join(element.proto.body for element in app.get("html")))
    links = re.findall(r'<a class="see alone" href="([^"]+)">([^<]+)</a>', entries)
    assert links == [
        (f"{path_of(lesson.steps[0].page)}?lesson={lesson.name}&lesson_step=1&lang={lang}", lesson.title[lang])
        for lesson in lessons()
    ]
    presented = re.findall(r'<small class="sheets"><a href="([^"]+)">', entries)
    assert presented == [f"{link}&present=1" for link, _ in links]
    assert all(lesson.knows[lang] in entries for lesson in lessons())
    assert app.query_params["text"] == "zebra", "the text is kept"
