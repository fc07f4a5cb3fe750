"""The section of the k largest scores: checks that hold everywhere, and a text with nothing open."""

from viz.text import translator

T = translator("en")
SEEDED = {"source": "words", "text": "one two three four five two", "n_heads": 4}
NOTHING = {"mask": "padding", "pad": 32}


def test_top_k_without_open_cells(open_app):
    app = open_app("masks", section="top_k", **SEEDED | NOTHING)
    assert T("masks.late_nothing") in [element.value for element in app.info]
