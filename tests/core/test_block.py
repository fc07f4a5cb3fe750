"""The block: properties of its residuals and norms, and torch's own layers with the same weights."""

import gc
import weakref
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn.functional import gelu
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.block import BlockDesign, BlockWeights, Place, decoder_block, encoder_block
from viz.core.feed_forward import FeedForwardWeights
from viz.core.heads import HeadWeights, multi_head
from viz.core.masks import causal, padding
from viz.core.norm import NormWeights
from viz.core.spec import AttentionSpec
from viz.core.stack import one_by_one, stack

CLOSE = {"atol": 1e-12, "rtol": 1e-12}  # float64: only a wrong formula is off by more
EXACT = {"atol": 0, "rtol": 0}
D, D_FF, T, K, B = 15, 23, 7, 11, 3
SPEC = AttentionSpec(d_model=D, n_heads=5)
NORMS: tuple[Place, ...] = ("post", "pre")


def shake(layer: nn.Module) -> nn.Module:
    """Draw every parameter, biases, gains and shifts too, which torch starts at 0 and 1."""
    with torch.no_grad():
        for i, parameter in enumerate(layer.parameters()):
            parameter.copy_(draw(*parameter.shape, seed=i) * (0.3 if parameter.ndim > 1 else 1.0))
    return layer


def heads_of(layer: nn.MultiheadAttention) -> HeadWeights:
    w_q, w_k, w_v = (part.T for part in layer.in_proj_weight.chunk(3))
    b_q, b_k, b_v = layer.in_proj_bias.chunk(3)
    return HeadWeights(
        spec=SPEC, w_q=w_q, w_k=w_k, w_v=w_v, b_q=b_q, b_k=b_k, b_v=b_v,
        w_o=layer.out_proj.weight.T, b_o=layer.out_proj.bias,
    )  # fmt: skip


def norm_of(layer: nn.LayerNorm) -> NormWeights:
    return NormWeights(gain=layer.weight, shift=layer.bias, eps=layer.eps)


def weights_of(layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) -> BlockWeights:
    first, second = layer.linear1, layer.linear2
    decoder = isinstance(layer, nn.TransformerDecoderLayer)
    return BlockWeights(
        attention=heads_of(layer.self_attn),
        attention_norm=norm_of(layer.norm1),
        cross=heads_of(layer.multihead_attn) if isinstance(layer, nn.TransformerDecoderLayer) else None,
        cross_norm=norm_of(layer.norm2) if decoder else None,
        feed_forward=FeedForwardWeights(w_in=first.weight.T, b_in=first.bias, w_out=second.weight.T, b_out=second.bias),
        feed_forward_norm=norm_of(layer.norm3 if isinstance(layer, nn.TransformerDecoderLayer) else layer.norm2),
    )


def plain_block(*, seed: int = 0, d_memory: int | None = None) -> BlockWeights:
    return BlockWeights.random(SPEC, D_FF, seed=seed, d_memory=d_memory)


@pytest.mark.parametrize("norm", NORMS)
class TestAgainstTorch:
    """`norm_first` both ways; in a mask True means visible for the core and blocked for torch."""

    def make(self, norm: str, kind: type, activation: object = torch.relu) -> tuple:
        layer = kind(
            D, 5, D_FF, dropout=0.0, activation=activation, norm_first=norm == "pre", batch_first=True,
            dtype=torch.float64,
        )  # fmt: skip
        return shake(layer), weights_of(layer)

    def test_encoder_layer(self, norm):
        layer, weights = self.make(norm, nn.TransformerEncoderLayer, gelu)
        x, design = draw(B, T, D, seed=97), BlockDesign(norm=norm, activation=gelu)
        assert_close(encoder_block(x, weights, design=design).output, layer(x), **CLOSE)

    def test_decoder_layer_with_different_memory_length(self, norm):
        layer, weights = self.make(norm, nn.TransformerDecoderLayer)
        x, memory, lengths = draw(B, T, D, seed=97), draw(B, K, D, seed=98), [11, 3, 1]
        design = BlockDesign(norm=norm)
        output = decoder_block(
            x, memory, weights, allowed=causal(T, T), memory_allowed=padding(lengths, K), design=design
        )  # fmt: skip
        padding_mask = torch.arange(K) >= torch.tensor(lengths)[:, None]
        assert_close(
            output.output, layer(x, memory, tgt_mask=~causal(T, T), memory_key_padding_mask=padding_mask), **CLOSE
        )  # fmt: skip
        assert output.cross is not None
        assert output.cross.weights.shape == (B, 5, T, K)
        assert output.cross.memory is memory

    def test_a_stack_is_torchs_encoder(self, norm):
        layer, weights = self.make(norm, nn.TransformerEncoderLayer)
        x = draw(T, D, seed=97)
        traces = stack(x, [weights] * 3, design=BlockDesign(norm=norm))
        assert_close(traces[-1].output, layer(layer(layer(x))), **CLOSE)


