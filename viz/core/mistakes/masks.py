"""Other ways to mask, and their mistakes: fully masked rows, a mask after the softmax, the opposite polarity."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from viz.core.attention import row_softmax

LOW = -1e9
"""Stand-in of many programs for minus infinity."""


def softmax_inf_fill(scores: Float[Tensor, "*B Q K"], allowed: Bool[Tensor, "Q K"]) -> Float[Tensor, "*B Q K"]:
    r"""The formula alone: :math:`e^{-\infty} / \sum e^{-\infty} = 0 / 0` makes NaN of a row with no key left.

    Example:
        >>> softmax_inf_fill(torch.zeros(1, 2), torch.tensor([[False, False]]))
        tensor([[nan, nan]])
    """
    return torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)


def softmax_replace_1e9(scores: Float[Tensor, "*B Q K"], allowed: Bool[Tensor, "Q K"]) -> Float[Tensor, "*B Q K"]:
    """Blocked scores *replaced* by -1e9: where all are, all are equal, and the row is spread evenly over what it must
    not see.

    Example:
        >>> softmax_replace_1e9(torch.tensor([[1.0, 2.0]]), torch.tensor([[False, False]]))
        tensor([[0.5000, 0.5000]])
    """
    return torch.softmax(scores.masked_fill(~allowed, LOW), dim=-1)


def softmax_add_1e9(scores: Float[Tensor, "*B Q K"], allowed: Bool[Tensor, "Q K"]) -> Float[Tensor, "*B Q K"]:
    """-1e9 *added* to blocked scores: in float64 a row with no key left is as if nothing had been masked; in float32,
    where numbers near 1e9 are 64 apart, the scores drown and the row is even.

    Example:
        >>> softmax_add_1e9(torch.tensor([[0.0, math.log(3)]]).double(), torch.tensor([[False, False]]))
        tensor([[0.2500, 0.7500]], dtype=torch.float64)
    """
    return torch.softmax(scores + LOW * ~allowed, dim=-1)


def sdpa_weights(scores: Float[Tensor, "*B Q K"], allowed: Bool[Tensor, "Q K"]) -> Float[Tensor, "*B Q K"]:
    r"""The weights inside ``F.scaled_dot_product_attention``, which hands out none: with the identity for keys and
    values its output :math:`\operatorname{softmax}(S I^\top) I` is the weights. A row with no key left is 0.

    Example:
        >>> sdpa_weights(torch.zeros(2, 2), torch.tensor([[True, True], [False, False]]))
        tensor([[0.5000, 0.5000],
                [0.0000, 0.0000]])
    """
    identity = torch.eye(scores.shape[-1], dtype=scores.dtype).expand(*scores.shape[:-2], -1, -1)
    return scaled_dot_product_attention(scores, identity, identity, attn_mask=allowed, scale=1.0)


def mask_after_softmax(scores: Float[Tensor, "*B Q K"], allowed: Bool[Tensor, "Q K"]) -> Float[Tensor, "*B Q K"]:
    """The mask comes too late: blocked weights are set to 0 *after* the softmax, and what they held is lost.

    A row sums to less than 1, by what its query would have given to keys it may not see: so these do have a say.

    Example:
        >>> mask_after_softmax(torch.zeros(1, 2), torch.tensor([[True, False]]))
        tensor([[0.5000, 0.0000]])
    """
    return row_softmax(scores) * allowed


def renormalise(weights: Float[Tensor, "*B Q K"]) -> Float[Tensor, "*B Q K"]:
    """Divide each row by its sum; a row of zeros stays zero. After :func:`mask_after_softmax` this mends what it broke.

    Example:
        >>> renormalise(torch.tensor([[0.5, 0.0], [0.0, 0.0]]))
        tensor([[1., 0.],
                [0., 0.]])
    """
    total = weights.sum(-1, keepdim=True)
    return weights / total.where(total > 0, 1.0)


def through_mha(
    q: Float[Tensor, "H Q d"],
    k: Float[Tensor, "H K d"],
    v: Float[Tensor, "H K d"],
    *,
    blocked: Bool[Tensor, "Q K"],
    scale: float | None = None,
) -> Float[Tensor, "H Q d"]:
    """Attend inside ``nn.MultiheadAttention``, whose mask says True where a query may **not** look.

    Its four projections are set to the identity, so that the heads get q, k and v as they are. By
    default it also returns its weights, and then a fully masked row is NaN; without them it calls torch's own: 0.

    Args:
        q: queries.
        k: keys, one head for each query head.
        v: values, of the same width.
        blocked: True where a query may not look; the opposite of ``allowed``.
        scale: what the scores are multiplied by; None means 1/sqrt(d), the module's own.

    Example:
        >>> one = torch.ones(1, 2, 1)
        >>> through_mha(one, one, torch.tensor([[[0.0], [1.0]]]), blocked=torch.tensor([[False, True]] * 2)).flatten()
        tensor([0., 0.])
    """
    n_heads, _, d = q.shape
    module = nn.MultiheadAttention(n_heads * d, n_heads, bias=False, dtype=q.dtype)
    identity = torch.eye(n_heads * d, dtype=q.dtype)
    module.load_state_dict({"in_proj_weight": identity.repeat(3, 1), "out_proj.weight": identity})
    factor = 1.0 if scale is None else scale * math.sqrt(d)
    x, memory, values = ((heads.transpose(0, 1).flatten(1)) for heads in (q * factor, k, v))
    with torch.no_grad():
        output, _ = module.eval()(x, memory, values, attn_mask=blocked)
    return output.unflatten(-1, (n_heads, d)).transpose(0, 1)
