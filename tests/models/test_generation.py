"""Text generation: the same words as transformers' own eager model, and the same maps as in one pass."""

from dataclasses import replace
from inspect import signature

import pytest
import torch
from torch.testing import assert_close
from transformers.utils import ModelOutput

from tests.checkpoints import MORE, TEXT, TWO_SEQUENCES, eager, open_folder, save
from viz.errors import ModelError
from viz.models.capture import capture_tokens
from viz.models.generation import continue_text, write
from viz.models.tokens import read_text

STEPS = 7


@pytest.mark.parametrize("name", TWO_SEQUENCES)
def test_written_tokens_maximise_eager_logits(name, load_family, checkpoint):
    model = load_family(name)
    writing = write(model, TEXT, max_new=STEPS)
    reference, ids = eager(name, checkpoint(name)), [model.model.config.decoder_start_token_id]
    for _ in writing.target.ids:
        with torch.inference_mode():
            logits = reference(
                input_ids=torch.tensor([writing.tokens.ids]), decoder_input_ids=torch.tensor([ids]), use_cache=False
            ).logits[0, -1]  # fmt: skip
        ids.append(int(logits.argmax()))
    assert writing.target.ids == tuple(ids[1:])
    assert 1 <= len(ids) - 1 <= STEPS
    assert len(writing.target.labels) == len(writing.target.special) == len(ids) - 1


@pytest.mark.parametrize("name", TWO_SEQUENCES)
def test_stacked_rows_equal_one_pass(name, load_family):
    writing = write(load_family(name), TEXT, max_new=STEPS)
    at_once = capture_tokens(load_family(name), writing.tokens, target=writing.target)
    n = len(writing.target.ids)
    for stack, columns in (("cross", len(writing.tokens.ids)), ("decoder", n)):
        assert len(writing.rows[stack]) == 3
        for i, rows in enumerate(writing.rows[stack]):
            assert rows.shape == (5, n, columns)
            assert_close(rows, at_once.layer(i, stack=stack).weights, atol=2e-5, rtol=0)
            assert_close(rows.sum(-1), torch.ones(5, n))
    for rows in writing.rows["decoder"]:
        assert rows.triu(1).eq(0).all()


def test_windowed_decoder_rows_equal_one_pass(tmp_path):
    """A decoder whose window is shorter than what it writes: its cache has dropped the oldest keys by then."""
    decoder = MORE["t5gemma"].sizes["decoder"] | {"sliding_window": 3}
    model = open_folder(save("t5gemma", tmp_path / "t5gemma", decoder=decoder))
    writing = write(model, TEXT, max_new=STEPS)
    n = len(writing.target.ids)
    assert n > 3
    at_once = capture_tokens(model, writing.tokens, target=writing.target)
    allowed = [call.options["allowed"].expand(1, n, n)[0] for call in at_once.stacks["decoder"]]
    assert any(bool(mask.sum(-1).max() == 3) for mask in allowed), "a layer with a window"
    for i, rows in enumerate(writing.rows["decoder"]):
        assert_close(rows, at_once.layer(i, stack="decoder").weights, atol=2e-5, rtol=0)


def test_writing_stops_at_end_and_limit(load_family, checkpoint, monkeypatch):
    model = load_family("bart")
    first = write(model, TEXT, max_new=3)
    assert len(first.target.ids) == 3
    monkeypatch.setattr(model.model.generation_config, "eos_token_id", [5, first.target.ids[0]])
    assert len(write(model, TEXT, max_new=3).target.ids) == 1


def test_missing_vocabulary_head_raises_model_error(load_family, monkeypatch):
    model = load_family("bart")
    forward = type(model.model).forward

    def forward_without_logits(self, **inputs):
        result = forward(self, **inputs)
        result.logits = None
        return result

    monkeypatch.setattr(type(model.model), "forward", forward_without_logits)
    with pytest.raises(ModelError) as error:
        write(model, TEXT, max_new=2)
    assert error.value.code == "silent"