class TestOneByOne:
    def test_lazy_stack_frees_traces(self):
        x, weights, references = draw(T, D).float(), plain_block(), list[weakref.ref]()
        traces = stack(x, [weights] * 3)
        gc.disable()
        try:
            for trace, expected in zip(one_by_one(x, iter([weights] * 3), None, None), traces, strict=True):
                assert_close(trace.output, expected.output)
                assert [reference() for reference in references] == [None] * len(references)
                references.append(weakref.ref(trace))
                del trace
        finally:
            gc.enable()
        assert len(references) == 3

    def test_every_layer_can_attend_differently(self):
        x, weights = draw(T, D).float(), plain_block()
        with pytest.raises(ValueError, match="shorter"):
            stack(x, [weights] * 3, attentions=[{}] * 2)


class TestPoints:
    @pytest.mark.parametrize("residual", [True, False])
    def test_additions_sum_input_and_computed(self, residual):
        x = draw(T, D).float()
        p = encoder_block(x, plain_block(), design=BlockDesign(residual=residual)).points
        assert_close(p["attention_add"], p["attention"] + x * residual, **EXACT)
        assert_close(p["feed_forward_add"], p["feed_forward"] + p["attention_norm"] * residual, **EXACT)


def test_attention_is_exchangeable():
    """Any function with multi_head's signature: here one that doubles the scores' scale."""
    x, weights = draw(T, D).float(), plain_block()
    sharp = encoder_block(x, weights, attention=partial(multi_head, scale=2.0), allowed=causal(T, T))
    assert sharp.attention.scale == 2.0
    assert_close(sharp.attention.allowed, causal(T, T), **EXACT)
    expected = multi_head(x, x, weights.attention, scale=2.0, allowed=causal(T, T)).output
    assert_close(sharp.points["attention"], expected)


class TestStack:
    def test_decoder_layers_read_same_memory(self):
        memory = draw(K, 13).float()
        traces = stack(draw(T, D).float(), [plain_block(d_memory=13)] * 2, memory=memory)
        assert all(trace.cross is not None and trace.cross.memory is memory for trace in traces)

    def test_layer_can_have_own_attention(self):
        options = [{"attention": partial(multi_head, scale=float(i))} for i in (2, 3)]
        traces = stack(draw(T, D).float(), [plain_block()] * 2, attentions=options)
        assert [trace.attention.scale for trace in traces] == [2.0, 3.0]


class TestRandom:
    def test_parameters_are_counted(self):
        assert plain_block().n_parameters() == 4 * D * D + 2 * D * D_FF + 2 * 2 * D
        assert plain_block(d_memory=13).n_parameters() == 6 * D * D + 2 * 13 * D + 2 * D * D_FF + 3 * 2 * D

    def test_random_weights_of_seed_never_repeat(self):
        """A seed gives the same heads as elsewhere, and no two tensors of a block are equal."""
        weights = plain_block(seed=5, d_memory=D)
        assert_close(weights.attention.w_q, HeadWeights.random(SPEC, seed=5).w_q, **EXACT)
        assert weights.cross is not None
        assert not torch.allclose(weights.cross.w_q, weights.attention.w_q)
        assert_close(weights.feed_forward.w_in, plain_block(seed=5).feed_forward.w_in, **EXACT)
        assert not torch.allclose(weights.feed_forward.w_in, plain_block(seed=6).feed_forward.w_in)

    def test_encoder_weights_in_decoder_are_refused(self):
        with pytest.raises(ValueError, match="no cross-attention"):
            decoder_block(torch.zeros(T, D), torch.zeros(K, D), plain_block())
