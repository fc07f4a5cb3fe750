"""The default model has the values stated on the pages (pinned), and is the published file."""

from pathlib import Path

import pytest
import torch
import transformers
from torch.testing import assert_close

from tests.models.test_head_notes import IT
from viz.lessons.lesson_file import lesson_named
from viz.models import Capture, LoadedModel, capture
from viz.models.registry import entries

TIRED = "The animal didn't cross the street because it was too tired."


def near(value: float) -> object:
    """The rounding of a pinned value and of another machine's float32."""
    return pytest.approx(value, abs=0.01)


def weight(text_capture: Capture, layer: int, head: int, query: str, key: str) -> float:
    """The weight of a query token on a key token."""
    row, column = map(text_capture.tokens.labels.index, (query, key))
    return float(text_capture.layer(layer).weights[head, row, column])


@pytest.fixture(scope="module")
def tired(minilm: LoadedModel) -> Capture:
    return capture(minilm, TIRED)


def test_the_tokens_of_the_first_sentence(tired):
    labels = "[CLS] the animal didn ' t cross the street because it was too tired . [SEP]"
    assert tired.tokens.labels == tuple(labels.split())
    assert tired.tokens.special == (True, *[False] * 14, True)
    assert tired.tokens.n_excess == 0


def test_p1_pronoun_attends_to_animal(tired):
    assert weight(tired, 3, 1, "it", "animal") == near(0.677)
    assert weight(tired, 3, 1, "it", "street") == near(0.050)
    assert weight(tired, 3, 1, "it", "[CLS]") == near(0.102)


def test_model_is_published_file(minilm):
    assert (minilm.n_layers, len(minilm.layers)) == (6, 6)
    assert minilm.max_tokens == 512
    assert minilm.layers[0].layout.family == "bert"
    assert sum(parameter.numel() for parameter in minilm.model.parameters()) == entries()[0].parameters == 22_713_216
    folder = entries()[0].local_folder()
    assert folder is not None
    assert round((folder / "model.safetensors").stat().st_size / 1e6, 1) == entries()[0].size_mb


def test_model_with_attend_equals_eager(minilm, tired):
    folder = Path(str(entries()[0].local_folder()))
    reference = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        result = reference(torch.tensor([tired.tokens.ids]), output_attentions=True)
    assert_close(tired.final, result.last_hidden_state[0], atol=1e-5, rtol=1e-5)
    for i, weights in enumerate(result.attentions):
        assert_close(tired.layer(i).weights, weights[0], atol=1e-5, rtol=0)


def test_model_is_frozen_for_sharing(minilm):
    assert not minilm.model.training
    assert not any(parameter.requires_grad for parameter in minilm.model.parameters())


def test_embeddings_are_rows_of_table(minilm):
    table = dict(minilm.model.named_parameters())["embeddings.word_embeddings.weight"]
    assert_close(minilm.embeddings([101, 7, 7]), table[[101, 7, 7]], atol=0, rtol=0)


def test_lesson_counts_subjects_of_it(minilm):
    """Notes of two lessons say in how many of twelve sentences the head prefers the subject."""
    captures = [(capture(minilm, text), subject, noun) for text, subject, noun in IT]
    n = sum(weight(read, 3, 1, "it", subject) > weight(read, 3, 1, "it", noun) for read, subject, noun in captures)
    note = lesson_named("does_it_explain").steps[4].note
    assert (n, len(IT)) == (8, 12)
    assert "in eight of twelve such sentences" in lesson_named("ten_minutes").steps[3].note["en"]
    assert "Over twelve sentences" in note["en"] and "in eight" in note["en"] and "有八句" in note["zh"]


def test_lesson_hint_of_one_word_helps(minilm):
    """The hint "Change one word of the second half" leads below the lesson's limit with most words."""
    ask = lesson_named("does_it_explain").steps[3].ask
    texts = [TIRED.replace("tired", word) for word in ("wide", "long", "narrow", "loud", "dark", "cold")]
    below = ask.arguments["en"]["below"]
    assert "Change one word of the second half" in ask.hint["en"]
    assert all(weight(capture(minilm, text), 3, 1, "it", "animal") < below for text in texts)