def test_an_empty_text_is_refused(load_family):
    with pytest.raises(ModelError) as error:
        write(load_family("marian"), "", max_new=2)
    assert error.value.code == "empty"


DECODERS = ("llama", "gpt2", "mistral", "gemma2")


def start(model):
    return read_text(model.tokenizer, TEXT, 11).ids


@pytest.mark.parametrize("name", DECODERS)
def test_continuation_maximises_eager_logits(name, load_family, checkpoint):
    model, reference = load_family(name), eager(name, checkpoint(name))
    ids = list(start(model))
    for token in continue_text(model, tuple(ids), steps=STEPS):
        with torch.inference_mode():
            logits = reference(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
        assert float(logits[token]) == pytest.approx(float(logits.max()), abs=1e-3)
        ids.append(token)
    assert len(ids) == 11 + STEPS


class OldDecoder(torch.nn.Module):
    """A decoder as transformers before 5.24 has it."""

    name = "past_key_values"

    def __init__(self, model):
        super().__init__()
        self.model, self.cache_given = model, []
        self.config, self.generation_config = model.config, model.generation_config

    def forward(self, input_ids, past_key_values=None, **options):
        return self.answer(input_ids, past_key_values, options)

    def answer(self, ids, past, options):
        assert not {"cache", "past_key_values"} & options.keys()
        cache_name = "cache" if "cache" in signature(self.model.forward).parameters else "past_key_values"
        self.cache_given.append(past is not None)
        result = self.model(input_ids=ids, **{cache_name: past}, **options)
        return ModelOutput(logits=result.logits, **{self.name: result[cache_name]})


class NewDecoder(OldDecoder):
    """A decoder as transformers from 5.40 on has it."""

    name = "cache"

    def forward(self, input_ids, cache=None, **options):
        return self.answer(input_ids, cache, options)


@pytest.mark.parametrize("kind", [OldDecoder, NewDecoder])
def test_cache_has_either_name(load_family, kind):
    """It is passed at every step but the first, by the parameter name of the model."""
    model = load_family("llama")
    wrapped = replace(model, model=kind(model.model))
    assert continue_text(wrapped, start(model), steps=3) == continue_text(model, start(model), steps=3)
    assert wrapped.model.cache_given == [False, True, True]


def test_sampling_depends_on_seed_and_place(load_family):
    model = load_family("llama")
    first = continue_text(model, start(model), steps=6, temperature=1.5, seed=3)
    beginning = continue_text(model, start(model), steps=2, temperature=1.5, seed=3)
    assert beginning + continue_text(model, start(model) + beginning, steps=4, temperature=1.5, seed=3) == first
    continuations = {continue_text(model, start(model), steps=6, temperature=1.5, seed=seed) for seed in range(4)}
    assert len(continuations) == 4


def test_sampling_follows_model_probabilities(load_family):
    model = load_family("gpt2")
    ids = start(model)
    with torch.inference_mode():
        probabilities = (model.model(torch.tensor([ids])).logits[0, -1] / 0.5).softmax(-1)
    samples = [continue_text(model, ids, steps=1, temperature=0.5, seed=seed)[0] for seed in range(101)]
    best = int(probabilities.argmax())
    assert samples.count(best) / 101 == pytest.approx(float(probabilities[best]), abs=0.12)


def test_continuation_stops_at_end_and_positions(load_family, monkeypatch):
    model = load_family("gpt2")
    continuation = continue_text(model, start(model), steps=3)
    monkeypatch.setattr(model.model.generation_config, "eos_token_id", continuation[1])
    assert continue_text(model, start(model), steps=3) == continuation[: continuation.index(continuation[1])]
    monkeypatch.setattr(model.model.generation_config, "eos_token_id", None)
    assert len(continue_text(model, start(model), steps=99)) == 61 - 11
