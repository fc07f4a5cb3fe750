"""Terms in a page's sentences: marked where the screen has them first, with a pop-over that a link leads on from."""

import re
from html import unescape
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from tests.running import sentences_of, start_app
from viz.modes.glossary import marks
from viz.text.glossary import found_in, terms


def app_with(*sentences: str, lang: str = "en") -> AppTest:
    def script(sentences: tuple[str, ...], lang: str) -> None:
        import streamlit as st

        from viz.frame import modes
        from viz.modes import find
        from viz.modes.glossary import marks
        from viz.params import link

        modes.install(find())
        st.session_state["lang"] = lang
        link.begin()
        modes.read_view()
        marks.begin()
        for sentence in sentences:
            modes.say(sentence)

    app = start_app(script, args=(sentences, lang)).run()
    assert not app.exception
    return app


def terms_in(app: AppTest) -> list[tuple[str, str]]:
    """Each term that is marked: its code, and the words that are marked."""
    bodies = "".join(element.proto.body for element in app.get("html"))
    return re.findall(r'popovertarget="term_(\w+)">(.*?)</button>', bodies)


def test_term_is_marked_once_per_screen():
    """A term is marked once on a screen, and the sentences stay unchanged."""
    sentences = (
        "**A mask** decides: the *masks* of `mask & head`, not of heads.",
        "A mask again, and a softmax.",
        "No term.",
    )
    app = app_with(*sentences)
    assert terms_in(app) == [("mask", "mask"), ("head", "heads"), ("softmax", "softmax")]
    assert sorted(sentences_of(app)) == sorted(sentences)
    assert [element.value for element in app.markdown] == ["No term."]


def test_sentence_is_marked_up_once(monkeypatch):
    """A sentence is searched and marked up once, however often its page runs."""
    searched = []
    monkeypatch.setattr(marks, "found_in", lambda *args: searched.append(args) or found_in(*args))
    app = app_with("Here a softmax is said for the very first time.")
    before = [element.proto.body for element in app.get("html")]
    assert len(searched) == 1
    assert [element.proto.body for element in app.run().get("html")] == before
    assert len(searched) == 1


def test_marked_terms_have_popovers():
    (element,) = app_with("查询与键。", lang="zh").get("html")
    notes = re.findall(r'<div popover id="term_(\w+)" class="term">(.*?)</div>', element.proto.body)
    assert [code for code, _ in notes] == ["query", "key"]
    for code, note in notes:
        term = terms()[code]
        assert all(part in unescape(note) for part in (*term.names.values(), term.says["zh"], term.shape))
        assert re.findall('href="(.*?)"', note) == ["step-by-step?lang=zh&amp;section=steps&amp;step=3"]


@pytest.mark.parametrize(
    "sentence", ["The score $S$.", "| a | score |\n|--|--|", "- a score", "[score](x)", ":red[score]"]
)
def test_special_markdown_is_not_marked(sentence):
    assert [element.value for element in app_with(sentence).markdown] == [sentence]


def test_marked_text_is_escaped():
    (element,) = app_with("A score & a 'key' > 0.").get("html")
    assert "A <button" in element.proto.body and "&amp; a &#x27;<button" in element.proto.body


@pytest.mark.parametrize(
    ("lang", "sentence", "expected"),
    [
        ("zh", "分组（查询、键），得分高。", ["（查询、", "键），"]),
        ("en", "A layer's score (softmax).", ["layer's", "(softmax)."]),
    ],
)
def test_no_break_between_term_and_sign(lang, sentence, expected):
    app = app_with(sentence, lang=lang)
    assert sentences_of(app) == [sentence]
    unbroken = re.findall("<span>(.*?)</span>", app.get("html")[0].proto.body.partition("</p>")[0])
    assert [unescape(re.sub("<[^>]*>", "", span)) for span in unbroken] == expected


@pytest.mark.parametrize("see", sorted({term.see for term in terms().values() if "?" in term.see}))
def test_other_link_parameters_are_kept(open_app, see):
    page, section, rest = next(term.place for term in terms().values() if term.see == see)
    expected = dict(parse_qsl(rest))
    app = open_app(page, section=section, **{"text": "a b c"} | expected)
    assert not app.exception and not app.info
    assert set(expected) <= set(app.session_state["_parameters"].declared)
    # Defaults are not in the address.
    parameters = {name: app.query_params.get(name, str(app.session_state[name])) for name in expected}
    assert parameters == expected
