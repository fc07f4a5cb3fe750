"""Sentences about one word, equal words and words that come again: true of them, and clear about which word."""

import pytest

from tests.running import sentences_of
from viz.text import translator

T = translator("en")
WORD, SAME, TIE = "word", "cat cat cat cat", "a b a b"
KINDS = ("caption", "text", "info", "warning")


@pytest.fixture
def sentences(open_app):
    """Every sentence of a page with all its sections, on seeded heads."""

    def read(page, text, **link):
        app = open_app(page, section="all", text=text, **{"source": "words"} | link)
        assert not app.exception
        return sentences_of(app) + [element.value for kind in KINDS for element in getattr(app, kind)]

    return read


@pytest.mark.parametrize(
    ("page", "link", "start"),
    [
        ("masks", {}, "“0 · a” has lost"),
        ("masks", {"near_size": 2, "stack": 1}, "From “2 · a” to “3 · b”"),
        ("stacking", {}, "Token “3 · b” after"),
        ("stacking", {}, "Token “3 · b” after 6 layers"),
        ("heads", {"query": 3}, "The largest weight of “3 · b”"),
        ("positions", {"rope_query": 3}, "The largest weight of “3 · b”"),
        ("next_word", {"source": "model", "model": "twin-g2", "text": "dog cat dog cat"}, "After “3 · "),
    ],
)
def test_repeated_words_are_named_by_place(sentences, page, link, start):
    """A word that comes again has its place before it, as in the lists."""
    on_screen = sentences(page, link.pop("text", TIE), **link)
    assert [sentence for sentence in on_screen if sentence.startswith(start)]


def test_split_of_word_follows_number(sentences):
    start = T("step_by_step.split.right", number=2, word=0, change="X").split("X")[0]
    assert [sentence for sentence in sentences("step_by_step", WORD) if sentence.startswith(start)]


def test_angles_and_offsets_read_as_written(sentences):
    on_screen = " ".join(sentences("positions", "a b c d", rope_query=1, rope_key=0))
    assert "1 radian," in on_screen
    assert "offset −1" in on_screen


def test_factor_leaves_equal_scores_alike(sentences):
    alike = T("positions.no_positions.says", n="1,048,576", before="9.5·10⁻⁷", factor="1.49", after="9.5·10⁻⁷")
    assert alike in sentences("positions", SAME)


def test_short_text_has_a_mean_distance(sentences):
    """Two equal words look over half a token on average, which is not 0."""
    on_screen = sentences("long_text", "cat cat")
    assert T("long_text.map_found", first="50.0%", half="0.0%", distance="0.5", n="2") in on_screen
    assert "1 was read." in " ".join(sentences("long_text", WORD))


def test_one_negative_cell_is_singular(sentences):
    on_screen = " ".join(sentences("attention_today", "1 2"))
    assert "1 of 4 cells (25.0%) is negative" in on_screen
    assert T("attention_today.tamed.says", head=0, bound="2", before="1.39", after="1.39") in sentences(
        "attention_today", SAME, tamed="cap", head=0, cap=2
    )
