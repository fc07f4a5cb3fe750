"""A course's table of contents below the lessons: every topic, section and lesson of it."""

import re
from html import unescape
from urllib.parse import parse_qsl

import pytest

from pages.lessons.contents import parts
from tests.sections import SECTIONS, VIEWS
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import ORDER, lesson_named
from viz.text import LANGUAGES, has_text, translator

PLACES = [place for part in parts() for topic in part.topics for place in topic.places]


def tables(app):
    """The course's tables in HTML."""
    return "".join(element.proto.body for element in app.get("html") if "table" in element.proto.body)


def title_of_link(page, section, parameters):
    """The title of the section or view that a link opens."""
    views = [f"{page}.{view}.title" for *of, view in VIEWS if of == [page, section] and view in parameters.values()]
    return next(filter(has_text, views), f"{page}.{section}.title")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_course_links_lead_to_sections(open_app, lang):
    app, t = open_app("lessons", section="course", lang=lang, text="zebra"), translator(lang)
    assert not app.exception
    html = tables(app)
    assert [unescape(name) for name in re.findall("<h3>(.*?)</h3>", html)] == [part.names[lang] for part in parts()]
    links = re.findall(r'<a class="see" href="([^"]*)">([^<]*)<', html)
    result = [(unescape(href), unescape(title)) for href, title in links if "lesson=" not in href]
    expected = []
    for page, section, more in PLACES:
        assert (page, section) in SECTIONS, f"{page}/{section}"
        link = f"{path_of(page)}?lang={lang}&section={section}" + f"&{more}" * bool(more)
        requests = dict(parse_qsl(more))
        title = f"{t(f'{page}.title')} › {t(title_of_link(page, section, requests))}"
        title += f" › {t('step_by_step.short_' + requests['step'])}" if "step" in requests else ""
        expected.append((link, title))
    assert result == expected
    topics = [topic.names[lang] for part in parts() for topic in part.topics]
    assert [unescape(name) for name in re.findall('<th scope="row">(.*?)</th>', html)] == [
        name
        for part in parts()
        for name in [*[t("lessons.course_lessons")] * bool(part.lessons), *(topic.names[lang] for topic in part.topics)]
    ]
    assert len(set(topics)) == len(topics)
    assert app.query_params["text"] == "zebra", "the text is kept"


def test_every_lesson_is_in_course(open_app):
    """A teacher who goes by the topics finds every lesson, and what each is called."""
    html = tables(open_app("lessons", section="course", lang="en"))
    assert {name for part in parts() for name in part.lessons} == {*ORDER}
    assert all(f"lesson={name}&amp;lesson_step=1" in html and lesson_named(name).title["en"] in html for name in ORDER)


@pytest.mark.parametrize(("page", "section", "more"), sorted({place for place in PLACES if place[2]}))
def test_course_link_parameters_are_understood(open_app, page, section, more):
    requests = dict(parse_qsl(more))
    app = open_app(page, section=section, source="words", **requests)
    assert not app.exception and app.session_state["section"] == section
    notes = [element.value for element in app.info]
    for name, value in requests.items():
        assert name in app.session_state and translator("en")("note.refused", names=name) not in notes
        assert str(app.session_state[name]) in (value, "True")
