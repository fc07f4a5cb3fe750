"""One row by a model's own layer against the same row of the trace that pages show, for every family."""

import gc
import weakref
from pathlib import Path

import pytest
from torch.testing import assert_close

from tests import checkpoints
from tests.models.conftest import FamilyLoader
from viz.core.analysis.checks import rounding
from viz.models import LoadedModel
from viz.models.capture import Capture, capture
from viz.models.recount.own_attention import (
    has_own_attention,
    own_map,
    own_row,
    own_state_without,
    twin,
)
from viz.models.recount.token_labels import wrong_labels, wrong_numbers

NAMES = [*checkpoints.FAMILIES, *(pytest.param(name, marks=pytest.mark.long) for name in checkpoints.MORE)]


def assert_rows_agree(model: LoadedModel, text_capture: Capture) -> None:
    """Assert that a row of every layer equals the model's own, and that the next head and row differ."""
    n = len(text_capture.tokens.ids)
    for layer in range(text_capture.n_layers):
        head, row = (3 * layer + 1) % text_capture.n_heads, n - 2 - layer % 3
        trace = text_capture.multi_head(layer)
        weights, output = own_row(model, text_capture, layer, head, row)
        assert_close(weights, trace.weights[head, row], atol=rounding(trace.q, trace.k), rtol=0)
        assert_close(output, trace.output[row], atol=2e-4, rtol=1e-4)
        assert (output - trace.output[row - 1]).abs().max() > 1e-3


def assert_states_agree(model: LoadedModel, text_capture: Capture) -> None:
    """Assert that a layer without a head hands on what a whole pass without it has behind it, the last one included."""
    stack = model.layers[0].layout.stack
    for layer in range(text_capture.n_layers):
        without = capture(model, checkpoints.TEXT, max_tokens=24, heads_off=frozenset({(layer, 1)}))
        state = own_state_without(model, text_capture, layer, [1])
        assert state is not None
        assert_close(state, without.states[stack][model.layers[layer].block + 1], atol=2e-4, rtol=1e-4)
        assert (text_capture.states[stack][model.layers[layer].block + 1] - state).abs().max() > 1e-3


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_twin_is_freed_with_model(name: str, tmp_path: Path):
    """Nobody has to collect garbage for it: what is alive as another model is loaded is never looked through."""
    model = checkpoints.open_folder(checkpoints.save(name, tmp_path))
    text_capture = capture(model, checkpoints.TEXT, max_tokens=24)
    own_row(model, text_capture, 0, 0, 3)
    tensors = [weakref.ref(tensor) for tensor in twin(model).model.parameters()]
    assert tensors and all(tensor() is not None for tensor in tensors)
    gc.collect()
    gc.disable()
    try:
        del model, text_capture
        assert all(tensor() is None for tensor in tensors)
    finally:
        gc.enable()


@pytest.mark.parametrize("name", NAMES)
def test_own_attention_every_family_equals_trace(name: str, load_family: FamilyLoader):
    """The copy's own attention sees what the trace shows, on a capture with states and on one without."""
    model = load_family(name)
    assert has_own_attention(model)
    text_capture = capture(model, checkpoints.TEXT, max_tokens=24)
    assert_rows_agree(model, text_capture)
    assert_states_agree(model, text_capture)
    assert not wrong_labels(model.tokenizer, text_capture.tokens.ids, text_capture.tokens.labels)
    assert not wrong_numbers(model.tokenizer, checkpoints.TEXT, text_capture.tokens.ids, text_capture.tokens.n_excess)
    full_capture = Capture(
        tokens=text_capture.tokens, stacks=text_capture.stacks, final=text_capture.final, target=text_capture.target
    )
    weights, _ = own_row(model, text_capture, text_capture.n_layers - 1, 0, 3)
    again, _ = own_row(model, full_capture, text_capture.n_layers - 1, 0, 3)
    assert_close(weights, again, atol=1e-5, rtol=0)
    trace = text_capture.layer(text_capture.n_layers - 1)
    own_weights = own_map(model, text_capture.tokens.ids, text_capture.n_layers - 1, 2)
    assert_close(own_weights, trace.weights[2], atol=rounding(trace.q, trace.k), rtol=0)
