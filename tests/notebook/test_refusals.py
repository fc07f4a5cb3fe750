"""A sentence that is true of it refuses whatever is no attention, no token, no text, no model or no choice."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from torch import nn
from torch.testing import assert_close

import viz
from tests import checkpoints
from tests.notebook.samples import WORDS, layer


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A small Llama and its tokenizer."""
    folder = checkpoints.save("llama", tmp_path_factory.mktemp("llama"))
    return transformers.LlamaForCausalLM.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)


FALSE_ATTENTIONS = {
    "no heads": (lambda: [layer(heads=1)[:, :0]], "is 1 × 0 × 5 × 5: there is no weight in it"),
    "no tokens": (lambda: [layer()[..., :0]], "is 1 × 3 × 5 × 0: there is no weight in it"),
    "no text": (lambda: [layer()[:0]], "is 0 × 3 × 5 × 5: there is no weight in it"),
    "a string": (lambda: "abc", "are no tuple with a tensor for each layer, but str"),
    "a generator": (lambda: (layer() for _ in range(2)), "are no tuple with a tensor for each layer, but generator"),
    "strings in a tuple": (lambda: ("a", "b"), "Layer 0 of the self attentions is str"),
    "a dictionary in a list": (lambda: [{"a": layer()}], "Layer 0 of the self attentions is dict"),
    "heads one by one": (lambda: [list(layer()[0])] * 4, "4 parts, with maps of 5 × 5, 5 × 5"),
    "a plain tuple of a model": (lambda: (torch.zeros(1, 5, 7), (layer(), layer())), "return_dict=True"),
    "all zero": (lambda: [torch.zeros(1, 3, 5, 5)] * 2, "Every number in the self attentions is 0"),
}


@pytest.mark.parametrize("what", FALSE_ATTENTIONS)
def test_show_false_attentions_raises(what):
    make, sentence = FALSE_ATTENTIONS[what]
    with pytest.raises(ValueError, match=sentence):
        viz.show(make(), WORDS)


@pytest.mark.parametrize(
    "tokens", [{"input_ids": [1]}, transformers.BatchEncoding({"a": [1]}), {"a", "b"}, iter(WORDS), b"the", None, 5]
)
def test_show_false_tokens_raises(tokens):
    """The names in a mapping are as many as some texts have tokens, and a set has no order."""
    with pytest.raises(ValueError, match=f"tokens handed over are {type(tokens).__name__}, and not a list: tokenizer"):
        viz.show([layer(2)], tokens)


@pytest.mark.parametrize("make", [torch.tensor, np.array])
def test_show_two_numbers_are_tokens(make):
    """Two token ids out of an array are no two lists of tokens."""
    assert viz.show([layer(2)], list(make([7, 8]))).tokens == (("7", "8"), ("7", "8"))


@pytest.mark.parametrize("layers", [3, "3", [True], [3, 3], [-1, 2], [0.0, 1.0]])
def test_show_layer_numbers_are_numbers(layers):
    """Of two layers with one number the first would be left out, and nothing would say so."""
    with pytest.raises(ValueError, match="not the numbers of different layers"):
        viz.show([layer(), layer()], WORDS, layers=layers)


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_show_layer_numbers_of_arrays(make):
    grid = viz.show([layer()], WORDS, layers=make([3]))
    assert grid.layer == 3 and type(grid.layer) is int


def test_show_unknown_choice_raises():
    """A choice that the grid has not would have been dropped without a word."""
    with pytest.raises(ValueError, match=r"There is no choice colour=: there are stack, layer, head,"):
        viz.show([layer()], WORDS, colour=3)


FALSE_TEXTS = {
    "a chat": ([{"role": "user", "content": "hi"}], "The text is a list and none of these: a string"),
    "a chat in a mapping": ({"messages": [{"role": "user", "content": "hi"}]}, "apply_chat_template"),
    "half a pair": (("The animal", None), "The text is a tuple and none of these"),
    "three texts": (["a", "b", "c"], r"Of several texts hand over one, texts\[0\]"),
    "bytes": (b"the cat", "The text is a bytes and none of these"),
    "encodings": ([{"input_ids": [5, 6]}, {"input_ids": [7]}], "The text is a list and none of these"),
    "vectors": ({"inputs_embeds": torch.ones(1, 2, 42)}, "what the tokenizer gave, with its input_ids"),
    "booleans": (torch.tensor([True, False]), "The token ids are 1 × 2 torch.bool"),
    "a negative number": (torch.tensor([5, -100, 6]), "The token ids are 1 × 3 torch.int64, the least -100"),
    "two texts of ids": (torch.ones(2, 3).long(), r"The token ids are 2 × 3 .*hand over those of one text"),
    "no table": ([[5, 6], [7]], "The input_ids are no table of numbers"),
    "a large number": ([5, 2**40], "number 1099511627776, the model knows"),
    "a short mask": ({"input_ids": [5, 6, 7], "attention_mask": [1, 1]}, "The attention_mask is 1 × 2: beside 1 × 3"),
    "pairs": ({"input_ids": [5, 6], "attention_mask": torch.ones(1, 1, 2, 2)}, "With a mask for pairs of tokens run"),
    "added": ({"input_ids": [5, 6], "attention_mask": [0.0, -9.0]}, "1 for a token and 0 for padding"),
}


