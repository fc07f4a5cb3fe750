"""Pages with one of everything, and with Chinese: numbers and the words beside them read as people write them."""

import re

import pytest

from tests.running import sentences_of
from viz.text import translator

SINGLE_WORD = {"source": "words", "text": "word", "section": "all", "n_heads": 1, "target": "word"}
"""One word, one head; a page adds what it counts besides."""
FEW = {
    "block": {"block": "both"},
    "stacking": {"depth": 1, "field": "dilated", "field_gap": 1},
    "share_kv": {"preset": "Falcon-7B", "n": 1},
    "convolution": {"picture": "digit", "lesson_heads": 1, "kernel": "identity"},
    "next_word": {"source": "model", "model": "twin-g2", "swap_with": "dog", "written": 1, "cut": "1"},
    "cost": {"cost_n": 1, "cost_d": 1, "cost_k": 1, "cost_h": 1},
}
COUNT_NOUNS = (
    "blocks|cells|centres|channels|exponentials|heads|layers|numbers|parameters|places|points|positions|rows|sets|steps|"
    "tokens|words"
)
PLURAL = re.compile(rf"(?<![×=] )(?<![\d.,·–/×])\b1 (?:[\w/]+ )?(?:{COUNT_NOUNS})\b")
COMPUTERS = re.compile(r"\d(?:\.\d+)?e[+-]?\d|\bnan\b|0–0\b")
"""Exponents and gaps as computers write them; and a layer "0 of 0–0"."""
TORN = re.compile(r"[。！？；：，、] |[\u4e00-\u9fff][,;!?](?:\s|$)")
"""A space after a Chinese sign, or an English sign after Chinese."""
FRAMES = translator("en")("source.words_line").partition("{seed}")[0]
"""A line of the frame, which has tests of its own."""
KINDS = ("caption", "text", "info", "warning", "error")


def sentences(app):
    """Everything the page says, without the checks, whose tolerances are numbers of computers."""
    assert not app.exception
    sentence_texts = sentences_of(app) + [element.value for kind in KINDS for element in getattr(app, kind)]
    return [sentence for sentence in sentence_texts if not sentence.startswith(("✓", "✗", FRAMES))]


@pytest.mark.parametrize("page", FEW)
def test_one_is_not_many(open_app, page):
    sentence_texts = sentences(open_app(page, **SINGLE_WORD | FEW[page]))
    for pattern in (PLURAL, COMPUTERS):
        assert [sentence for sentence in sentence_texts if pattern.search(sentence)] == []


@pytest.mark.parametrize("page", FEW)
def test_chinese_sentences_have_chinese_signs(open_app, page):
    sentence_texts = sentences(
        open_app(page, lang="zh", section="all", source="words", text="我 爱 猫 猫 爱 我", depth=2)
    )
    assert [sentence for sentence in sentence_texts if TORN.search(sentence)] == []


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("of 1 tokens", True),
        ("1 key/value heads", True),
        ("for 1 token", False),
        ("11 heads", False),
        ("1.1 heads", False),
    ],
)
def test_the_pattern_finds_plurals(text, is_wrong):
    assert bool(PLURAL.search(text)) == is_wrong
