"""Heads in their general form: widths that may all differ, and a scoring function of each head's own."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from viz.core.attention import row_softmax
from viz.core.variants.scoring import AdditiveWeights, additive, scaled_dot


@dataclass(frozen=True, kw_only=True)
class Widths:
    """Numbers in a vector: ``d`` of what goes in, ``p`` of what a head makes of it, ``p_o`` of what comes out.

    ``p_q`` and ``p_k`` may differ where a head scores additively; ``d_hidden`` is the width of the network that does.
    """

    d_q: int
    d_k: int
    d_v: int
    p_q: int
    p_k: int
    p_v: int
    p_o: int
    d_hidden: int


@dataclass(frozen=True, kw_only=True)
class GeneralHead:
    """Weights of a head: ``w_q`` (d_q, p_q), ``w_k`` (d_k, p_k), ``w_v`` (d_v, p_v), and how it scores.

    ``additive`` None: by the scaled dot product, which learns nothing more and needs p_q = p_k.
    """

    w_q: Tensor
    w_k: Tensor
    w_v: Tensor
    additive: AdditiveWeights | None = None

    @classmethod
    def random(cls, widths: Widths, *, is_additive: bool, seed: int) -> "GeneralHead":
        r"""Draw weights :math:`\mathcal N(0, 1/\text{rows})`, as :meth:`viz.core.heads.HeadWeights.random` does."""
        generator = torch.Generator().manual_seed(seed)
        w_q, w_k, w_v = (
            torch.randn(d, p, generator=generator) / d**0.5
            for d, p in ((widths.d_q, widths.p_q), (widths.d_k, widths.p_k), (widths.d_v, widths.p_v))
        )
        scores = AdditiveWeights.random(widths.p_q, widths.p_k, widths.d_hidden, seed=seed) if is_additive else None
        return cls(w_q=w_q, w_k=w_k, w_v=w_v, additive=scores)

    def n_parameters(self) -> int:
        """Numbers learned, counted from the tensors themselves."""
        network = () if self.additive is None else tuple(vars(self.additive).values())
        return sum(weights.numel() for weights in (self.w_q, self.w_k, self.w_v, *network))


@dataclass(frozen=True, kw_only=True)
class GeneralTrace:
    """Every step of the heads, in order: ``scores`` (h, Q, K), ``masked`` where a mask has closed cells,
    ``weights``, ``head_outputs`` (h, Q, p_v), ``concat`` (Q, h p_v), ``output`` (Q, p_o).
    """

    scores: Tensor
    masked: Tensor
    weights: Tensor
    head_outputs: Tensor
    concat: Tensor
    output: Tensor


def general_heads(
    queries: Float[Tensor, "Q d_q"],
    keys: Float[Tensor, "K d_key"],
    values: Float[Tensor, "K d_val"],
    heads: tuple[GeneralHead, ...],
    w_o: Float[Tensor, "width p_o"],
    *,
    allowed: Bool[Tensor, "#Q #K"] | None = None,
) -> GeneralTrace:
    r"""Project, score, share out, mix, in every head its own way; then lay side by side and multiply by W_O.

    .. math:: Z_i = \operatorname{softmax}\big(f_i(Q W_Q^i,\, K W_K^i)\big)\, V W_V^i, \qquad
              Y = [Z_1; \dots; Z_h]\, W_O

    Zhang et al., Dive into Deep Learning, "Multi-Head Attention", which writes columns: what is a row times a matrix
    here is :math:`\mathbf W_i^{(q)} \mathbf q` there. A mask does not know how the scores came about: closed cells are
    -inf for both kinds, and a row that may look nowhere is 0.

    Raises:
        ValueError: if a head with a dot product has queries and keys of different widths.

    Example:
        Keys of two numbers for a query of one: additive scoring brings both to its own width.

        >>> one, two = torch.ones(1, 1), torch.ones(2, 1)
        >>> network = AdditiveWeights(w_q=one, w_k=two, w_v=torch.ones(1))
        >>> head = GeneralHead(w_q=one, w_k=torch.eye(2), w_v=one, additive=network)
        >>> trace = general_heads(one, torch.eye(2), torch.tensor([[2.0], [4.0]]), (head,), one)
        >>> trace.weights, trace.output
        (tensor([[[0.5000, 0.5000]]]), tensor([[3.]]))
    """
    projected = [(queries @ head.w_q, keys @ head.w_k, values @ head.w_v) for head in heads]
    scores = torch.stack(
        [
            scaled_dot(q, k) if head.additive is None else additive(q, k, head.additive)
            for head, (q, k, _) in zip(heads, projected, strict=True)
        ]
    )
    masked = scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
    weights = row_softmax(masked)
    outputs = weights @ torch.stack([v for _, _, v in projected])
    concat = outputs.transpose(0, 1).flatten(1)
    return GeneralTrace(
        scores=scores, masked=masked, weights=weights, head_outputs=outputs, concat=concat, output=concat @ w_o
    )
