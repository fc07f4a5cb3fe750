"""Q and k of a long text, against the ordinary capture of the same text, which holds every matrix."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import TEXT
from viz.cancellation import checked_by
from viz.core.heads import HeadWeights
from viz.core.long.rows import weights_of_rows
from viz.core.spec import AttentionSpec
from viz.errors import ModelError
from viz.models import attention_interface
from viz.models.capture import capture_tokens, seeded
from viz.models.long.capture import LARGEST, _rounded, long_capture, long_seeded
from viz.models.tokens import read_text, split_words

PLAIN = ("llama", "qwen2", "gpt2", "gpt_bigcode", "bert", "roberta")


def tokens_of(model):
    return read_text(model.tokenizer, TEXT, 23)


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_kept_is_what_the_ordinary_capture_keeps_but_for_rounding(loaded, name):
    model = loaded(name)
    tokens = tokens_of(model)
    done = []
    found, whole = long_capture(model, tokens, done.append), capture_tokens(model, tokens)
    assert done == [1, 2]
    assert (found.n_heads, found.n_kv_heads) == (whole.n_heads, whole.n_kv_heads)
    assert found.causal is (model.layers[0].layout.stack == "decoder")
    for i, (layer, call) in enumerate(zip(found.layers, whole.calls, strict=True)):
        assert layer.is_rounded
        assert layer.scale == call.options["scale"]
        assert_close(layer.q.float(), call.q, rtol=2e-3, atol=1e-5)
        assert_close(layer.k.float(), call.k, rtol=2e-3, atol=1e-5)
        assert_close(layer.witness, whole.layer(i).weights[:, found.witness_at], rtol=1e-4, atol=1e-6)


def test_rounding_moves_no_weight_farther_than_is_said(loaded):
    model = loaded("llama")
    found = long_capture(model, tokens_of(model))
    at = torch.tensor([found.witness_at])
    for layer, kept in enumerate(found.layers):
        for head in range(found.n_heads):
            rounded = weights_of_rows(*found.head(layer, head), at, **found.options(layer))[0]
            off, most = (rounded - kept.witness[head]).abs(), found.most_off(layer, head, found.witness_at)
            assert (off <= most + 1e-7).all()
            assert 0 < off.max() < most.max() < 0.02


def test_numbers_too_large_for_half_precision_are_kept_in_full():
    small, large = torch.tensor([1.0, 3.0]), torch.tensor([1.0, LARGEST])
    assert [kept.dtype for kept in _rounded(small, small)] == [torch.float16] * 2
    assert [kept.dtype for kept in _rounded(small, large)] == [torch.float32] * 2
    assert _rounded(large)[0] is not large, "a copy: what the model holds goes when its pass is over"


@pytest.mark.parametrize("name", ["mistral", "gemma2", "t5", "bart"])
def test_what_q_and_k_alone_do_not_say_is_refused(loaded, name):
    model = loaded(name)
    with pytest.raises(ModelError) as refusal:
        long_capture(model, tokens_of(model))
    assert refusal.value.code == ("streamed_pair" if name in ("t5", "bart") else "streamed")


def test_the_ordinary_attention_is_never_called_and_nothing_of_a_long_pass_stays(loaded, monkeypatch):
    model = loaded("llama")
    before = capture_tokens(model, tokens_of(model)).final
    with monkeypatch.context() as patch:
        patch.setattr(attention_interface, "attend", lambda *_, **__: pytest.fail("a matrix of all weights"))
        long_capture(model, tokens_of(model))
    assert_close(capture_tokens(model, tokens_of(model)).final, before, rtol=0, atol=0)


def test_it_can_be_stopped_between_layers(loaded):
    def stop():
        raise InterruptedError

    model = loaded("llama")
    with pytest.raises(InterruptedError), checked_by(stop):
        long_capture(model, tokens_of(model))


def test_seeded_heads_are_those_of_the_other_pages():
    tokens, spec = split_words(TEXT, 50), AttentionSpec(d_model=12, n_heads=3, n_kv_heads=1)
    x = torch.randn(len(tokens.ids), 12, generator=torch.Generator().manual_seed(0))
    weights = HeadWeights.random(spec, seed=5)
    found, call = long_seeded(tokens, x, weights), seeded(tokens, x, weights).calls[0]
    assert_close((found.layers[0].q, found.layers[0].k), (call.q, call.k), rtol=0, atol=0)
    assert not found.layers[0].is_rounded and not found.most_off(0, 2, 3).any()
    assert found.head(0, 2)[1].data_ptr() == found.layers[0].k.data_ptr(), "three heads share one key"
