"""`viz.show`: of a model, of its outputs, or of attentions and tokens; and its traits in Python."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from torch.testing import assert_close
from traitlets import TraitError

import viz
from tests import checkpoints
from viz.notebook.arguments import name_of

TEXT = checkpoints.TEXT


def maps(heads=3, queries=5, keys=5, n=2, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(1, heads, queries, keys, generator=generator).softmax(-1) for _ in range(n))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a function that saves a small checkpoint and opens it with transformers and its default attention."""

    def open_checkpoint(name):
        where = checkpoints.save(name, tmp_path_factory.mktemp(name))
        model = getattr(transformers, checkpoints.FAMILIES[name].model).from_pretrained(where)
        return model, transformers.AutoTokenizer.from_pretrained(where)

    return open_checkpoint


def test_show_model_and_text(folder):
    model, tokenizer = folder("bert")
    model.train()
    assert model.config._attn_implementation == "sdpa"
    grid = viz.show(model, tokenizer, TEXT, layer=1, head=4)
    assert (model.config._attn_implementation, model.training) == ("sdpa", True), "the model is left as it was"
    model.eval()
    model.set_attn_implementation("eager")
    inputs = tokenizer(TEXT, return_tensors="pt")
    with torch.inference_mode():
        want = model(**inputs, output_attentions=True).attentions
    assert_close(torch.from_numpy(grid.weights), want[1][0, 4], atol=1e-6, rtol=0)
    assert grid.tokens[0][0] == "[CLS]" and len(grid.tokens[0]) == inputs["input_ids"].shape[1]
    again = viz.show(model(**inputs, output_attentions=True), grid.tokens[0], layer=1, head=4)
    assert np.allclose(again.weights, grid.weights, atol=1e-6)


def test_show_encoder_decoder(folder):
    model, tokenizer = folder("bart")
    grid = viz.show(model, tokenizer, TEXT, target="Paris is old.")
    rows, columns = len(grid.tokens[0]), None
    assert grid.stack == "encoder"
    grid.stack = "cross"
    rows, columns = map(len, grid.tokens)
    assert grid.weights.shape == (rows, columns) and rows != columns
    inputs = tokenizer(TEXT, return_tensors="pt")
    labels = tokenizer(text_target="Paris is old.", return_tensors="pt")["input_ids"]
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        read = model.eval().prepare_decoder_input_ids_from_labels(labels)
        want = model(**inputs, decoder_input_ids=read, output_attentions=True).cross_attentions
    assert_close(torch.from_numpy(grid.weights), want[0][0, 0], atol=1e-6, rtol=0)
    generated_grid = viz.show(model, tokenizer, TEXT)
    generated_grid.stack = "decoder"
    assert generated_grid.weights.shape[0] == len(generated_grid.tokens[0]) > 1


def test_show_three_stacks_two_token_lists():
    source, target = list("abcdefg"), list("vwxyz")
    triple = (maps(queries=7, keys=7, n=1), maps(n=2), maps(keys=7, n=2))
    grid = viz.show(triple, (source, target), stack="cross", layer=1, head=2)
    assert np.allclose(grid.weights, triple[2][1][0, 2].numpy())
    assert tuple(map(tuple, grid.tokens)) == (tuple(target), tuple(source))
    assert viz.show((None, None, triple[2]), (source, target)).stack == "cross"
    with pytest.raises(ValueError, match="two lists of tokens"):
        viz.show(triple, source)


def test_smaller_stack_moves_the_choice():
    """A layer, a head or a token that the other stack lacks is changed as the view changes it; the others stay."""
    triple = (maps(queries=7, keys=7, n=1), maps(n=2), maps(keys=7, n=2))
    grid = viz.show(triple, (list("abcdefg"), list("vwxyz")), stack="cross", layer=1, head=2, query=3, key=6)
    grid.several = [1, 5]
    grid.stack = "encoder"
    assert (grid.layer, grid.head, grid.query, grid.key, grid.several) == (0, 2, 3, 6, [1])
    assert np.allclose(grid.weights, triple[0][0][0, 2].numpy())
    grid.stack = "decoder"
    assert (grid.layer, grid.head, grid.query, grid.key) == (0, 2, 3, None)


def test_show_wrong_arguments_raises(folder):
    model, tokenizer = folder("gpt2")
    with pytest.raises(ValueError, match="no decoder beside its encoder"):
        viz.show(model, tokenizer, TEXT, target="x")
    with pytest.raises(ValueError, match="output_attentions=True"):
        viz.show(SimpleNamespace(attentions=None), list("abc"))
    with pytest.raises(ValueError, match="lang='fr' is none of en, zh"):
        viz.show(maps(), list("abcde"), lang="fr")


def test_grid_traits_read_set_validate():
    grid = viz.show(maps(), list("abcde"), layer=1, query=4)
    changes = []
    grid.observe(lambda change: changes.append((change["name"], change["new"])), ["layer", "query"])
    grid.layer, grid.query = 0, None
    assert changes == [("layer", 0), ("query", None)]
    wrong = {"layer": 2, "head": 3, "query": 5, "key": -1, "temperature": 11, "stack": "cross", "look": "graph"}
    wrong |= {"sort": "loudest", "several": [0, 6]}
    for name, value in wrong.items():
        with pytest.raises(TraitError):
            setattr(grid, name, value)
    assert (grid.layer, grid.head, grid.temperature, grid.look) == (0, 0, 1.0, "map")


def test_save_html_hides_local_path(folder, tmp_path):
    model, tokenizer = folder("gpt2")
    model.config.name_or_path = str(tmp_path / "secret" / "mine")
    assert name_of(model) == "mine"
    file = viz.show(model, tokenizer, TEXT, lang="zh").save_html(
        tmp_path / "heads.html", link="https://example.org/?a=1&b"
    )
    text = file.read_text("utf8")
    assert str(tmp_path) not in text and "mine 的所有头" in text and TEXT.replace("'", "&#x27;") in text
    assert 'href="https://example.org/?a=1&amp;b"' in text


def test_show_without_anywidget_raises(monkeypatch):
    monkeypatch.delitem(sys.modules, "viz.notebook.widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(ImportError, match=r'pip install "headlight-viz\[notebook\]"'):
        viz.show(maps(), list("abcde"))
