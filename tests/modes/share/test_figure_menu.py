"""Data for the menus of pictures: the source of the numbers, and the address of the menu's code."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from viz.components import bundle
from viz.frame.modes.figure_facts import LONGEST
from viz.text import sentences


def menu_data(app: AppTest) -> Any:
    """The page's description of its pictures."""
    views = (view.proto for view in app.get("bidi_component"))
    (header,) = [json.loads(view.json) for view in views if view.component_name.endswith(".document")]
    return header[0]["figures"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_model_and_text_below_picture(open_app, lang):
    app = open_app("heads", lang=lang, source="words", text="a  cat\n" + "x" * 400)
    figures = menu_data(app)
    whose, text = figures["facts"]
    assert whose == sentences(lang)["source.words"] and text.startswith("“a cat x") and len(text) == LONGEST
    assert figures["apart"] == []
    assert figures["menu"] == f"_stcore/bidi-components/headlight.menu/{bundle.bundle('figure/menu')[0]}"


def test_fallback_decoder_is_named(open_app):
    whose, text = menu_data(open_app("next_word", lang="en", source="words"))["facts"]
    assert whose.startswith("twin-g8 · ") and text.startswith("“cake moon")


@pytest.mark.parametrize("section", ["map", "wall"])
def test_text_as_read_below_picture(open_app, monkeypatch, section):
    """Below the picture of a long text stands the part that was read."""
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: None)  # it would own the key
    app = open_app("long_text", source="words", text="one two", n_heads=2, long_from="file", section=section)
    app.session_state["_long_file"] = SimpleNamespace(getvalue=b"three four five".strip)
    figures = menu_data(app.run())
    assert figures["facts"][1:] == ["“three four five”"] and figures["apart"] == []


def test_atlas_names_model_and_sentences(open_app):
    facts = menu_data(open_app("atlas", source="words", text="one two"))["facts"]
    assert len(facts) == 1 and facts[0].startswith("all-MiniLM-L6-v2, 72 heads, over 203 English sentences")


def test_picture_without_model_names_none(open_app):
    assert menu_data(open_app("cost", source="words"))["facts"] == ["n = 512, d = 512, k = 3, h = 8"]
    assert "two_places" in menu_data(open_app("many_heads", source="words", section="two_places"))["apart"]
    example = menu_data(open_app("two_sequences", section="translation", model="all-MiniLM-L6-v2"))
    assert "translation" in example["apart"], "an example in its place"
    assert "trained_sharing" in menu_data(open_app("stacking", source="words", section="layer_sharing"))["apart"]


@pytest.mark.parametrize("look", [{"present": "1"}, {"print": "worksheet"}])
def test_presented_and_printed_pages_lack_menu(open_app, look):
    assert menu_data(open_app("masks", source="words", section="editor", **look)) is None
