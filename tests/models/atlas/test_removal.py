"""What the loss grows by without a head, against runs of the eager model whose W_O is given zeros by a plain hook."""

import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from tests.checkpoints import SENTENCES
from tests.models.test_interventions import by_hooks, put
from viz.models.atlas.removal import LINES, removed_on, score_removal
from viz.models.tokens import read_text


def test_each_head_is_removed_by_itself(loaded, checkpoint):
    model = loaded("llama")
    found = score_removal(model, SENTENCES[:2])["removal"]
    assert found.shape == (2, 2, 6)
    ids = read_text(model.tokenizer, SENTENCES[1], 61).ids

    def loss(changes):
        return cross_entropy(by_hooks("llama", checkpoint("llama"), ids, changes)[:-1], torch.tensor(ids[1:]))

    usual = loss({})
    for layer, head in ((0, 1), (1, 5)):
        assert_close(found[1, layer, head], loss({layer: put([head], 0.0)}) - usual, rtol=1e-4, atol=1e-5)
    assert found[1].abs().min() > 0, "every head does something"


def test_enough_sentences_leave_others_open(loaded):
    lines = SENTENCES[:1] * (LINES + 1)
    found = score_removal(loaded("llama"), lines)["removal"]
    there = found.isfinite().all(-1).all(-1)
    assert there.nonzero().flatten().tolist() == removed_on(len(lines)) and there.sum() == LINES


def test_an_encoder_has_no_next_token(minilm):
    assert score_removal(minilm, SENTENCES[:1]) == {}
