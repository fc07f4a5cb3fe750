"""Characters as labels: joiners of emoji and words stay, invisible or active characters are written out."""

import pytest

from tests.models.spelling.tokenizers import ENGLAND, FAMILY
from viz.models.spelling.visible import is_mark, visible


@pytest.mark.parametrize(
    "text",
    [
        FAMILY,
        ENGLAND,
        ENGLAND * 2,
        "❤\ufe0f\u200d🔥",
        "👩🏽\u200d🚀",
        "می\u200cخواهم",
        "ක්\u200dෂ",
        "क्\u200cष",
        "1\ufe0f\u20e3",
    ],
)
def test_visible_links_stay(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\u200cb", "a⟨200C⟩b"),
        ("a\u200db", "a⟨200D⟩b"),
        ("\u200cم", "⟨200C⟩م"),
        ("\U000e0061", "⟨E0061⟩"),
        ("🏴\U000e0068\U000e0069", "🏴⟨E0068⟩⟨E0069⟩"),
        ("🏴" + "\U000e0061" * 7 + "\U000e007f", "🏴" + "⟨E0061⟩" * 7 + "⟨E007F⟩"),
    ],
)
def test_visible_hidden_text_is_written(text, expected):
    """A joiner without neighbours, and tags outside a flag, could hide a text."""
    assert visible(text) == expected


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("◌ी", False), ("◌ै₁", False), ("。₁", True), ("␣،₂", True), ("猫₁", False), ("H₂", False), ("₂", False),
        ("!?", True), ("❤\ufe0f", True), ("⟨E7…⟩", False), ("##!", True), ("", False),
    ],
)  # fmt: skip
def test_is_mark_pieces_of_letters(label, expected):
    assert is_mark(label) is expected
