"""Heads switched off and swapped, against the eager model with the input to W_O modified by a hook."""

from threading import Thread

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, TEXT, eager
from viz.models.interventions import patch_layer, without
from viz.models.stream import logits_of, normalize, read_stream, unembed
from viz.models.tokens import read_text, word_token

DECODERS = ("llama", "gpt2", "mistral", "gpt_bigcode")
SWAPPED = "The tired animal crossed the street because it was wide too."
N = 13


def read_residual_stream(model, text):
    tokens = read_text(model.tokenizer, text, N)
    assert len(tokens.ids) == N
    return read_stream(model, tokens)


def logits_with_hooks(name, folder, ids, changes):
    """Return the eager model's logits; ``changes`` has, by layer, a function of the input to its W_O, (T, H, d_v)."""
    model, family = eager(name, folder), FAMILIES[name]
    modules = dict(model.named_modules())

    def change(do):
        def hook(_, args):
            z = args[0].unflatten(-1, (family.n_heads, -1)).clone()
            z[0] = do(z[0])
            return (z.flatten(-2),)

        return hook

    for layer, do in changes.items():
        modules[family.outputs["decoder"].format(i=layer)].register_forward_pre_hook(change(do))
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


def set_heads(heads, values):
    def do(z):
        z[:, heads] = values
        return z

    return do


@pytest.fixture(params=DECODERS, scope="module")
def readings(request, load_family, checkpoint):
    model = load_family(request.param)
    return (
        request.param,
        model,
        checkpoint(request.param),
        read_residual_stream(model, TEXT),
        read_residual_stream(model, SWAPPED),
    )


@pytest.mark.parametrize("mean", [False, True])
def test_any_head_set_off_equals_hook(readings, mean):
    name, model, folder, reading, _ = readings
    heads, ids = frozenset({(0, 1), (1, 0), (1, 4)}), reading.tokens.ids
    ours = logits_of(model, ids, without(reading, heads, mean=mean))
    changes = {
        layer: set_heads(numbers, reading.heads[layer][:, numbers].mean(0) if mean else 0.0)
        for layer, numbers in ((0, [1]), (1, [0, 4]))
    }
    assert_close(ours, logits_with_hooks(name, folder, ids, changes), atol=1e-3, rtol=1e-4)
    assert (ours - logits_of(model, ids)).abs().max() > 0.1


@pytest.mark.parametrize("layer", [0, 1])
def test_swapped_batch_equals_single_runs(readings, layer):
    name, model, folder, reading, swapped_reading = readings
    patched = unembed(model, normalize(model, patch_layer(model, reading, swapped_reading, layer, N - 1)))
    for head in range(FAMILIES[name].n_heads):
        changes = {layer: set_heads([head], swapped_reading.heads[layer][:, [head]])}
        expected = logits_with_hooks(name, folder, reading.tokens.ids, changes)[-1]
        assert_close(patched[head], expected, atol=1e-3, rtol=1e-4)


def test_concurrent_edits_leave_model_unchanged(load_family):
    model = load_family("llama")
    reading, swapped_reading = read_residual_stream(model, TEXT), read_residual_stream(model, SWAPPED)
    ids, edits = reading.tokens.ids, without(reading, {(0, 2), (1, 1)}, mean=False)
    weights = [parameter.clone() for parameter in model.model.parameters()]
    jobs = {
        "plain": lambda: logits_of(model, ids),
        "off": lambda: logits_of(model, ids, edits),
        "swapped": lambda: patch_layer(model, reading, swapped_reading, 0, 4),
    }
    alone = {name: job() for name, job in jobs.items()}
    results = {}
    threads = [
        Thread(target=lambda name=name, k=k: results.__setitem__((name, k), jobs[name]()))
        for name in jobs
        for k in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 9
    for (name, _), result in results.items():
        assert_close(result, alone[name])
    assert all(map(torch.equal, weights, model.model.parameters()))


@pytest.mark.parametrize(("name", "difference", "chance"), [("John", 6.12, 0.923), ("Mary", -5.49, 0.003)])
def test_continuation_prefers_recipient(smollm2, name, difference, chance):
    """Recorded results of the packaged model: who gave the drink is not who gets it."""
    text = f"When Mary and John went to the store, {name} gave a drink to"
    mary, john = (word_token(smollm2.tokenizer, word) for word in ("Mary", "John"))
    reading = read_stream(smollm2, read_text(smollm2.tokenizer, text, 32))
    assert len(reading.tokens.ids) == 14
    last = unembed(smollm2, normalize(smollm2, reading.states[-1]))[-1]
    assert last[mary] - last[john] == pytest.approx(difference, abs=0.01)
    logits = logits_of(smollm2, reading.tokens.ids)
    assert logits[-1].softmax(-1)[mary] == pytest.approx(chance, abs=0.001)
