"""The example that the app opens with by default; a link without a model keeps its meaning."""

import pytest

from tests.packaged import packaged_file
from tests.running import link_of, sentences_of
from viz.frame.examples import examples
from viz.models.head_notes import note
from viz.models.registry import Entry

pytestmark = pytest.mark.usefixtures("memory_given_back")

E5 = "multilingual-e5-small"
CROSSING = next(example for example in examples() if example.code == "crossing")
ENGLISH = {"model": "all-MiniLM-L6-v2", "text": examples()[0].text, "layer": 3, "head": 1}
CHINESE = {"model": E5, "text": CROSSING.text, "layer": 8, "head": 8}


def values_of(app):
    assert not app.exception and not app.error and not app.info, "nothing in the link was refused"
    return {name: app.session_state[name] for name in ENGLISH}


@pytest.mark.parametrize("how", [{"locale": "zh-CN"}, {"lang": "zh"}])
def test_chinese_start_shows_chinese_sentence(open_app, how):
    packaged_file(E5)
    app = open_app(**how)
    assert values_of(app) == CHINESE
    assert app.session_state["query"] == 9, "the row of 它 is locked"
    first_note = note(E5, 8, 8)
    assert first_note is not None and any(first_note.text["zh"] in sentence for sentence in sentences_of(app))
    assert not app.warning, "no word is unknown"
    expected = {name: str(value) for name, value in CHINESE.items()} | how
    expected.pop("locale", None)
    assert link_of(app) == expected
    english = open_app(locale="en-US", **link_of(app) | {"lang": "en"})
    assert values_of(english) == CHINESE, "its link shows the same to everybody"


@pytest.mark.parametrize("choices", [{"layer": 2}, {"heads_view": "row"}, {"head": 3, "query": 4}, {"mask": "causal"}])
def test_link_with_choices_is_unchanged(open_app, choices):
    """A link with any choice opens as it did before there were Chinese examples."""
    app = open_app(lang="zh", **choices)
    assert values_of(app) == ENGLISH | {name: value for name, value in choices.items() if name in ENGLISH}
    assert link_of(app) == {name: str(value) for name, value in choices.items()} | {"lang": "zh"}


def test_other_pages_open_in_english(open_app):
    """Other pages, and English ones, open as before."""
    for app in (open_app("masks", lang="zh"), open_app("masks", locale="zh-CN"), open_app(), open_app(lang="en")):
        assert app.session_state["model"] == ENGLISH["model"] and app.session_state["text"] == ENGLISH["text"]
        assert link_of(app) in ({}, {"lang": "zh"})


def test_chinese_without_model_opens_english(open_app, monkeypatch):
    monkeypatch.setattr(Entry, "packaged_file", lambda _: None)
    app = open_app(lang="zh")
    assert values_of(app) == ENGLISH and link_of(app) == {"lang": "zh"}


def test_later_choice_is_kept(open_app):
    packaged_file(E5)
    app = open_app(lang="zh")
    app.text_area(key="text").set_value("猫坐在垫子上。").run()
    assert values_of(app) == CHINESE | {"text": "猫坐在垫子上。"}
    app.selectbox(key="model").set_value(ENGLISH["model"]).run()
    assert app.session_state["model"] == ENGLISH["model"]
    assert "model" not in link_of(app) and app.warning, "the other model does not know the words"


def test_example_selects_its_model(open_app):
    packaged_file(E5)
    app = open_app()
    app.selectbox(key="_example").set_value("crossing").run()
    assert values_of(app) == CHINESE
    words = open_app(source="words")
    words.selectbox(key="_example").set_value("crossing").run()
    assert (words.session_state["text"], words.session_state["source"]) == (CROSSING.text, "words")
    assert words.session_state["model"] == ENGLISH["model"] if "model" in words.session_state else True


def test_chinese_link_to_section_opens_chinese(open_app):
    """It names no model and no text; in English it opens what it always has."""
    packaged_file(E5)
    app = open_app("positions", lang="zh", section="rope")
    assert app.session_state["text"] == CROSSING.text
    assert app.session_state["model"] == E5
    assert open_app("positions", section="rope").session_state["text"] == ENGLISH["text"]
