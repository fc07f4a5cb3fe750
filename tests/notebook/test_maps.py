"""Attentions in any form become maps, or an error with the reason."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from viz.notebook.forms.structure import by_name
from viz.notebook.maps import Labels, labels, read_layers
from viz.notebook.stacks import stack_of

pd = pytest.importorskip("pandas")
WORDS = ["[CLS]", "the", "cat", "sat", "[SEP]"]


def maps(heads=3, queries=5, keys=5, n=2):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(1, heads, queries, keys, generator=generator).softmax(-1) for _ in range(n))


@pytest.mark.parametrize("kind", ["bfloat16", "numpy16", "no batch", "list"])
def test_read_layers_every_form(kind):
    originals = maps()
    attentions = {
        "bfloat16": lambda: tuple(layer.bfloat16() for layer in originals),
        "numpy16": lambda: tuple(layer.numpy().astype(np.float16) for layer in originals),
        "no batch": lambda: torch.cat(originals),
        "list": lambda: [layer.clone().requires_grad_() for layer in originals],
    }[kind]()
    read_maps = layers(attentions)
    assert [layer.dtype for layer in read_maps] == [torch.float32] * 2
    near = {"numpy16": 5e-4, "bfloat16": 4e-3}.get(kind, 1e-7)
    assert_close(torch.stack(read_maps), torch.cat(originals), atol=near, rtol=0)


def test_read_layers_table_is_one_head():
    table = pd.DataFrame(maps()[0][0, 0].numpy(), index=WORDS, columns=WORDS)
    assert_close(layers(table)[0], maps()[0][0, :1], atol=0, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.bool, torch.uint8, torch.uint16, torch.int64])
def test_read_layers_one_hot_types(dtype):
    """Hard attention is of 0 and 1 in any type."""
    hard = torch.eye(5).expand(1, 3, 5, 5)
    assert_close(layers([hard.to(dtype)])[0], hard[0], atol=0, rtol=0)


def layers(attentions, name="self"):
    """Read attentions as a list of maps."""
    return list(read_layers(by_name(attentions).stacks[name], name).layers.values())


def stack(name, attentions, rows, columns):
    """A stack with nothing special about it."""
    maps = read_layers(attentions, name)
    return stack_of(name, maps, rows, columns, nobody="nobody", same=name != "cross"), list(maps.layers.values())


WRONG = {
    "None, as a model without eager gives it": (lambda: (None, None), 'attn_implementation="eager"'),
    "tuples of no known structure": (
        lambda: (maps(), maps(), maps(queries=7)),
        "3 parts, with maps of 5 × 5",
    ),
    "several texts": (lambda: tuple(layer.expand(7, -1, -1, -1) for layer in maps()), "holds 7 texts"),
    "a vector": (lambda: (torch.ones(5) / 5,), r"is 5, and not \(1, heads"),
    "heads or texts": (lambda: maps()[0][0], r"3 × 5 × 5 numbers may be 3 heads of one text or one map for each of 3"),
    "heads or texts, in a list": (lambda: [maps()[0][0]], "may be 3 heads of one text or one map"),
    "scaled": (lambda: tuple(layer * 1.25 for layer in maps()), r"sums to 1.250 and not to 1; .* from 1.250 to 1.250"),
    "scores": (lambda: (torch.randn(1, 3, 5, 5),), "are negative, down to -"),
    "not a number": (lambda: (torch.full((1, 3, 5, 5), torch.nan),), "are no numbers"),
    "two sizes": (lambda: (*maps(), *maps(queries=7, keys=7)), "Layer 2 .* 7 × 7 tokens, layer 0"),
    "no layer": (tuple, "There is no layer in the self attentions"),
    "a number": (lambda: 3, "no tuple with a tensor for each layer, but int"),
    "far too much": (lambda: (torch.ones(1, 1, 1, 1).expand(1, 3, 7_000, 7_000) / 7_000,), "at most 96 MB"),
}


@pytest.mark.parametrize("what", WRONG)
def test_read_layers_wrong_form_raises(what):
    make, sentence = WRONG[what]
    with pytest.raises(ValueError, match=sentence):
        layers(make())


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [(WORDS[:4], "have 5 tokens, and the tokens handed over are 4"), ("the cat", "are str, and not a list")],
)
def test_labels_wrong_length_raises(tokens, sentence):
    with pytest.raises(ValueError, match=sentence):
        labels(tokens, 5, "self")


def test_labels_space_marks_are_visible():
    assert labels(["▁the", "Ġcat", "Ċ", "", "\u202e"], 5, "self") == ("␣the", "␣cat", "↵", "·", "⟨202E⟩")
    assert labels(["Ċ", "a"], 2, "self") == ("Ċ", "a")
    assert labels(["don@@", "'t", "@@"], 3, "self") == ("don", "'t", "@@")


def test_labels_names_of_bytes_are_letters():
    """Byte-level names from ``convert_ids_to_tokens`` read as in the app; plain text stays."""
    assert labels(["ä½łå¥½", "Ġä¸ĸçķĮ", "ç", "Į", "«"], 5, "self") == ("你好", "␣世界", "猫₁", "猫₂", "猫₃")
    assert labels(["<0xC3>", "<0xA9>", "▁"], 3, "self") == ("é₁", "é₂", "␣")
    assert labels(Labels(["Ã©", "Ġ", "▁"]), 3, "self") == ("Ã©", "Ġ", "▁")


def test_read_layers_accepts_zero_row():
    weights = maps()[0].clone()
    weights[0, 1, 3] = 0
    assert layers((weights,))[0][1, 3].sum() == 0


def test_read_layers_mask_from_all_heads():
    causal = [layer[0].tril() / layer[0].tril().sum(-1, keepdim=True) for layer in maps()]
    assert torch.equal(read_layers(causal, "self").masked, torch.ones(5, 5).triu(1).bool())
    # One head looks there, so 0 in the others was only small.
    causal[1][2, 0, 4] = 1e-9
    assert not read_layers(causal, "self").masked[0, 4]
    assert read_layers([layer[0] for layer in maps()], "self").masked is None


def test_stack_of_measures_special_and_repeated():
    words = ["<s>", "cat", "and", "cat", "</s>"]
    stack_of_words, layer_maps = stack("self", maps(), words, words)
    heads = list(stack_of_words.layers)
    weights = layer_maps[0].double()
    same = (weights[:, 1, 3] + weights[:, 3, 1]) / 2
    assert_close(heads[0].measures["same"].double(), same, atol=1e-6, rtol=0)
    assert_close(heads[0].measures["separators"].double(), weights[:, :4, 4].mean(-1), atol=1e-6, rtol=0)


def test_cross_maps_have_fewer_measures():
    cross_stack, _ = stack("cross", maps(keys=7), WORDS, [*WORDS, "x", "y"])
    assert set(next(iter(cross_stack.layers)).measures) == {"entropy", "same", "first", "separators"}
