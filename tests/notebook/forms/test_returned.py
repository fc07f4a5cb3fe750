"""Maps in what a model or its modules returned as plain tuples, and heads that came one by one."""

import pytest
import torch
import transformers
from torch.testing import assert_close

import viz
from tests import checkpoints

WORDS = ["the", "cat", "sat", "down", "."]


def layer(heads=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(1, heads, 5, 5, generator=generator).softmax(-1)


def assert_shows(attentions, layers):
    """Check that these layers are shown, bit for bit."""
    for number, weights in enumerate(layers):
        for head, expected in enumerate(weights[0]):
            assert_close(torch.tensor(viz.show(attentions, WORDS, layer=number, head=head).weights), expected)


@pytest.mark.parametrize("before", [1, 2, 3])
def test_output_tuple_is_searched(before):
    """Before the attentions may stand a loss, logits, a cache, hidden states."""
    layers = (layer(), layer(seed=1))
    before_maps = (torch.zeros(1, 5, 7), None, (torch.zeros(1, 5, 5), torch.zeros(1, 5, 5)))[:before]
    assert_shows((*before_maps, layers), layers)


def test_output_tuple_of_model_is_searched():
    config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.LLAMA)
    model = transformers.LlamaForCausalLM(config).eval()
    model.set_attn_implementation("eager")
    with torch.inference_mode():
        output = model(torch.arange(5, 10)[None], output_attentions=True, output_hidden_states=True)
    assert_shows(output.to_tuple(), output.attentions)


def test_output_tuple_without_maps_raises():
    """Several stacks cannot be told apart by their places; none means that no maps were asked for."""
    states = (torch.zeros(1, 5, 7),)
    with pytest.raises(ValueError, match=r"tuple of 2 parts.*return_dict=False, and none has a tuple of maps"):
        viz.show((torch.zeros(1, 5, 7), states), WORDS)
    with pytest.raises(ValueError, match=r"parts 1, 2 have maps.*return_dict=True"):
        viz.show((torch.zeros(1, 5, 7), (layer(),), (layer(),)), WORDS)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("is_mean", [True, False])
def test_outputs_of_hooked_modules(n, is_mean):
    """A forward hook keeps (output, weights) of each attention module, one of nn.MultiheadAttention the mean."""
    layers = [layer(1 if is_mean else 3, seed=i) for i in range(n)]
    weights = [maps[0] if is_mean else maps for maps in layers]
    outputs = [(torch.zeros(1, 5, 16), maps, None) for maps in weights]
    assert_shows(outputs, layers)
    assert_shows({f"encoder.layer.{i}.attention": part for i, part in enumerate(outputs)}, layers)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_output_of_attention_module(average, batch_first):
    """All that nn.MultiheadAttention returns, its output first."""
    attention = torch.nn.MultiheadAttention(16, 4, batch_first=batch_first).eval()
    x = torch.randn(1, 5, 16) if batch_first else torch.randn(5, 1, 16)
    output, weights = attention(x, x, x, average_attn_weights=average)
    assert_shows((output, weights), [weights.detach()[:, None] if average else weights.detach()])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["torch", "numpy"])
def test_heads_in_lists_are_layers(n, kind):
    """A list of heads for each layer, of two or three layers too: these are no encoder, decoder and cross-attention."""
    layers = [layer(seed=i) for i in range(n)]
    heads = [[head if kind == "torch" else head.numpy() for head in maps[0]] for maps in layers]
    assert_shows(heads, layers)


def test_means_of_two_texts_are_stacks():
    """Two lists of tokens say that they are those of an encoder and a decoder."""
    grid = viz.show([[layer()[0, 0]], [layer()[0, 1]]], (WORDS, list("abcde")))
    assert list(grid._maps) == ["encoder", "decoder"]
