"""What the browser is told for the menus of pictures: whose numbers they are, and where the menu's code lies."""

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from viz.components import bundle
from viz.frame.share.figure_menu import LONGEST
from viz.text import sentences

WORDS = {"open", "png", "svg", "csv", "link", "markdown", "copied", "by_hand", "failed"}


def told(app: AppTest) -> Any:
    """What the page says of its pictures."""
    views = (view.proto for view in app.get("bidi_component"))
    (sent,) = [json.loads(view.json) for view in views if view.component_name.endswith(".document")]
    return sent[0]["figures"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_model_and_the_text_stand_below_a_picture(open_app, lang):
    app = open_app("heads", lang=lang, source="words", text="a  cat\n" + "x" * 400)
    figures = told(app)
    whose, text = figures["facts"]
    assert whose == sentences(lang)["source.words"] and text.startswith("“a cat x") and len(text) == LONGEST
    assert figures["apart"] == []
    assert figures["menu"] == f"_stcore/bidi-components/headlight.menu/{bundle.served('figure/menu')}"
    assert figures["words"] == {name: sentences(lang)[f"figure_menu.{name}"] for name in WORDS}


def test_the_decoder_that_stands_in_is_the_one_that_is_named(open_app):
    whose, text = told(open_app("next_word", lang="en"))["facts"]
    assert whose.startswith("twin-g8 · ") and text.startswith("“cake moon")


def test_a_picture_of_no_model_names_none(open_app):
    assert told(open_app("cost", source="words"))["facts"] == ["n = 512, d = 512, k = 3, h = 8"]
    assert "two_places" in told(open_app("many_heads", source="words", section="two_places"))["apart"]


@pytest.mark.parametrize("look", [{"present": "1"}, {"print": "worksheet"}])
def test_before_a_class_and_on_paper_there_is_no_menu(open_app, look):
    assert told(open_app("masks", source="words", section="editor", **look)) is None
