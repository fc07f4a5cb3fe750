"""torch's own transformer layers with a block's weights, to check a block against."""

import torch
from torch import Tensor, nn

from viz.core.block import BlockDesign, BlockTrace, BlockWeights
from viz.core.experts import ExpertsWeights
from viz.core.heads import HeadWeights
from viz.core.norm import NormWeights, layer_norm, no_norm


def _fill(layer: nn.Module, weight: Tensor, bias: Tensor | None) -> None:
    """Let a layer compute with a block's own tensors, without copies; a bias the block does not have is 0."""
    layer.weight = nn.Parameter(weight, requires_grad=False)
    layer.bias = nn.Parameter(weight.new_zeros(len(weight)) if bias is None else bias, requires_grad=False)


def _fill_heads(layer: nn.MultiheadAttention, weights: HeadWeights) -> None:
    """``nn.MultiheadAttention`` knows no shared K and V: every query head gets its own copy of them."""
    s = weights.spec

    def own_copy(columns: Tensor) -> Tensor:
        heads = columns.unflatten(-1, (-1, s.d_k))
        n = heads.shape[-2]
        return columns if n == s.H else heads.repeat_interleave(s.H // n, dim=-2).flatten(-2)

    parts = ((weights.w_q, weights.b_q), (weights.w_k, weights.b_k), (weights.w_v, weights.b_v))
    biases = [w.new_zeros(w.shape[1]) if b is None else b for w, b in parts]
    layer.in_proj_weight = nn.Parameter(torch.cat([own_copy(w).T for w, _ in parts]), requires_grad=False)
    layer.in_proj_bias = nn.Parameter(torch.cat(list(map(own_copy, biases))), requires_grad=False)
    _fill(layer.out_proj, weights.w_o.T, weights.b_o)


def _norm(design: BlockDesign, weights: NormWeights) -> nn.Module:
    if design.normalize is no_norm:
        return nn.Identity()
    layer = nn.LayerNorm(len(weights.gain), eps=weights.eps, device="meta")
    _fill(layer, weights.gain, weights.shift)
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
    # On the meta device no parameter is drawn, which is slow and advances torch's global generator.
    kind = nn.TransformerEncoderLayer if weights.cross is None else nn.TransformerDecoderLayer
    layer = kind(
        s.d_model,
        s.H,
        ff.d_ff,
        dropout=0.0,
        activation=design.activation,
        norm_first=design.norm == "pre",
        batch_first=True,
        device="meta",
    )
    norms = [weights.attention_norm, weights.feed_forward_norm]
    _fill_heads(layer.self_attn, weights.attention)
    if isinstance(layer, nn.TransformerDecoderLayer) and weights.cross is not None and weights.cross_norm is not None:
        _fill_heads(layer.multihead_attn, weights.cross)
        norms.insert(1, weights.cross_norm)
    _fill(layer.linear1, ff.w_in.T, ff.b_in)
    _fill(layer.linear2, ff.w_out.T, ff.b_out)
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
