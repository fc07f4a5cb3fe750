"""`viz.why`: the examples of models, refusals in sentences, and a user's model that is left as it was."""

import re

import pytest
import transformers

import viz
from tests import checkpoints
from viz.models.load import load

FOX = "The quick brown fox jumps over the lazy dog."
TWICE = "the cat saw a red bird and the dog ran home . the cat saw a red"


def explain(name, text, layer, head, query, key, **options):
    model = load(name)
    return viz.why(model.model, model.tokenizer, text, layer=layer, head=head, query=query, key=key, **options)


@pytest.mark.parametrize(
    ("edge", "sentence"),
    [
        (("all-MiniLM-L6-v2", FOX, 0, 2, "fox", "brown"), "“fox” looks at “brown” by place: 17.12 of 19.22."),
        (("twin-g8", TWICE, 1, 7, 16, "bird"), "“red” looks at “bird” because of head 0.0 at “bird”: 13.15 of 17.36."),
        (("all-MiniLM-L6-v2", FOX, 0, 2, "dog", "fox"), "too little to explain"),
        (("all-MiniLM-L6-v2", checkpoints.TEXT, 3, 1, "it", "animal"), "feed-forward 2 at “it”, has 2.07 of 4.64."),
    ],
)
def test_examples_are_explained(edge, sentence):
    why = explain(*edge)
    assert sentence in why.sentence and repr(why).startswith(why.sentence)


def test_table_escapes_text():
    """A text's words are shown literally, in either language."""
    why = explain("all-MiniLM-L6-v2", "red < <b>bold</b> green", 0, 2, 3, 2, lang="zh")
    page = why._repr_html_()
    assert "&lt;" in page and "位置" in page
    assert set(re.findall(r"<(\w+)", page)) == {"p", "table", "tr", "td", "div"}


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"layer": 6}, r"layer=6 is at 0 places: name one by its number \(0, 1, 2, 3, 4, 5\)"),
        ({"query": "the"}, "is at 2 places: name one by its number"),
        ({"key": "[CLS]"}, "Choose two words"),
        ({"lang": "fr"}, "lang is one of en, zh"),
    ],
)
def test_edges_are_refused(choice, sentence):
    options = {"layer": 0, "head": 2, "query": "fox", "key": "brown"} | choice
    with pytest.raises(ValueError, match=sentence):
        explain("all-MiniLM-L6-v2", FOX, **options)


def test_model_is_left_as_it_was(tmp_path):
    """Its attention, mode and hooks; in half precision it is refused."""
    folder = checkpoints.save("bert", tmp_path)
    model = transformers.BertForMaskedLM.from_pretrained(folder).train()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    edge, before = {"layer": 1, "head": 2, "query": 5, "key": 3}, model.config._attn_implementation
    viz.why(model, tokenizer, checkpoints.TEXT, **edge)
    hooks = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())
    assert (model.config._attn_implementation, hooks, model.training) == (before, 0, True)
    with pytest.raises(ValueError, match=r"model\.float\(\)"):
        viz.why(model.bfloat16(), tokenizer, checkpoints.TEXT, **edge)
