"""Arguments of ``viz.show`` that people mix up, or have in another form: each is read, or refused in a sentence."""

import numpy as np
import pytest
import torch
import transformers
from torch import nn
from torch.testing import assert_close

import viz
from tests import checkpoints

WORDS = ["the", "cat", "sat", "down", "."]
VISION = {
    "hidden_size": 40, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 50, "image_size": 14,
    "patch_size": 7,
}  # fmt: skip


def build_maps():
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(1, 3, 5, 5, generator=generator).softmax(-1) for _ in range(2))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A small GPT-2 and its tokenizer."""
    folder = checkpoints.save("gpt2", tmp_path_factory.mktemp("gpt2"))
    return transformers.GPT2LMHeadModel.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("module", [
    nn.MultiheadAttention(16, 4), nn.TransformerEncoderLayer(16, 4), nn.Linear(3, 3),
], ids=lambda module: type(module).__name__)  # fmt: skip
def test_show_other_module_is_refused(model, module):
    """Nothing is known of how a module of torch alone reads a text; its weights can be shown."""
    with pytest.raises(ValueError, match=rf"{type(module).__name__} is no model of transformers.*attentions, tokens"):
        viz.show(module, model[1], "the cat")


def test_show_picture_model_is_refused(model):
    with pytest.raises(ValueError, match="ViTModel reads pixel_values, and no text"):
        viz.show(transformers.ViTModel(transformers.ViTConfig(**VISION)), model[1], "the cat")


def test_show_parallel_model_is_opened(model):
    """A module that runs the model on several devices holds it."""
    gpt, tokenizer = model
    wrapped = viz.show(nn.DataParallel(gpt), tokenizer, "the cat")
    assert_close(torch.tensor(wrapped.weights), torch.tensor(viz.show(gpt, tokenizer, "the cat").weights))


@pytest.mark.parametrize("name", ["NoneType", "list", "str", "GPT2LMHeadModel"])
def test_show_wrong_tokenizer_is_named(model, name):
    """No tokenizer, its tokens, or the two in another order."""
    gpt, tokenizer = model
    first, second = {
        "NoneType": (gpt, None), "list": (gpt, WORDS), "str": (gpt, "gpt2"), "GPT2LMHeadModel": (tokenizer, gpt),
    }[name]  # fmt: skip
    with pytest.raises(ValueError, match=f"{name} stands in the tokenizer's place"):
        viz.show(first, second, "the cat")


@pytest.mark.parametrize(("text", "sentence"), [
    ([5, -1], "One of the token ids is -1"), (torch.tensor([5, -100, 6]), "One of the token ids is -100"),
    (b"the cat", "The text is bytes"), ([5, "a"], "The input_ids are no table of numbers"),
    ([[5, 6], [7]], "The input_ids are no table of numbers"), ({"input_ids": [5, None]}, "no table of numbers"),
])  # fmt: skip
def test_show_invalid_ids_are_named(model, text, sentence):
    """Numbers that stand for no token, bytes, and lists that are no table."""
    with pytest.raises(ValueError, match=sentence):
        viz.show(*model, text)


@pytest.mark.parametrize("tokens", [None, 5])
def test_show_tokens_are_no_list(tokens):
    with pytest.raises(ValueError, match=f"are {type(tokens).__name__}, and not a list with one for each of 5"):
        viz.show(build_maps(), tokens)


@pytest.mark.parametrize("layers", [[3, 3], [-1, 2], [0.0, 1.0]])
def test_show_layer_numbers_are_refused(layers):
    """Of two layers with one number the first was left out, and nothing said so."""
    with pytest.raises(ValueError, match="not the numbers of different layers"):
        viz.show(build_maps(), WORDS, layers=layers)


def test_show_sparse_maps_are_read():
    maps = build_maps()
    grid = viz.show(tuple(layer.to_sparse() for layer in maps), WORDS, layer=1, head=2)
    assert_close(torch.tensor(grid.weights), maps[1][0, 2], atol=0, rtol=0)


def test_generated_cross_attention_is_stitched(tmp_path):
    """The cross-attention of ``generate()`` alone: a row a step, under the tokens of the rows and of the columns."""
    folder = checkpoints.save("bart", tmp_path / "bart")
    bart = transformers.BartForConditionalGeneration.from_pretrained(folder, attn_implementation="eager").eval()
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11]])
    output = bart.generate(
        ids, do_sample=False, max_new_tokens=4, min_new_tokens=4, return_dict_in_generate=True, output_attentions=True
    )
    rows, columns = [f"r{i}" for i in range(output.sequences.shape[1])], [f"c{i}" for i in range(7)]
    grid = viz.show(output.cross_attentions, (rows, columns), layer=1, head=2)
    expected = torch.cat([step[1][0, 2] for step in output.cross_attentions])
    assert_close(torch.tensor(grid.weights), expected, atol=0, rtol=0)
    assert grid.tokens == (tuple(rows[:-1]), tuple(columns))


def test_generated_room_is_not_cross():
    """A cache with room for tokens to come has as many keys in each step too, and zeros there."""
    steps = [torch.zeros(1, 2, 1, 6) for _ in range(3)]
    for i, step in enumerate(steps):
        step[..., : i + 1] = 1 / (i + 1)
    grid = viz.show(tuple((step,) for step in steps), ["a", "b", "c"])
    assert grid.weights.shape == (3, 3) and grid.tokens[0] == grid.tokens[1]


def test_show_third_argument_needs_tokenizer():
    """bertviz has the place of the second sentence there."""
    with pytest.raises(ValueError, match=r"stands int as the text: viz\.show\(attentions, tokens\)"):
        viz.show(build_maps(), WORDS, 3)


def test_show_pair_may_be_iterated():
    grid = viz.show([build_maps()[0][..., :4, :]], (iter(WORDS[:4]), (word for word in WORDS)))
    assert grid.tokens == (tuple(WORDS[:4]), tuple(WORDS))


def test_show_model_inside_is_named(model):
    """A classifier of one's own, or sentence-transformers' list of modules, holds a model of transformers."""
    gpt, tokenizer = model
    classifier = nn.Sequential(nn.ModuleDict({"auto_model": gpt}), nn.Linear(3, 3))
    with pytest.raises(
        ValueError, match=r"holds GPT2LMHeadModel .*viz\.show\(model\[0\]\.auto_model, tokenizer, text\)"
    ):
        viz.show(classifier, tokenizer, "the cat")


def test_show_own_model_with_configuration(model):
    """nanoGPT has a configuration too, and reads no input_ids."""

    class Classifier(nn.Module):
        config = object()

        def forward(self, idx):
            return idx

    with pytest.raises(ValueError, match=r"Classifier is no model of transformers, so .* on a text: run it yourself"):
        viz.show(Classifier(), model[1], "the cat")


def test_show_compiled_parallel_model(model):
    gpt, tokenizer = model
    compiled = torch.compile(nn.DataParallel(gpt), backend="eager")
    want = viz.show(gpt, tokenizer, "the cat").weights
    assert_close(torch.tensor(viz.show(compiled, tokenizer, "the cat").weights), torch.tensor(want))


def test_show_text_in_numpy_array(model):
    gpt, tokenizer = model
    assert viz.show(gpt, tokenizer, np.array(["the cat"])).tokens == viz.show(gpt, tokenizer, "the cat").tokens
