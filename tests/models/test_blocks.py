"""The core's replay of every family's blocks gives the model's own hidden states, layer by layer."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import TEXT, eager, open_folder, save
from viz.core.masks import causal
from viz.core.norm import no_norm
from viz.models import ModelError, capture
from viz.models.blocks import block_layouts, find_block_layout, model_blocks
from viz.models.load import load
from viz.text import LANGUAGES, sentences

TARGET = "Paris is old and Paris is big."


@pytest.mark.parametrize(
    ("name", "sizes"), [("llama", {"mlp_bias": True}), ("ernie4_5", {"use_bias": True}), ("olmo2", {"mlp_bias": True})]
)
def test_blocks_have_biases_of_gate(tmp_path, name, sizes):
    """A gated network with biases: the model's own states, or a refusal that names the weights."""
    model = open_folder(save(name, tmp_path / name, **sizes))
    text_capture = capture(model, TEXT)
    blocks = model_blocks(model, text_capture)
    assert blocks.state_error(blocks.run()) < 5e-5
    keeps_bias = any(key.endswith("gate_proj.bias") for key in model.model.state_dict())
    assert keeps_bias == (blocks.weights[0].feed_forward.b_gate is not None) == (name != "olmo2")


@pytest.mark.parametrize("name", ["bert", "llama", "t5", "qwen2_moe"])
def test_unread_tensor_is_refused(name, load_family):
    """A further tensor in any block, a parameter or a buffer, is named, and the blocks are not computed without it."""
    model = load_family(name)
    layout = find_block_layout(model, model.layers[0].layout.stack)
    block = model.model.base_model.get_submodule(layout.layer.format(i=1))
    for add in (block.register_parameter, block.register_buffer):
        add("one_more", torch.nn.Parameter(torch.zeros(3)))
        try:
            with pytest.raises(ModelError, match="one_more") as error:
                find_block_layout(model, layout.stack)
            assert error.value.code == "block_tensor"
            assert find_block_layout(model, layout.stack, of_stream=True) if layout.norm != "post" else True
        finally:
            del block.one_more
    assert find_block_layout(model, layout.stack) == layout


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "twin-g2"])
def test_packaged_models_have_exact_blocks(name):
    model = load(name)
    text_capture = capture(model, TEXT)
    blocks = model_blocks(model, text_capture)
    traces = blocks.run()
    assert blocks.state_error(traces) < 1e-5
    last = text_capture.n_layers - 1
    assert_close(traces[last].attention.weights, text_capture.layer(last).weights, atol=1e-5, rtol=1e-4)
    # every parameter of the model that is not an embedding, a pooler or a final norm is in the blocks
    prefix = next(
        block_weights for block_weights in block_layouts() if block_weights.fits(model.model.config)
    ).layer.partition("{")[0]
    inside = [p for name, p in model.model.base_model.named_parameters() if name.startswith(prefix)]
    assert sum(block_weights.n_parameters() for block_weights in blocks.weights) == sum(p.numel() for p in inside)


def test_other_layer_order_changes_states(load_family):
    model = load_family("bert")
    blocks = model_blocks(model, capture(model, TEXT))
    assert blocks.state_error(blocks.choose((1, 0)).run()) > 0.01
    assert blocks.choose((0, 0, 1)).weights[1] is blocks.weights[0]
    assert len(blocks.choose((0, 0, 1)).run()) == 3
    other_traces = blocks.run(
        design=type(blocks.design)(norm="pre", normalize=no_norm, activation=blocks.design.activation)
    )
    assert blocks.state_error(other_traces) > 0.01


def test_further_mask_narrows_models_mask(load_family):
    # It is causal, with a window of 5.
    model = load_family("mistral")
    text_capture = capture(model, TEXT)
    n = len(text_capture.tokens.ids)
    model_mask = text_capture.calls[0].options["allowed"]
    near = torch.ones(n, n, dtype=torch.bool).tril().triu(-1)
    trace = model_blocks(model, text_capture).run(allowed=near)[0]
    assert torch.equal(trace.attention.allowed, near & model_mask)
    assert torch.equal(model_blocks(model, text_capture).run(allowed=causal(n, n))[0].attention.allowed, model_mask)


@pytest.mark.parametrize("name", ["llama", "qwen2"])
def test_rotary_blocks_masked_equal_eager_model(name, load_family, checkpoint):
    """The model's own eager pass under the same mask: the weights and hidden states of every layer."""
    model = load_family(name)
    text_capture = capture(model, TEXT)
    n = len(text_capture.tokens.ids)
    assert text_capture.calls[0].rotary
    # With the model's own mask a word sees itself and two before.
    near = torch.ones(n, n, dtype=torch.bool).triu(-2)
    blocks = model_blocks(model, text_capture)
    traces = blocks.run(allowed=near)
    with torch.inference_mode():
        hidden = torch.zeros(n, n).masked_fill(~(near & causal(n, n)), torch.finfo(torch.float32).min)
        truth = eager(name, checkpoint(name)).base_model(
            input_ids=torch.tensor([text_capture.tokens.ids]),
            attention_mask=hidden[None, None],
            output_attentions=True,
            output_hidden_states=True,
        )
    for trace, weights in zip(traces, truth.attentions, strict=True):
        assert_close(trace.attention.weights, weights[0], atol=1e-5, rtol=1e-4)
        assert not trace.attention.weights[:, ~near].any()
    for trace, state in zip(traces[:-1], truth.hidden_states[1:], strict=False):
        assert_close(trace.output, state[0], atol=5e-5, rtol=1e-4)
    after_the_last_norm = blocks.design.normalize(traces[-1].output, blocks.final)
    assert_close(after_the_last_norm, truth.hidden_states[-1][0], atol=5e-5, rtol=1e-4)
    assert blocks.state_error(traces) > 0.1, "without the mask it is something else"


def test_unsupported_block_family_raises_model_error(load_family):
    """By what is different about it, if its blocks are known; else with the number of families that are."""
    with pytest.raises(
        ModelError, match="in a block of phi attention and the feed-forward network read the same"
    ) as error:
        find_block_layout(load_family("phi"), "decoder")
    assert error.value.code == "block_parallel"
    with pytest.raises(ModelError) as error:
        find_block_layout(load_family("bart"), "decoder", of_stream=True)
    assert error.value.code == "block_post"
    with pytest.raises(ModelError, match=r"block of the family gemma2 is put together; it does for \d+ other"):
        find_block_layout(load_family("gemma2"), "encoder")


def test_every_block_difference_has_a_sentence():
    for lang in LANGUAGES:
        expected = {f"error.block_{layout.difference}" for layout in block_layouts() if not layout.is_whole}
        assert expected <= set(sentences(lang)) and len(expected) == 3


def test_umt5_blocks_differ_by_rounding_alone(tmp_path, monkeypatch):
    """Its scores are not scaled, so that float32 is off by 1e-4; in float64 the blocks give the model's own states."""

    # The norm of transformers computes the variance in float32.
    def norm_in_float64(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)

    monkeypatch.setattr("transformers.models.umt5.modeling_umt5.UMT5LayerNorm.forward", norm_in_float64)
    model = open_folder(save("umt5", tmp_path / "umt5"))
    model.model.double()
    text_capture = capture(model, TEXT, target=TARGET)
    for stack in ("encoder", "decoder"):
        blocks = model_blocks(model, text_capture, stack)
        assert blocks.x.dtype == torch.float64
        assert blocks.state_error(blocks.run()) < 1e-11
