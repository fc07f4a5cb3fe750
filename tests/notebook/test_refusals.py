"""A sentence that is true of it refuses whatever is no attention, no token or no choice."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from torch._subclasses import FakeTensorMode

import viz
from tests import checkpoints

WORDS = ["the", "cat", "sat", "down", "."]


def layer(heads=3, n=5):
    return torch.randn(1, heads, n, n, generator=torch.Generator().manual_seed(0)).softmax(-1)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A small Llama and its tokenizer."""
    folder = checkpoints.save("llama", tmp_path_factory.mktemp("llama"))
    return transformers.LlamaForCausalLM.from_pretrained(folder), transformers.AutoTokenizer.from_pretrained(folder)


FALSE_ATTENTIONS = {
    "meta": (lambda: [torch.empty(1, 3, 5, 5, device="meta")], "are on the device meta, which holds no numbers"),
    "complex": (lambda: [layer().to(torch.complex64)], "complex64: weights are real numbers"),
    "strings": (lambda: [np.full((1, 1, 5, 5), "a")], "Layer 0 of the self attentions .* no numbers"),
    "objects": (lambda: [np.full((1, 1, 5, 5), None)], "Layer 0 of the self attentions .* no numbers"),
    "no heads": (lambda: [layer(heads=1)[:, :0]], "is 1 × 0 × 5 × 5: there is no weight in it"),
    "no tokens": (lambda: [layer()[..., :0]], "is 1 × 3 × 5 × 0: there is no weight in it"),
    "no text": (lambda: [layer()[:0]], "is 0 × 3 × 5 × 5: there is no weight in it"),
    "a string": (lambda: "abc", "are no tuple with a tensor for each layer, but str"),
    "strings in a tuple": (lambda: ("a", "b"), "Layer 0 of the self attentions is str"),
    "a dictionary in a list": (lambda: [{"a": layer()}], "Layer 0 of the self attentions is dict"),
    "all zero": (lambda: [torch.zeros(1, 3, 5, 5)] * 2, "Every number in the self attentions is 0"),
    "columns": (lambda: [layer().mT], "Its columns sum to 1: .* transposed"),
}


@pytest.mark.parametrize("what", FALSE_ATTENTIONS)
def test_show_false_attentions_raises(what):
    make, sentence = FALSE_ATTENTIONS[what]
    with pytest.raises(ValueError, match=sentence):
        viz.show(make(), WORDS)


FALSE_TOKENS = {
    "a dictionary": ({"input_ids": [1], "attention_mask": [1]}, "are dict, and not a list with one for each of 2"),
    "an encoding": (transformers.BatchEncoding({"a": [1], "b": [1]}), "are BatchEncoding, and not a list"),
    "a set": ({"a", "b"}, "are set, and not a list"),
}


@pytest.mark.parametrize("what", FALSE_TOKENS)
def test_show_false_tokens_raises(what):
    """The names in a mapping are as many as some texts have tokens, and a set has no order."""
    tokens, sentence = FALSE_TOKENS[what]
    with pytest.raises(ValueError, match=sentence):
        viz.show([layer(n=2)], tokens)


def test_show_tokens_may_be_iterated():
    assert viz.show([layer()], iter(WORDS)).tokens[0] == tuple(WORDS)
    assert viz.show([layer()], dict.fromkeys(WORDS).keys()).tokens[1] == tuple(WORDS)


def test_show_tokens_of_bytes_or_unnamed():
    """Bytes are read as one text; a tokenizer names what it does not know None."""
    assert viz.show([layer()], "a 猫".encode()).tokens[0] == ("a", "␣", "猫₁", "猫₂", "猫₃")
    assert viz.show([layer(n=2)], ["a", None]).tokens[0] == ("a", "⟨?⟩")


@pytest.mark.parametrize("make", [torch.tensor, np.array])
def test_show_two_numbers_are_tokens(make):
    """Two token ids out of an array are no two lists of tokens."""
    assert viz.show([layer(n=2)], list(make([7, 8]))).tokens == (("7", "8"), ("7", "8"))


def test_show_layers_may_be_iterated():
    """Layers from a generator or a mapping's values are layers too."""
    for attentions in ((layer() for _ in range(2)), {"a": layer(), "b": layer()}.values()):
        assert list(viz.show(attentions, WORDS)._maps["self"].layers) == [0, 1]


@pytest.mark.parametrize("layers", [3, "3", [True]])
def test_show_layer_numbers_are_numbers(layers):
    with pytest.raises(ValueError, match="not the numbers of different layers"):
        viz.show([layer()], WORDS, layers=layers)


def test_show_layer_numbers_of_numpy():
    for grid in (
        viz.show([layer()], WORDS, layers=np.array([3])),
        viz.show([layer()], WORDS, layers=torch.tensor([3])),
        viz.show({np.int64(3): layer()}, WORDS),
    ):
        assert grid.layer == 3 and type(grid.layer) is int


def test_show_unknown_choice_raises():
    """A choice that the grid has not would have been dropped without a word."""
    with pytest.raises(ValueError, match=r"There is no choice colour=: there are stack, layer, head,"):
        viz.show([layer()], WORDS, colour=3)


def test_show_model_without_text_raises(llama):
    model, tokenizer = llama
    with pytest.raises(ValueError, match="LlamaForCausalLM has no text to read"):
        viz.show(model, tokenizer)


def test_show_pipeline_raises(llama):
    """A pipeline holds a model and its tokenizer."""
    model, tokenizer = llama
    pipeline = transformers.pipeline("text-generation", model=model, tokenizer=tokenizer)
    with pytest.raises(ValueError, match=r"TextGenerationPipeline holds a model: viz.show\(pipeline.model"):
        viz.show(pipeline, tokenizer, "The animal")


