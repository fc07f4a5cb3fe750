"""The glossary: every term, by theme or by alphabet, and what a visitor looks for."""

import re
from html import unescape

import pytest

from pages import LOOK_UP, NAVIGATION, PAGES
from pages.glossary.contents import parts
from pages.glossary.page import ORDERS
from tests.frame.test_every_page import BAD_TEXTS, strings
from tests.running import everything
from tests.sections import SECTIONS
from viz.frame.sidebar import path_of
from viz.text import LANGUAGES, translator
from viz.text.glossary import terms

CODES = list(terms())


def listed(app):
    """The codes of the terms shown, from top to bottom."""
    return re.findall(r'<dt id="(\w+)">', "".join(each.proto.body for each in app.get("html")))


def test_it_is_the_last_of_the_navigation_and_no_page_with_a_text():
    assert list(NAVIGATION.values())[-1] == LOOK_UP == ("glossary", "about")
    assert not set(LOOK_UP) & set(PAGES)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_term_is_there_once_with_its_link_in_either_order(open_app, lang):
    app, t = open_app("glossary", lang=lang, text="zebra"), translator(lang)
    assert app.title[0].value == t("glossary.title")
    assert listed(app) == CODES
    assert len(app.header) == len({term.theme for term in terms().values()})
    assert len(re.findall('<a class="see" ', "".join(each.proto.body for each in app.get("html")))) == len(CODES)
    app.button_group(key="listed").set_value(ORDERS[1]).run()
    assert sorted(listed(app)) == sorted(CODES) and not app.header
    assert (app.query_params["listed"], app.query_params["text"]) == (ORDERS[1], "zebra"), "the text is kept"
    names = [terms()[code].names[lang] for code in listed(app)]
    if lang == "en":
        assert names == sorted(names, key=str.casefold)
    else:
        of_each = {sound: names.index(name) for sound, name in zip("ceg", ("残差连接", "点积", "归纳头"), strict=True)}
        assert list(of_each.values()) == sorted(of_each.values())
        assert names.index("softmax") < names.index("参数") < names.index("多头注意力（MHA）") < names.index("熵")


@pytest.mark.parametrize(
    ("lang", "wanted", "expected"),
    [
        ("en", "SOFTMAX turns", ["softmax"]),
        ("en", "权重", ["weight", "projection", "weight_sharing"]),
        ("zh", "induction", ["induction"]),
        ("en", "no such thing", []),
        ("en", "  ", CODES),
    ],
)
def test_a_term_is_looked_up_in_either_language(open_app, lang, wanted, expected):
    app = open_app("glossary", lang=lang, term=wanted)
    assert listed(app) == expected
    assert translator(lang)("glossary.found", n=len(expected), all=len(CODES)) in [one.value for one in app.caption]


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_glossary_query_of_link_stays_in_box(open_app, text):
    """What a link looks for reaches the search box alone, whatever it is."""
    app = open_app("glossary", term=(text + "giraffe")[-60:])
    assert not app.exception
    for element in everything(app):
        proto = getattr(element, "proto", None)
        if hasattr(proto, "ListFields") and "search" not in getattr(proto, "component_name", ""):
            assert not [field for field, value in strings(proto) if "giraffe" in str(value)]


def test_glossary_query_offers_whole_list(open_app):
    """A link that looks for a term has the way back to all of them, which keeps the language."""
    shown = ["".join(one.proto.body for one in open_app("glossary", term=term).get("html")) for term in ("softmax", "")]
    assert ["term=&quot;" in html or 'term="' in html for html in shown] == [True, False]


# --- A course's table of contents ------------------------------------------------------------------------------------

PLACES = [place for part in parts() for topic in part.topics for place in topic.places]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_topic_links_to_sections_that_are_there(open_app, lang):
    app, t = open_app("glossary", lang=lang, listed="course", text="zebra"), translator(lang)
    assert not app.exception
    assert [one.value for one in app.header] == [part.names[lang] for part in parts()]
    html = "".join(one.proto.body for one in app.get("html"))
    links = re.findall(r'<a class="see" href="([^"]*)">([^<]*)<', html)
    found = [(unescape(href), unescape(title)) for href, title in links]
    expected = []
    for page, section, more in PLACES:
        assert (page, section) in SECTIONS, f"{page}/{section}"
        link = f"{path_of(page)}?lang={lang}&section={section}" + f"&{more}" * bool(more)
        title = f"{t(f'{page}.title')} › {t(f'{page}.{section}.title')}"
        title += f" › {t(f'step_by_step.short_{more[-1]}')}" if more.startswith("step=") else ""
        expected.append((link, title))
    assert found == expected
    topics = [topic.names[lang] for part in parts() for topic in part.topics]
    assert [unescape(name) for name in re.findall("<dt><strong>(.*?)</strong>", html)] == topics and len(
        set(topics)
    ) == len(topics)
    assert app.query_params["text"] == "zebra", "the text is kept"


@pytest.mark.parametrize(("page", "section", "more"), sorted({place for place in PLACES if place[2]}))
def test_what_else_a_topics_link_asks_for_is_understood(open_app, page, section, more):
    name, _, value = more.partition("=")
    app = open_app(page, section=section, source="words", **{name: value})
    assert not app.exception and app.session_state["section"] == section
    note = translator("en")("note.refused", names=name)
    assert name in app.session_state and note not in [one.value for one in app.info]
    assert str(app.session_state[name]) in (value, "True")


def test_a_topic_is_looked_up_by_its_name_and_its_sections(open_app):
    for lang, wanted in (("en", "transpose"), ("zh", "切分")):
        app = open_app("glossary", lang=lang, listed="course", term=wanted)
        html = "".join(one.proto.body for one in app.get("html"))
        assert html.count("<dt>") == 1 and "section=split" in html
