"""Captures: masks, heads that are off, predictions and several users; test_layout holds each family to its own code."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Barrier

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, TEXT, TWO_SEQUENCES, eager
from tests.models.conftest import FamilyLoader
from viz.models import Capture, ModelError, capture
from viz.models.attention_interface import INTERFACE, install

TARGET = "Paris is old and Paris is big."


@pytest.fixture(scope="session")
def capture_of(load_family: FamilyLoader) -> Callable[[str], Capture]:
    """Return the capture of the same text by family."""
    return cache(lambda name: capture(load_family(name), TEXT, target=TARGET if name in TWO_SEQUENCES else None))


def test_target_is_decoder_input(capture_of, load_family):
    target = capture_of("t5").target
    target_ids = load_family("t5").tokenizer(TARGET).input_ids
    assert target.ids == (0, *target_ids[:-1])
    assert target.labels[0] == "[PAD]" and target.labels[1].startswith("␣")
    assert len(target.labels) == len(target.special) == len(target.words) == len(target.ids)
    assert target.special[0] and target.words[0] != target.words[1]


def test_omitted_target_repeats_text(load_family):
    text_capture = capture(load_family("t5"), TEXT)
    assert text_capture.target.ids[1:] == text_capture.tokens.ids[:-1]


def test_user_mask_is_combined_with_models(capture_of):
    n = len(capture_of("llama").tokens.ids)
    no_first = torch.arange(n).expand(n, n) > 0
    trace = capture_of("llama").layer(0, allowed=no_first)
    assert trace.weights[..., 0].eq(0).all()
    # The first token could see only itself.
    assert trace.weights[:, 0].eq(0).all()
    assert_close(trace.weights[:, 1:].sum(-1), torch.ones(6, n - 1))
    assert trace.weights.triu(1).eq(0).all()
    m = len(capture_of("bert").tokens.ids)
    itself = capture_of("bert").layer(0, allowed=torch.eye(m, dtype=torch.bool)).weights
    assert_close(itself, torch.eye(m).expand(5, -1, -1))


@pytest.mark.parametrize("name", FAMILIES)
def test_head_off_removes_its_contribution(name, load_family, capture_of) -> None:
    model, before = load_family(name), capture_of(name)
    outputs: list[Tensor] = []
    handle = model.layers[1].output.register_forward_hook(lambda _, __, out: outputs.append(out[0]))
    try:
        without = capture(
            model, TEXT, target=TARGET if name in TWO_SEQUENCES else None, heads_off=frozenset({(1, 2), (1, 4)})
        )
    finally:
        handle.remove()
    assert_close(without.calls[0].x, before.calls[0].x)
    assert_close(without.calls[1].x, before.calls[1].x)
    assert_close(without.layer(1).weights, before.layer(1).weights)
    trace = before.multi_head(1)
    assert_close(outputs[0], trace.output - trace.contributions[[2, 4]].sum(0), atol=1e-5, rtol=1e-5)
    assert (without.final - before.final).abs().max() > 1e-2


def test_heads_off_affects_first_stack_only(load_family):
    before, without = (capture(load_family("t5"), TEXT, heads_off=off) for off in (frozenset(), frozenset({(0, 1)})))
    assert_close(without.stacks["decoder"][0].x, before.stacks["decoder"][0].x)
    assert_close(without.stacks["cross"][0].x, before.stacks["cross"][0].x)
    assert (without.stacks["cross"][0].memory - before.stacks["cross"][0].memory).abs().max() > 1e-2


@pytest.mark.parametrize("name", ["gpt2", "gpt_bigcode", "llama", "mistral", "qwen2", "gemma2"])
def test_causal_model_predicts_next_token(name, capture_of, checkpoint):
    (prediction,) = capture_of(name).predictions
    with torch.inference_mode():
        logits = eager(name, checkpoint(name))(input_ids=torch.tensor([capture_of(name).tokens.ids])).logits
    best = logits[0, -1].softmax(-1).topk(8)
    assert prediction.at == len(capture_of(name).tokens.ids) - 1
    assert_close(torch.tensor(prediction.probabilities), best.values, atol=1e-5, rtol=1e-4)
    assert len(prediction.labels) == 8


def test_a_masked_model_fills_each_gap(load_family, checkpoint):
    model = load_family("bert")
    text_capture = capture(model, "the [MASK] was too [MASK].")
    assert text_capture.tokens.labels.count("[MASK]") == 2
    ids = torch.tensor([text_capture.tokens.ids])
    with torch.inference_mode():
        logits = eager("bert", checkpoint("bert"))(input_ids=ids).logits[0]
    for prediction in text_capture.predictions:
        best = logits[prediction.at].softmax(-1).topk(8)
        assert text_capture.tokens.labels[prediction.at] == "[MASK]"
        assert_close(torch.tensor(prediction.probabilities), best.values, atol=1e-5, rtol=1e-4)
    assert len(text_capture.predictions) == 2


def test_no_gap_has_no_prediction(capture_of):
    assert capture_of("bert").predictions == ()
    assert capture_of("t5").predictions == ()


def test_causal_model_with_mask_token_predicts(load_family):
    """A causal model predicts the next token also if its tokenizer has a mask token."""
    (prediction,) = capture(load_family("llama"), "the [MASK] was").predictions
    assert prediction.at > 0


def test_one_token_is_enough(load_family):
    text_capture = capture(load_family("qwen2"), "a")
    assert text_capture.layer(0).weights.tolist() == [[[1.0]]] * 6


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_concurrent_captures_are_independent(name, load_family):
    model = load_family(name)
    texts = [TEXT, "the fox was old.", "Paris", "it was too tired because"]
    alone = [capture(model, text) for text in texts]
    start = Barrier(len(texts))

    def visit(text: str) -> list[Capture]:
        start.wait()
        return [capture(model, text) for _ in range(4)]

    with ThreadPoolExecutor(len(texts)) as pool:
        for expected, captures in zip(alone, pool.map(visit, texts), strict=True):
            for text_capture in captures:
                assert text_capture.tokens == expected.tokens
                for call, expected_call in zip(text_capture.calls, expected.calls, strict=True):
                    assert_close(call.x, expected_call.x)
                    assert_close(call.q, expected_call.q)
                assert_close(text_capture.final, expected.final)


def test_float_mask_is_added_as_bias():
    """Some families hand over 0 and a large negative number instead of True and False."""
    from transformers import AttentionInterface

    install()
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 3, n, 5, generator=generator) for n in (2, 7, 7))
    mask = torch.zeros(1, 1, 2, 7).masked_fill(torch.arange(7) > 4, torch.finfo(torch.float32).min)
    bias = torch.randn(1, 3, 2, 7, generator=generator)
    run = AttentionInterface()[INTERFACE]
    for position_bias, total in ((None, mask), (bias, mask + bias)):
        output, weights = run(torch.nn.Identity(), q, k, v, mask, position_bias=position_bias)
        reference = scaled_dot_product_attention(q, k, v, attn_mask=total)
        assert_close(output.transpose(1, 2), reference, atol=1e-6, rtol=1e-5)
        assert weights[..., 5:].eq(0).all()


@pytest.mark.parametrize("option", ["indices", "something_new"])
def test_unreproducible_attention_is_refused(option):
    from transformers import AttentionInterface

    install()
    q = torch.ones(1, 2, 3, 5)
    with pytest.raises(ModelError, match=option) as error:
        AttentionInterface()[INTERFACE](torch.nn.Identity(), q, q, q, None, **{option: torch.zeros(2)})
    assert error.value.code == "attention"