FALSE_TEXTS = {
    "a chat": ([{"role": "user", "content": "hi"}], "messages of a chat, and no text"),
    "half a pair": (("The animal", None), "The text is a tuple of str, NoneType"),
    "booleans": (torch.tensor([True, False]), "The token ids are 1 × 2 torch.bool"),
    "a chat in a mapping": ({"messages": [{"role": "user", "content": "hi"}]}, "messages of a chat, and no text"),
    "chats": ([[{"role": "user", "content": "hi"}]], "messages of a chat, and no text"),
    "encodings": ([{"input_ids": [5, 6]}, {"input_ids": [7]}], "These are 2 texts that a tokenizer cut: .*encodings.0"),
    "vectors": ({"inputs_embeds": torch.ones(1, 2, 42)}, "no input_ids among 'inputs_embeds', so there is no token"),
    "a short mask": ({"input_ids": [5, 6, 7], "attention_mask": [1, 1]}, "The attention_mask is 1 × 2, and the token"),
    "a long mask": ({"input_ids": [5, 6], "attention_mask": [1, 1, 1]}, "The attention_mask is 1 × 3, and the token"),
    "a large number": ([5, 2**40], "number 1099511627776, the model knows"),
}


@pytest.mark.parametrize("what", FALSE_TEXTS)
def test_show_false_text_raises(llama, what):
    text, sentence = FALSE_TEXTS[what]
    with pytest.raises(ValueError, match=sentence):
        viz.show(*llama, text)


@pytest.mark.parametrize("value", [torch.nan, 1e38])
def test_show_nan_model_is_not_blamed(llama, value):
    """A model whose weights are broken gives NaN; which attention it was loaded with has no part in it."""
    model = transformers.LlamaForCausalLM(llama[0].config).eval()
    model.model.layers[1].self_attn.q_proj.weight.data.fill_(value)
    with pytest.raises(ValueError, match="Some numbers in layer 1 of the self attentions are no numbers") as caught:
        viz.show(model, llama[1], "The animal")
    assert "eager" not in str(caught.value)


class Encoding:
    """The two methods of tiktoken's encodings that are used, and the way they refuse."""

    def encode(self, text):
        raise ValueError("Encountered text corresponding to disallowed special token '<|endoftext|>'.\nIf you want")

    def decode_single_token_bytes(self, token):
        return {5: b"ab", 6: b"c"}[token]


def test_unknown_numbers_are_their_labels(llama):
    """Ids that a tokenizer does not know stand as numbers along maps; tokenizers raise three errors."""
    for tokenizer, ids in ((Encoding(), [5, 9999]), (llama[1], [5, -1]), (llama[1], [5, 2**40])):
        assert viz.show([layer(n=2)], tokenizer, ids).tokens[0][1] == f"⟨{ids[1]}⟩"
    assert viz.show([layer(n=2)], Encoding(), [5, 6]).tokens[0] == ("ab", "c")


def test_show_special_name_in_tiktoken_raises(llama):
    with pytest.raises(ValueError, match=r"The tokenizer does not read this text .Encountered.* Token ids can stand"):
        viz.show(llama[0], Encoding(), "<|endoftext|>")


@pytest.mark.parametrize("make", [lambda llama: "gpt2", lambda llama: Path("gpt2"), type, lambda llama: llama.config])
def test_show_no_model_raises(llama, make):
    """A name, a path, a class and a configuration are read as no attentions: a text stands beside them."""
    with pytest.raises(ValueError, match=r"stands in the model's place and is no model of PyTorch: load it"):
        viz.show(make(llama[0]), llama[1], "a text")


def test_show_tokenizer_without_text_raises(llama):
    with pytest.raises(ValueError, match=r"has no text to cut: viz\.show\(attentions, tokenizer, text\)"):
        viz.show([layer()], llama[1])


def test_show_model_without_numbers_raises(llama):
    """On the device meta, or followed without numbers: torch's own words name neither the weight nor the remedy."""
    with torch.device("meta"):
        empty = transformers.LlamaForCausalLM(llama[0].config)
    with FakeTensorMode():
        fake = transformers.LlamaForCausalLM(llama[0].config)
    for model in (empty, fake):
        with pytest.raises(ValueError, match=r"embed_tokens.weight of LlamaForCausalLM has a size and no numbers"):
            viz.show(model, llama[1], "a text")


def test_offloaded_model_reports_its_own_error(llama):
    """Its weights are on the device meta until accelerate's hook brings them."""
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(llama[0].config)
    model._hf_hook = SimpleNamespace(execution_device="cpu")

    def forward(input_ids=None, **_):
        raise RuntimeError("another cause")

    model.forward = forward
    with pytest.raises(ValueError, match=r"could not read this \(RuntimeError: another cause\)"):
        viz.show(model, llama[1], "a text")


def test_show_output_without_attentions_raises(llama):
    """A model's output is a mapping, and no mapping of stacks."""
    with torch.no_grad():
        output = llama[0](torch.tensor([[5, 6, 7]]))
    with pytest.raises(ValueError, match=r"The model gave no attentions\. It gives them when it is called with"):
        viz.show(output, WORDS[:3])


def test_show_two_models_in_one_raises():
    """A model with two tables of words says that it cannot name one; its text part is named."""
    sizes = {"hidden_size": 20, "intermediate_size": 20, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.CLIPConfig(
        text_config=sizes | {"vocab_size": checkpoints.VOCABULARY, "eos_token_id": 3},
        vision_config=sizes | {"image_size": 14, "patch_size": 7},
    )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=checkpoints.MAKERS["wordpiece"]())
    with pytest.raises(ValueError, match=r"CLIPModel could not read this"):
        viz.show(transformers.CLIPModel(config).eval(), tokenizer, "a text")
