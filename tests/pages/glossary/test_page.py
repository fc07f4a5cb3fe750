"""The glossary: every term, by theme or by alphabet, and what a user looks for."""

import re

import pytest

from pages.glossary.parameters import ORDER
from tests.frame.test_every_page import BAD_TEXTS, strings
from tests.running import all_elements
from viz.text import LANGUAGES, translator
from viz.text.glossary import terms

CODES = list(terms())


def listed_codes(app):
    """The codes of the terms shown, from top to bottom."""
    return re.findall(r'<dt id="(\w+)">', "".join(element.proto.body for element in app.get("html")))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_terms_listed_once_either_order(open_app, lang):
    app, t = open_app("glossary", lang=lang, text="zebra"), translator(lang)
    assert app.title[0].value == t("glossary.title")
    assert listed_codes(app) == CODES
    assert len(app.header) == len({term.theme for term in terms().values()})
    assert len(re.findall('<a class="see" ', "".join(element.proto.body for element in app.get("html")))) == len(CODES)
    app.button_group(key="listed").set_value(ORDER.options()[1]).run()
    assert sorted(listed_codes(app)) == sorted(CODES) and not app.header
    assert (app.query_params["listed"], app.query_params["text"]) == (ORDER.options()[1], "zebra"), "the text is kept"
    names = [terms()[code].names[lang] for code in listed_codes(app)]
    if lang == "en":
        assert names == sorted(names, key=str.casefold)
    else:
        of_each = {sound: names.index(name) for sound, name in zip("ceg", ("残差连接", "点积", "归纳头"), strict=True)}
        assert list(of_each.values()) == sorted(of_each.values())
        assert names.index("softmax") < names.index("参数") < names.index("多头注意力（MHA）") < names.index("熵")


@pytest.mark.parametrize(
    ("lang", "query", "expected"),
    [
        ("en", "SOFTMAX turns", ["softmax"]),
        ("en", "权重", ["weight", "projection", "weight_sharing"]),
        ("zh", "induction", ["induction"]),
        ("en", "no such thing", []),
        ("en", "  ", CODES),
    ],
)
def test_search_in_both_languages(open_app, lang, query, expected):
    app = open_app("glossary", lang=lang, term=query)
    assert listed_codes(app) == expected
    assert translator(lang)("glossary.found", n=len(expected), all=len(CODES)) in [
        element.value for element in app.caption
    ]


@pytest.mark.parametrize("text", BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_glossary_query_stays_in_box(open_app, text):
    """The query of a link reaches the search box alone."""
    app = open_app("glossary", term=(text + "giraffe")[-60:])
    assert not app.exception
    for element in all_elements(app):
        proto = getattr(element, "proto", None)
        if hasattr(proto, "ListFields") and "search" not in getattr(proto, "component_name", ""):
            assert not [field for field, value in strings(proto) if "giraffe" in str(value)]


def test_glossary_query_offers_whole_list(open_app):
    """A link that looks for a term has the way back to all of them, which keeps the language."""
    visible = [
        "".join(element.proto.body for element in open_app("glossary", term=term).get("html"))
        for term in ("softmax", "")
    ]
    assert ["term=&quot;" in html or 'term="' in html for html in visible] == [True, False]
