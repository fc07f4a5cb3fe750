"""One row by a model's own layer against the same row of the trace that pages show, for every family."""

import pytest
from torch.testing import assert_close

from tests import checkpoints
from tests.models.conftest import Checkpoint
from viz.core.analysis.checks import rounding
from viz.models import LoadedModel
from viz.models.capture import Capture, capture
from viz.models.recount.own_attention import (
    has_own_attention,
    own_map,
    own_row,
    own_state_without,
)
from viz.models.recount.token_labels import wrong_labels, wrong_numbers

NAMES = [*checkpoints.FAMILIES, *checkpoints.MORE]


def assert_rows_agree(model: LoadedModel, seen: Capture) -> None:
    """Hold a row of each layer to the model's own; the next head and the next row are others."""
    n = len(seen.tokens.ids)
    for layer in range(seen.n_layers):
        head, row = (3 * layer + 1) % seen.n_heads, n - 2 - layer % 3
        trace = seen.multi_head(layer)
        weights, output = own_row(model, seen, layer, head, row)
        assert_close(weights, trace.weights[head, row], atol=rounding(trace.q, trace.k), rtol=0)
        assert_close(output, trace.output[row], atol=2e-4, rtol=1e-4)
        assert (output - trace.output[row - 1]).abs().max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_own_row_every_family_equals_trace(name: str, checkpoint: Checkpoint):
    """The copy's own attention sees what the trace shows, on a capture with states and on one without."""
    model = checkpoints.open_folder(checkpoint(name))
    assert has_own_attention(model)
    seen = capture(model, checkpoints.TEXT, max_tokens=24)
    assert_rows_agree(model, seen)
    assert not wrong_labels(model.tokenizer, seen.tokens.ids, seen.tokens.labels)
    assert not wrong_numbers(model.tokenizer, checkpoints.TEXT, seen.tokens.ids, seen.tokens.dropped)
    whole = Capture(tokens=seen.tokens, stacks=seen.stacks, final=seen.final, target=seen.target)
    weights, _ = own_row(model, seen, seen.n_layers - 1, 0, 3)
    again, _ = own_row(model, whole, seen.n_layers - 1, 0, 3)
    assert_close(weights, again, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", NAMES)
def test_own_state_head_off_equals_capture(name: str, checkpoint: Checkpoint):
    """A layer without a head hands on what a whole pass without it has behind that layer, the last one included."""
    model = checkpoints.open_folder(checkpoint(name))
    seen = capture(model, checkpoints.TEXT, max_tokens=24)
    stack = model.layers[0].layout.stack
    for layer in range(seen.n_layers):
        without = capture(model, checkpoints.TEXT, max_tokens=24, heads_off=frozenset({(layer, 1)}))
        found = own_state_without(model, seen, layer, [1])
        assert found is not None
        assert_close(found, without.states[stack][seen.number(layer) + 1], atol=2e-4, rtol=1e-4)
        assert (seen.states[stack][seen.number(layer) + 1] - found).abs().max() > 1e-3
    trace = seen.layer(seen.n_layers - 1)
    own = own_map(model, seen.tokens.ids, seen.n_layers - 1, 2)
    assert_close(own, trace.weights[2], atol=rounding(trace.q, trace.k), rtol=0)
