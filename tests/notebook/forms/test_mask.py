"""Masks beside token ids: of attention, in every form that is read with its meaning, or refused with their size."""

import pytest
import torch
import transformers
from torch.testing import assert_close

import viz
from tests import checkpoints

N = 7
LOWER = torch.ones(N, N).tril()
ADDED = torch.zeros(N, N).masked_fill(LOWER == 0, torch.finfo(torch.float32).min)


@pytest.fixture(scope="module")
def bert():
    """A small BERT with the default attention."""
    return transformers.BertModel(transformers.BertConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.BERT)).eval()


@pytest.fixture(scope="module")
def tokenizer():
    return transformers.PreTrainedTokenizerFast(tokenizer_object=checkpoints.MAKERS["wordpiece"]())


MASKS = {
    "truth values": LOWER[None, None].bool(), "whole numbers": LOWER[None, None].long(),
    "without heads": LOWER[None].bool(), "added": ADDED[None, None], "added without heads": ADDED[None],
}  # fmt: skip


@pytest.mark.parametrize("form", MASKS)
def test_mask_of_attention_is_read(bert, tokenizer, form):
    """Eager attention would add truth values to the scores, and takes no mask without an axis for heads."""
    ids = torch.arange(5, 5 + N)[None]
    grid = viz.show(bert, tokenizer, {"input_ids": ids, "attention_mask": MASKS[form]}, layer=1, head=3)
    bert.set_attn_implementation("eager")
    with torch.no_grad():
        want = bert(input_ids=ids, attention_mask=ADDED[None, None], output_attentions=True).attentions
    bert.set_attn_implementation("sdpa")
    assert_close(torch.tensor(grid.weights), want[1][0, 3])
    assert float(want[1][0, 3].triu(1).max()) == 0


FALSE = {
    "added": (torch.tensor([[0.0] * 6 + [-torch.inf]]), "is 1 × 7 and holds -inf: a mask of padding has 1 for each"),
    "numbered texts": (torch.tensor([[1, 1, 1, 2, 2, 2, 2]]), "is 1 × 7 and holds 2: a mask of padding"),
    "other keys": (torch.ones(1, 1, 7, 8), "is 1 × 1 × 7 × 8, .* a mask of attention is 1 × 1 × 7 × 7"),
    "five axes": (torch.ones(1, 1, 1, 7, 7), "is 1 × 1 × 1 × 7 × 7, and the token ids"),
}


@pytest.mark.parametrize("form", FALSE)
def test_false_mask_is_refused(bert, tokenizer, form):
    mask, sentence = FALSE[form]
    with pytest.raises(ValueError, match=sentence):
        viz.show(bert, tokenizer, {"input_ids": torch.arange(5, 5 + N)[None], "attention_mask": mask})
