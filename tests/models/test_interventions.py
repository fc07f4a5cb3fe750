"""Heads switched off and swapped, against the eager model with the input to W_O modified by a hook."""

from dataclasses import replace
from threading import Thread

import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, TEXT, eager
from viz.core.analysis.attribution import attribute
from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.kv_sharing import induction
from viz.models.capture import capture_tokens
from viz.models.interventions import by_layer, patch_layer, without
from viz.models.stream import column, final_norm, logits_of, normalize, read_stream, split_stream, unembed
from viz.models.tokens import Tokens, read_text, word_token

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


def test_no_head_switched_off_changes_nothing(readings):
    _, model, _, reading, _ = readings
    assert without(reading, (), mean=False) == {}
    assert_close(logits_of(model, reading.tokens.ids, {}), logits_of(model, reading.tokens.ids))


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


def test_all_heads_off_equals_zero_wo(readings):
    name, model, folder, reading, _ = readings
    family, ids = FAMILIES[name], reading.tokens.ids
    ours = logits_of(model, ids, without(reading, {(1, head) for head in range(family.n_heads)}, mean=False))
    reference = eager(name, folder)
    with torch.no_grad():
        dict(reference.named_modules())[family.outputs["decoder"].format(i=1)].weight.zero_()
        expected = reference(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    assert_close(ours, expected, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("layer", [0, 1])
def test_swapped_batch_equals_single_runs(readings, layer):
    name, model, folder, reading, swapped_reading = readings
    patched = unembed(model, normalize(model, patch_layer(model, reading, swapped_reading, layer, N - 1)))
    for head in range(FAMILIES[name].n_heads):
        changes = {layer: set_heads([head], swapped_reading.heads[layer][:, [head]])}
        expected = logits_with_hooks(name, folder, reading.tokens.ids, changes)[-1]
        assert_close(patched[head], expected, atol=1e-3, rtol=1e-4)


def test_swap_with_same_text_changes_nothing(readings):
    _, model, _, reading, _ = readings
    for layer in range(2):
        stream = patch_layer(model, reading, reading, layer, 3)
        assert_close(stream, reading.states[-1, 3].expand_as(stream), atol=1e-4, rtol=1e-4)


def test_token_before_change_is_unaffected(load_family):
    """A decoder attends to earlier tokens only."""
    model = load_family("llama")
    reading = read_residual_stream(model, TEXT)
    ids = reading.tokens.ids
    changed_reading = read_stream(model, replace(reading.tokens, ids=(*ids[:6], *(i + 1 for i in ids[6:]))))
    before, after = (patch_layer(model, reading, changed_reading, 0, at) for at in (5, 6))
    assert_close(before, reading.states[-1, 5].expand_as(before), atol=1e-4, rtol=1e-4)
    assert (after - reading.states[-1, 6]).abs().max() > 0.1


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


def test_heads_by_layer():
    assert by_layer({(3, 1), (0, 2), (3, 0)}) == {0: [2], 3: [0, 1]}


class TestSmolLM:
    """Recorded results of the packaged model: it continues with Mary, and these heads cause it."""

    JOHN = "When Mary and John went to the store, John gave a drink to"
    MARY = "When Mary and John went to the store, Mary gave a drink to"

    def read(self, model, text):
        return read_stream(model, read_text(model.tokenizer, text, 32))

    def words(self, model):
        return [word_token(model.tokenizer, word) for word in ("Mary", "John")]

    def difference(self, model, stream):
        mary, john = self.words(model)
        logits = unembed(model, normalize(model, stream))
        return logits[:, mary] - logits[:, john]

    def test_the_capital_of_france(self, smollm2):
        tokens = read_text(smollm2.tokenizer, "The capital of France is", 32)
        chances = logits_of(smollm2, tokens.ids)[-1].softmax(-1)
        assert chances[word_token(smollm2.tokenizer, "Paris")] == pytest.approx(0.77, abs=0.01)
        assert chances.argmax() == word_token(smollm2.tokenizer, "Paris")

    @pytest.mark.parametrize(("text", "difference", "chance"), [(JOHN, 6.12, 0.923), (MARY, -5.49, 0.003)])
    def test_continuation_prefers_recipient(self, smollm2, text, difference, chance):
        reading, (mary, _) = self.read(smollm2, text), self.words(smollm2)
        assert len(reading.tokens.ids) == 14
        assert self.difference(smollm2, reading.states[-1])[-1] == pytest.approx(difference, abs=0.01)
        logits = logits_of(smollm2, reading.tokens.ids)
        assert logits[-1].softmax(-1)[mary] == pytest.approx(chance, abs=0.001)

    def test_attribution_names_writing_heads(self, smollm2):
        reading, (mary, john) = self.read(smollm2, self.JOHN), self.words(smollm2)
        (u, _), (v, _) = column(smollm2, mary), column(smollm2, john)
        weights, centred = final_norm(smollm2)
        attribution = attribute(split_stream(smollm2, reading, -1), u - v, weights, centred=centred)
        difference = float(self.difference(smollm2, reading.states[-1])[-1])
        assert attribution.total == pytest.approx(difference, abs=1e-4)
        best = sorted(attribution.parts(), key=lambda part: -abs(part[3]))[:10]
        expected = {
            ("head", 23, 3): 2.86, ("head", 29, 1): 1.73, ("head", 24, 4): -1.07, ("head", 29, 0): -1.01,
            ("head", 23, 0): 0.82, ("head", 23, 1): 0.78, ("feed_forward", 28, -1): 1.83,
            ("feed_forward", 29, -1): 1.38, ("feed_forward", 26, -1): 1.05,
        }  # fmt: skip
        values = {part[:3]: part[3] for part in best}
        assert {name: values[name] for name in expected} == pytest.approx(expected, abs=0.01)

    @pytest.mark.parametrize(
        ("layer", "expected"),
        [(23, {3: -7.08, 0: -1.19}), (29, {1: -3.03, 0: 2.34}), (24, {4: 2.14}), (20, {0: -1.87})],
    )
    def test_swap_changes_difference(self, smollm2, layer, expected):
        reading, mary_reading = self.read(smollm2, self.JOHN), self.read(smollm2, self.MARY)
        before = self.difference(smollm2, reading.states[-1])[-1]
        after = self.difference(smollm2, patch_layer(smollm2, reading, mary_reading, layer, 13))
        assert {head: float(after[head] - before) for head in expected} == pytest.approx(expected, abs=0.02)

    def test_mary_appears_at_the_end(self, smollm2):
        reading, (mary, _) = self.read(smollm2, self.JOHN), self.words(smollm2)
        lens = unembed(smollm2, normalize(smollm2, reading.states[:, -1]))
        the = word_token(smollm2.tokenizer, "the")
        assert lens.argmax(-1)[-3:].tolist() == [the, the, mary]

    def test_copying_previous_token_and_sink_heads(self, smollm2):
        """On 50 random tokens, repeated; the choice of tokens changes a weight by a few hundredths."""
        random_ids = torch.randint(17, 49_152, (50,), generator=torch.Generator().manual_seed(0))
        ids = random_ids.repeat(2)
        loss = cross_entropy(logits_of(smollm2, tuple(ids.tolist()))[:-1], ids[1:], reduction="none")
        assert (float(loss[:49].mean()), float(loss[50:].mean())) == pytest.approx((14.0, 3.2), abs=0.6)
        names = tuple(map(str, ids.tolist()))
        tokens = Tokens(ids=tuple(ids.tolist()), labels=names, special=(False,) * 100, words=tuple(range(100)))
        text_capture = capture_tokens(smollm2, tokens)
        maps = torch.stack([text_capture.layer(i).weights for i in range(text_capture.n_layers)])
        copying = torch.stack([induction(weights, ids) for weights in maps])
        back = weight_at_offset(maps, -1).mean(-1)
        copiers = {
            (18, 6): 0.92, (17, 3): 0.78, (17, 4): 0.71, (17, 5): 0.62, (18, 7): 0.59, (23, 2): 0.51, (23, 7): 0.48,
        }  # fmt: skip
        lookers = {(16, 0): 0.89, (11, 1): 0.84, (2, 1): 0.73, (1, 2): 0.70, (19, 3): 0.70}
        for scores, expected in ((copying, copiers), (back, lookers)):
            best = {divmod(int(i), 9) for i in scores.flatten().topk(len(expected)).indices}
            assert best == expected.keys()
            assert {head: float(scores[head]) for head in expected} == pytest.approx(expected, abs=0.06)
        resting = maps[:, :, 1:, 0].mean((1, 2))
        other_layers = [layer for layer in range(3, 30) if layer not in (10, 11)]
        assert (resting[:3] < 0.3).all()
        assert (resting[[10, 11]] < 0.2).all()
        assert (resting[other_layers] > 0.3).all(), "a sink, without a special token"