@pytest.mark.parametrize("what", FALSE_TEXTS)
def test_show_false_text_raises(llama, what):
    text, sentence = FALSE_TEXTS[what]
    with pytest.raises(ValueError, match=sentence):
        viz.show(*llama, text)


def test_show_third_argument_needs_tokenizer(llama):
    """bertviz has the place of the second sentence there."""
    with pytest.raises(ValueError, match=r"list stands in the tokenizer's place"):
        viz.show([layer()], WORDS, 3)
    with pytest.raises(ValueError, match=r"stands int as the text: a string or its token ids"):
        viz.show([layer()], llama[1], 3)


def test_show_unknown_numbers_are_labels(llama):
    """Ids that a tokenizer does not know stand as numbers along maps."""
    for ids in ([5, -1], [5, 2**40]):
        assert viz.show([layer(2)], llama[1], ids).tokens[0][1] == f"⟨{ids[1]}⟩"


VISION = {"hidden_size": 40, "num_hidden_layers": 1, "num_attention_heads": 4, "image_size": 14, "patch_size": 7}
MODULES = {
    "MultiheadAttention": lambda llama: nn.MultiheadAttention(16, 4),
    "Sequential": lambda llama: nn.Sequential(llama, nn.Linear(3, 3)),
    "ViTModel": lambda llama: transformers.ViTModel(transformers.ViTConfig(**VISION, intermediate_size=50)),
}


@pytest.mark.parametrize("name", MODULES)
def test_show_other_module_raises(llama, name):
    """Nothing is known of how it reads a text; the model inside it, or its weights, can be shown."""
    with pytest.raises(ValueError, match=f"{name} is no model of transformers that reads token ids.*inside it.*names"):
        viz.show(MODULES[name](llama[0]), llama[1], "the cat")


@pytest.mark.parametrize("make", [lambda model: "gpt2", lambda model: Path("gpt2"), type])
def test_show_no_model_raises(llama, make):
    with pytest.raises(ValueError, match=r"stands in the model's place and is no model of PyTorch: load it"):
        viz.show(make(llama[0]), llama[1], "a text")


def test_show_pipeline_raises(llama):
    """A pipeline holds a model and its tokenizer."""
    pipeline = transformers.pipeline("text-generation", model=llama[0], tokenizer=llama[1])
    with pytest.raises(ValueError, match=r"TextGenerationPipeline stands .* of a pipeline hand over pipeline\.model"):
        viz.show(pipeline, llama[1], "The animal")


def test_show_without_text_raises(llama):
    with pytest.raises(ValueError, match="LlamaForCausalLM has no text to read"):
        viz.show(*llama)
    with pytest.raises(ValueError, match=r"has no text to cut: viz\.show\(attentions, tokenizer, text\)"):
        viz.show([layer()], llama[1])


@pytest.mark.parametrize("make", [
    lambda model: None, lambda model: WORDS, lambda model: "gpt2", lambda model: model,
    lambda model: checkpoints.MAKERS["wordpiece"](), lambda model: lambda text: [5, 6],
], ids=["None", "tokens", "name", "model", "tokenizers", "function"])  # fmt: skip
def test_show_wrong_tokenizer_raises(llama, make):
    """No tokenizer, its tokens, or one of another library: how to make one of it, or what to hand over."""
    tokenizer = make(llama[0])
    sentence = f"{type(tokenizer).__name__} stands in the tokenizer's place .*PreTrainedTokenizerFast.*run the model"
    with pytest.raises(ValueError, match=sentence):
        viz.show(llama[0], tokenizer, "the cat")


@pytest.mark.parametrize("value", [torch.nan, 1e38])
def test_show_nan_model_is_not_blamed(llama, value):
    """A model whose weights are broken gives NaN; which attention it was loaded with has no part in it."""
    model = transformers.LlamaForCausalLM(llama[0].config).eval()
    model.model.layers[1].self_attn.q_proj.weight.data.fill_(value)
    with pytest.raises(ValueError, match="Some numbers in layer 1 of the self attentions are no numbers") as caught:
        viz.show(model, llama[1], "The animal")
    assert "eager" not in str(caught.value)


def test_show_model_without_numbers_raises(llama):
    """On the device meta a model cannot read; its own error is named."""
    with torch.device("meta"):
        empty = transformers.LlamaForCausalLM(llama[0].config)
    with pytest.raises(ValueError, match=r"LlamaForCausalLM could not read this \(\w+: .*It was given input_ids"):
        viz.show(empty, llama[1], "a text")


def test_show_output_without_attentions_raises(llama):
    """A model's output is a mapping, and no mapping of stacks."""
    with torch.no_grad():
        output = llama[0](torch.tensor([[5, 6, 7]]))
    with pytest.raises(ValueError, match=r"The model gave no attentions\. It gives them when it is called with"):
        viz.show(output, WORDS[:3])


def test_show_compiled_parallel_model(llama):
    """A module that runs the model on several devices, and a compiled one, hold it."""
    compiled = torch.compile(nn.DataParallel(llama[0]), backend="eager")
    want = viz.show(*llama, "the cat").weights
    assert_close(torch.tensor(viz.show(compiled, llama[1], "the cat").weights), torch.tensor(want))
