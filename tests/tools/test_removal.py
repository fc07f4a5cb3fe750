"""Growth of the loss without a head, against the eager model with that head's input to W_O set to zero by a hook."""

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from tests.checkpoints import SENTENCES, open_folder, save
from tests.models.test_interventions import logits_with_hooks, set_heads
from tools.atlas.removal import LINES, removal_lines, score_removal
from viz.models.load import load
from viz.models.tokens import read_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small Llama."""
    return save("llama", tmp_path_factory.mktemp("llama"))


def test_each_head_is_removed_by_itself(folder):
    model = open_folder(folder)
    losses = score_removal(model, SENTENCES[:2])["removal"]
    assert losses.shape == (2, 2, 6)
    ids = read_text(model.tokenizer, SENTENCES[1], 61).ids

    def loss(changes):
        return cross_entropy(logits_with_hooks("llama", folder, ids, changes)[:-1], torch.tensor(ids[1:]))

    full_loss = loss({})
    for layer, head in ((0, 1), (1, 5)):
        assert_close(losses[1, layer, head], loss({layer: set_heads([head], 0.0)}) - full_loss, rtol=1e-4, atol=1e-5)
    assert losses[1].abs().min() > 0, "every head does something"


def test_enough_sentences_leave_others_open(folder):
    lines = SENTENCES[:1] * (LINES + 1)
    losses = score_removal(open_folder(folder), lines)["removal"]
    there = losses.isfinite().all(-1).all(-1)
    assert there.nonzero().flatten().tolist() == removal_lines(len(lines)) and there.sum() == LINES


def test_an_encoder_has_no_next_token():
    assert score_removal(load("all-MiniLM-L6-v2"), SENTENCES[:1]) == {}
