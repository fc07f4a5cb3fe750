"""Labels against what tokenizers make of numbers."""

import pytest

from viz.models import LoadedModel
from viz.models.recount.token_labels import wrong_labels, wrong_numbers, wrong_words
from viz.models.tokens import read_text, split_words, word_labels

TEXTS = (
    "The animal didn't cross.",
    "unbelievable café",
    "今天天气很好。",
    "नमस्ते दुनिया",
    "😂😂 two",
    "a",
    "Straße ﬁn ２",
)


@pytest.mark.parametrize("text", TEXTS)
def test_wrong_labels_right_text_finds_none(minilm: LoadedModel, text: str):
    """Whole, merged, and with a text that is cut."""
    for most in (64, 4):
        tokens = read_text(minilm.tokenizer, text, most)
        assert not wrong_labels(minilm.tokenizer, tokens.ids, tokens.labels)
        assert not wrong_labels(minilm.tokenizer, tokens.ids, word_labels(tokens), tokens.words, merged=True)
        assert not wrong_numbers(minilm.tokenizer, text, tokens.ids, tokens.n_excess)
        words = split_words(text, most)
        assert not wrong_words(text, words.ids, words.labels)


def test_wrong_labels_moved_text_finds_each(minilm: LoadedModel):
    """A label one on, numbers in reverse, a word that is not there."""
    tokens = read_text(minilm.tokenizer, "one two three four", 16)
    rotated = (*tokens.labels[1:], tokens.labels[0])
    assert wrong_labels(minilm.tokenizer, tokens.ids, rotated) == len(rotated)
    assert wrong_numbers(minilm.tokenizer, "one two three four", tokens.ids[::-1], 0)
    words = split_words("one two three", 8)
    assert wrong_words("one two three", words.ids[::-1], words.labels) == 2
    assert wrong_words("three two one", words.ids, words.labels)
