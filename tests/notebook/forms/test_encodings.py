"""Tokenizers of other libraries, and functions in a tokenizer's place, read the whole text and nothing else."""

import pytest
import torch
import transformers

import viz
from tests import checkpoints

TEXT = "The animal was tired."


@pytest.fixture(scope="module")
def bert():
    return transformers.BertModel(transformers.BertConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.BERT)).eval()


@pytest.mark.parametrize("setting", ["padding", "truncation", "both"])
@pytest.mark.parametrize("text", [TEXT, ("The animal", "was tired")], ids=["text", "pair"])
def test_settings_of_tokenizers_are_ignored(bert, setting, text):
    """Padding is no token, and a text is cut with a word about it; the settings are as they were afterwards."""
    tokenizer = checkpoints.MAKERS["wordpiece"]()
    want = viz.show(bert, tokenizer, text).tokens
    if setting != "truncation":
        tokenizer.enable_padding(length=40, direction="left")
    if setting != "padding":
        tokenizer.enable_truncation(5, stride=1)
    before = (tokenizer.padding, tokenizer.truncation)
    grid = viz.show(bert, tokenizer, text)
    assert grid.tokens == want and grid.notes == [] and "[PAD]" not in want[0]
    assert (tokenizer.padding, tokenizer.truncation) == before


def test_long_text_of_tokenizers_keeps_marks(bert):
    """The model reads 61 tokens: the last of them is the tokenizer's mark, as it is with transformers'."""
    grid = viz.show(bert, checkpoints.MAKERS["wordpiece"](), TEXT * 20)
    assert (grid.tokens[0][0], grid.tokens[0][-1], len(grid.tokens[0])) == ("[CLS]", "[SEP]", 61)
    assert "61 of " in grid.notes[0]


@pytest.mark.parametrize("form", ["list", "tensor", "batch"])
def test_function_of_a_text_alone(bert, form):
    """As lessons on small models write it: encode = lambda text: [number[letter] for letter in text]."""

    def encode(text):
        ids = [ord(letter) - 90 for letter in text]
        return {"list": ids, "tensor": torch.tensor(ids), "batch": [ids]}[form]

    assert viz.show(bert, encode, "abc").tokens[0] == ("7", "8", "9")
