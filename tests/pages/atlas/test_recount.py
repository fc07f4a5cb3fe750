"""The recount's rules are the atlas' rules, written once more."""

from pages.atlas.recount import _is_sign
from tests.models.spelling.tokenizers import KINDS, TEXTS, tokenizer_of
from viz.models.spelling.visible import is_mark
from viz.models.tokens import read_text


def test_is_sign_agrees_with_is_mark():
    """On the labels of every kind of tokenizer in every script."""
    visible = {
        label
        for kind in KINDS
        for text in TEXTS.values()
        for label in read_text(tokenizer_of(kind), text, 9_999).labels
    }
    assert len(visible) > 900
    assert [label for label in sorted(visible) if _is_sign(label) != is_mark(label)] == []
