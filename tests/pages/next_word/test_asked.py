"""Lesson questions about the next word, whose answer the page withholds."""

import json

import pytest

from viz.lessons.lesson_file import lesson_named

AT = next(n for n, step in enumerate(lesson_named("probability").steps, 1) if step.ask.answer == "likelier")


@pytest.mark.models
def test_next_word_table_keeps_order_back(open_app):
    """The table is sorted by probability, so the place of a word in it would answer which of two is likelier."""
    app = open_app("next_word", lesson="probability", lesson_step=AT, lang="en")
    assert not app.exception
    payload = {
        view.proto.component_name: json.loads(view.proto.json)[0]
        for view in app.get("bidi_component")
        if view.proto.json
    }
    assert "Sydney" in json.dumps(payload["headlight.lesson_bar"]), "it is asked about"
    grid = payload["headlight.word_grid"]
    assert {cell["text"] for row in grid["rows"] for cell in row["cells"]} == {"?"}
    assert not any("Sydney" in element.value for element in app.text)
