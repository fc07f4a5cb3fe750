"""`viz.why`: what it says of models, what it refuses, and that a user's model is left as it was."""

import re

import pytest
import torch
import transformers

import viz
from tests import checkpoints
from viz.models.load import load

FOX = "The quick brown fox jumps over the lazy dog."
TWICE = "the cat saw a red bird and the dog ran home . the cat saw a red"


@pytest.fixture(scope="module")
def minilm():
    model = load("all-MiniLM-L6-v2")
    return model.model, model.tokenizer


@pytest.fixture(scope="module")
def twin():
    model = load("twin-g8")
    return model.model, model.tokenizer


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A small model with transformers' default attention and random weights."""
    folder = checkpoints.save("bert", tmp_path_factory.mktemp("bert"))
    model = transformers.BertForMaskedLM.from_pretrained(folder)
    return model, transformers.AutoTokenizer.from_pretrained(folder)


def test_fox_is_by_place(minilm):
    why = viz.why(*minilm, FOX, layer=0, head=2, query="fox", key="brown")
    assert why.sentence.startswith("'brown' is looked at by place, place × place: 17.1 of 19.2;")
    assert why.is_confirmed and why.exchanged < 0.05 and why.weight > 0.99
    for side in ("query", "key"):
        amounts = [amount for _, part_side, amount in why.parts if part_side == side]
        assert sum(amounts) == pytest.approx(why.split.contrast, abs=1e-6)


def test_induction_is_by_head(twin):
    why = viz.why(*twin, TWICE, layer=1, head=7, query=16, key="bird")
    assert why.sentence.startswith("'bird' is looked at by head 0.0 at the key: 13.2 of 17.4;")
    assert why.is_confirmed


def test_it_has_no_single_part(minilm):
    why = viz.why(*minilm, checkpoints.TEXT, layer=3, head=1, query="it", key="animal")
    assert why.sentence == "No single part: the largest, feed-forward 2 at the query, has 2.1 of 4.6."
    assert why.cause is None and not why.is_confirmed


def test_table_escapes_text(minilm):
    """The words of a text are shown as they are, and the lines of each side add up to the contrast."""
    why = viz.why(*minilm, "red < <b>bold</b> green", layer=0, head=2, query=3, key=2)
    assert why.key == "<" and "'<'" in repr(why)
    page = why._repr_html_()
    tags = set(re.findall(r"<(/?\w+)", page))
    assert tags <= {f"{end}{tag}" for end in ("", "/") for tag in ("p", "strong", "br", "table", "tr", "th", "td")}
    cells = re.findall(r"<td>(query|key)</td><td>([^<]*)</td>", page)
    for side in ("query", "key"):
        total = sum(float(amount) for at, amount in cells if at == side)
        assert total == pytest.approx(why.split.contrast, abs=0.05)


def hooks_of(model):
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())


@pytest.mark.parametrize("key", [3, "nothing of the kind"])
def test_model_is_left_as_it_was(bert, key):
    """Its attention, mode and hooks, also where the edge is refused."""
    model, tokenizer = bert
    model.train()
    before = model.config._attn_implementation, hooks_of(model)
    try:
        viz.why(model, tokenizer, checkpoints.TEXT, layer=1, head=2, query=5, key=key)
    except ValueError as error:
        assert "no place" in str(error) or "too little" in str(error)
    assert (model.config._attn_implementation, hooks_of(model), model.training) == (*before, True)


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"layer": 6}, "layer=6 is none of the 6"),
        ({"head": -1}, "head=-1 is none of the 12"),
        ({"query": "the"}, "is at 1 and 7: name one token"),
        ({"key": 99}, "is at no place"),
        ({"key": "[CLS]"}, "is a special token"),
        ({"text": "fox"}, "no other word"),
        ({"query": "dog", "key": "fox"}, "too little to explain"),
        ({"text": ["a", "pair"]}, "reads one text"),
        ({"text": "fox " * 600}, "tokens more than can be split"),
    ],
)
def test_edges_are_refused(minilm, choice, sentence):
    single = {"query": 1, "key": 1} if choice.get("text") == "fox" else {}
    options = {"text": FOX, "layer": 0, "head": 2, "query": "fox", "key": "brown"} | single | choice
    with pytest.raises(ValueError, match=sentence):
        viz.why(*minilm, options.pop("text"), **options)


def test_decoders_ends_are_refused(twin):
    for key, sentence in ((0, "a decoder's first token"), (16, "may not look at")):
        with pytest.raises(ValueError, match=sentence):
            viz.why(*twin, TWICE, layer=1, head=7, query=8, key=key)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("qwen3", "norms of queries and keys"),
        ("gemma2", "a cap on its scores"),
        ("t5", "one stack of layers"),
        ("deepseek_v3", "latent attention"),
        ("gpt_oss", "a learned sink"),
    ],
)
def test_untried_models_are_refused(name, sentence, tmp_path):
    model = checkpoints.open_folder(checkpoints.save(name, tmp_path))
    with pytest.raises(ValueError, match=sentence):
        viz.why(model.model, model.tokenizer, checkpoints.TEXT, layer=0, head=0, query=5, key=3)


def test_rounded_weights_are_refused(bert):
    model, tokenizer = bert
    half = transformers.BertForMaskedLM(model.config).to(torch.bfloat16)
    with pytest.raises(ValueError, match=r"model\.float\(\)"):
        viz.why(half, tokenizer, checkpoints.TEXT, layer=0, head=0, query=5, key=3)
