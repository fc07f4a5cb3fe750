"""Models with other position vectors, against transformers with a modified table."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import TEXT
from viz.models import ModelError, capture
from viz.models.capture import capture_tokens
from viz.models.positions import capture_placed, first, reorder, row_length
from viz.models.tokens import Tokens, read_text, split_words

TABLES = ["bert", "distilbert", "gpt2", "gpt_bigcode", "bart", "marian"]
NO_TABLE = ["llama", "gemma2", "t5"]


@pytest.mark.parametrize("family", TABLES)
def test_other_table_equals_modified_model(load_family, family):
    """The reference changes the parameter itself, on a copy."""
    model = load_family(family)
    tokens = read_text(model.tokenizer, TEXT, model.max_tokens)
    n, own_table = len(tokens.ids), model.positions()
    table = torch.randn(own_table.shape, generator=torch.Generator().manual_seed(5))
    first_alone = capture_placed(model, tokens, table[:n], only_first=True)
    placed_capture = capture_placed(model, tokens, table[:n])
    assert first_alone.stacks.keys() == {next(iter(placed_capture.stacks))} and first_alone.n_layers == 1
    for name in ("q", "k", "v", "x"):
        assert torch.equal(getattr(first_alone.calls[0], name), getattr(placed_capture.calls[0], name))
    original = own_table.clone()
    module = model.model.base_model.get_submodule(model.layers[0].layout.positions)
    parameter = module.weight[getattr(module, "offset", 0) :]
    try:
        parameter.copy_(table)
        reference = capture(model, TEXT)
    finally:
        parameter.copy_(original)
    for i in range(reference.n_layers):
        assert_close(placed_capture.layer(i).weights, reference.layer(i).weights, atol=5e-5, rtol=0)
    assert (placed_capture.layer(0).weights - capture(model, TEXT).layer(0).weights).abs().max() > 0.01


@pytest.mark.parametrize("family", NO_TABLE)
def test_models_without_table_run(load_family, family):
    model = load_family(family)
    assert model.positions() is None
    tokens = read_text(model.tokenizer, TEXT, model.max_tokens)
    nothing = torch.zeros(len(tokens.ids), model.model.config.hidden_size)
    for only_first in (True, False):
        placed_capture = capture_placed(model, tokens, nothing, only_first=only_first)
        assert_close(placed_capture.layer(0).weights, capture(model, TEXT).layer(0).weights, atol=2e-5, rtol=0)


def test_reorder_and_first():
    tokens = split_words("one two three four", 9)
    reordered = reorder(tokens, [2, 0, 3, 1])
    assert reordered.labels == ("three", "one", "four", "two")
    assert reordered.ids == tuple(tokens.ids[i] for i in (2, 0, 3, 1))
    assert reordered.words == (0, 1, 2, 3)
    cut = first(tokens, 3)
    assert cut.labels == ("one", "two", "three")
    assert cut.n_excess == 1
    assert first(tokens, 99) == tokens


def test_row_length():
    table = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    assert row_length(torch.ones(5, 2), table) == 3.0
    assert row_length(torch.full((5, 2), 3.0), None) == pytest.approx(3.0)


@pytest.mark.parametrize("name", ["ctrl", "kosmos_2_5_text_model", "tipsv2_text_model", "m2m_100", "gpt2", "roberta"])
def test_positions_of_formulas_are_taken_away(load_family, name):
    """Without positions one word is the same at every place; with the model's own it is not."""
    model = load_family(name)
    ids = capture(model, TEXT).tokens.ids[:1] * 6
    tokens = Tokens(ids=ids, labels=("a",) * 6, special=(False,) * 6, words=tuple(range(6)))
    without, own_places = (c.calls[0].x for c in (capture_placed(model, tokens, torch.zeros(6, model.width)),
                                              capture_tokens(model, tokens)))  # fmt: skip
    assert_close(without, without[:1].expand_as(without), atol=1e-5, rtol=0)
    assert not torch.allclose(own_places, own_places[:1].expand_as(own_places), atol=1e-3)


def test_model_without_vectors_is_refused(load_family):
    """CLIP's text part asks for tokens, though vectors stand in their place."""
    model = load_family("clip_text_model")
    with pytest.raises(ModelError) as error:
        capture_placed(model, capture(model, TEXT).tokens, torch.zeros(1, model.width))
    assert error.value.code == "no_vectors"
