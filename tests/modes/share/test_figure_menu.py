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


def facts_of(app: AppTest, section: str) -> list[str] | None:
    """The lines below the pictures of a section; None where it has numbers of its own."""
    (facts,) = (text.value for text in app.text if text.value.startswith("apart"))
    apart, *lines = facts.split("\n")
    return None if section in apart.split() else lines


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_model_and_text_below_picture(open_app, lang):
    app = open_app("heads", lang=lang, source="words", text="a  cat\n" + "x" * 400)
    whose, text = facts_of(app, "all_heads")
    assert whose == sentences(lang)["source.words"] and text.startswith("“a cat x") and len(text) == LONGEST
    assert menu_data(app)["menu"] == f"_stcore/bidi-components/headlight.menu/{bundle.bundle('figure/menu')[0]}"


def test_fallback_decoder_is_named(open_app):
    whose, text = facts_of(open_app("next_word", lang="en", source="words"), "next_word")
    assert whose.startswith("twin-g8 · ") and text.startswith("“cake moon")


@pytest.mark.parametrize("section", ["map", "wall"])
def test_text_as_read_below_picture(open_app, monkeypatch, section):
    """Below the picture of a long text stands the part that was read."""
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: None)  # it would own the key
    app = open_app("long_text", source="words", text="one two", n_heads=2, long_from="file", section=section)
    app.session_state["_long_file"] = SimpleNamespace(getvalue=b"three four five".strip)
    assert facts_of(app.run(), section)[1:] == ["“three four five”"]


def test_atlas_names_model_and_sentences(open_app):
    (fact,) = facts_of(open_app("atlas", source="words", text="one two"), "map")
    assert fact.startswith("all-MiniLM-L6-v2, 72 heads, over 203 English sentences")


def test_picture_without_model_names_none(open_app):
    assert facts_of(open_app("cost", source="words"), "table") == ["n = 512, d = 512, k = 3, h = 8"]
    assert facts_of(open_app("many_heads", source="words", section="two_places"), "two_places") is None
    example = open_app("two_sequences", section="translation", model="all-MiniLM-L6-v2")
    assert facts_of(example, "translation") is None, "an example in its place"
    assert facts_of(open_app("stacking", source="words", section="layer_sharing"), "trained_sharing") is None


@pytest.mark.parametrize("look", [{"present": "1"}, {"print": "worksheet"}])
def test_presented_and_printed_pages_lack_menu(open_app, look):
    assert menu_data(open_app("masks", source="words", section="editor", **look)) is None
