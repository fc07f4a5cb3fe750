"""torch's own transformer layers with a block's weights, to check a block against."""

import torch
from torch import Tensor, nn

from viz.core.block import BlockDesign, BlockTrace, BlockWeights
from viz.core.experts import ExpertsWeights
from viz.core.heads import HeadWeights
from viz.core.norm import NormWeights, layer_norm, no_norm


def _copy(parameter: Tensor, value: Tensor | None) -> None:
    """Fill a parameter; a bias the block does not have is 0."""
    with torch.no_grad():
        parameter.zero_() if value is None else parameter.copy_(value)


def _fill_heads(layer: nn.MultiheadAttention, weights: HeadWeights) -> None:
    """``nn.MultiheadAttention`` knows no shared K and V: every query head gets its own copy of them."""
    s = weights.spec

    def own_copy(columns: Tensor | None) -> Tensor | None:
        return (
            None
            if columns is None
            else columns.unflatten(-1, (s.G, -1)).repeat_interleave(s.H // s.G, dim=-2).flatten(-2)
        )

    for rows, w, b in zip(
        range(3),
        (weights.w_q, own_copy(weights.w_k), own_copy(weights.w_v)),
        (weights.b_q, own_copy(weights.b_k), own_copy(weights.b_v)),
        strict=True,
    ):
        assert w is not None
        assert layer.in_proj_weight is not None
        place = slice(rows * s.d_model, (rows + 1) * s.d_model)
        _copy(layer.in_proj_weight[place], w.T)
        _copy(layer.in_proj_bias[place], b)
    _copy(layer.out_proj.weight, weights.w_o.T)
    _copy(layer.out_proj.bias, weights.b_o)


def _norm(design: BlockDesign, weights: NormWeights) -> nn.Module:
    if design.normalize is no_norm:
        return nn.Identity()
    layer = nn.LayerNorm(len(weights.gain), eps=weights.eps, dtype=weights.gain.dtype)
    _copy(layer.weight, weights.gain)
    _copy(layer.bias, weights.shift)
    return layer


def torch_layer(weights: BlockWeights, design: BlockDesign) -> nn.TransformerEncoderLayer | nn.TransformerDecoderLayer:
    """The ``nn.TransformerEncoderLayer`` or ``nn.TransformerDecoderLayer`` that computes what a block does.

    Raises:
        ValueError: if torch has no such layer: with experts, without residuals, with a gate, another norm or a norm
            right behind a part, or with heads of another width than d_model / H.
    """
    s, ff = weights.attention.spec, weights.feed_forward
    is_standard = s.H * s.d_k == s.d_model and s.d_v == s.d_k and s.d_out == s.d_model
    is_normed_so = design.norm in ("post", "pre") and design.normalize in (layer_norm, no_norm)
    if isinstance(ff, ExpertsWeights) or not (is_standard and design.residual and is_normed_so and ff.w_gate is None):
        raise ValueError("torch has no such layer: it adds the residual, norms by layer norm, and d_k = d_model / H")
    # The meta device skips the random initialisation, which is slow and advances torch's global generator.
    kind = nn.TransformerEncoderLayer if weights.cross is None else nn.TransformerDecoderLayer
    layer = kind(
        s.d_model,
        s.H,
        ff.d_ff,
        dropout=0.0,
        activation=design.activation,
        norm_first=design.norm == "pre",
        batch_first=True,
        dtype=ff.w_in.dtype,
        device="meta",
    ).to_empty(device="cpu")
    norms = [weights.attention_norm, weights.feed_forward_norm]
    _fill_heads(layer.self_attn, weights.attention)
    if isinstance(layer, nn.TransformerDecoderLayer) and weights.cross is not None and weights.cross_norm is not None:
        _fill_heads(layer.multihead_attn, weights.cross)
        norms.insert(1, weights.cross_norm)
    for linear, w, b in ((layer.linear1, ff.w_in, ff.b_in), (layer.linear2, ff.w_out, ff.b_out)):
        _copy(linear.weight, w.T)
        _copy(linear.bias, b)
    for i, norm in enumerate(norms, 1):
        setattr(layer, f"norm{i}", _norm(design, norm))
    return layer


def torch_layer_error(trace: BlockTrace) -> Tensor:
    """Deviation of each token of a block's output from torch's own layer with the same weights and masks, (T,).

    Raises:
        ValueError: as in :func:`torch_layer`.
    """
    layer = torch_layer(trace.weights, trace.design)
    # True means blocked in torch's layers.
    self_mask = None if trace.attention.allowed is None else ~trace.attention.allowed
    with torch.inference_mode():
        if isinstance(layer, nn.TransformerEncoderLayer):
            output = layer(trace.x, src_mask=self_mask)
        else:
            assert trace.cross is not None
            memory_mask = None if trace.cross.allowed is None else ~trace.cross.allowed
            output = layer(trace.x, trace.cross.memory, tgt_mask=self_mask, memory_mask=memory_mask)
    return (output - trace.output).abs().amax(-1)
