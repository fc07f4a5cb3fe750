"""Decoding one token at a time: the cache of keys and values, and why it needs a causal mask."""

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.attention import ScoreMod, row_softmax
from viz.core.variants.kv_sharing import decode_step


def decode(
    q: Float[Tensor, "H T d_k"],
    k: Float[Tensor, "G T d_k"],
    v: Float[Tensor, "G T d_v"],
    *,
    bias: Float[Tensor, "*A T T"] | None = None,
    scale: float | None = None,
    score_mod: ScoreMod | None = None,
    sink: Float[Tensor, " H"] | None = None,
) -> Float[Tensor, "H T d_v"]:
    r"""Attend as a decoder writes: token t arrives, puts its key and value into the cache, and asks all in it.

    .. math:: z_t = \operatorname{softmax}(q_t\, [k_0; \dots; k_t]^\top / \sqrt{d_k})\, [v_0; \dots; v_t]

    Nothing is masked, for later tokens are not there yet; yet the result is that of the causal mask on the whole text
    at once. No row is computed twice, so no row can change when the next token arrives.

    Tokens arrive in order; the options are those of :func:`~viz.core.attention.attend`.

    Example:
        >>> one = torch.ones(1, 3, 1)
        >>> decode(one, one, torch.tensor([[[0.0], [1.0], [5.0]]])).flatten()
        tensor([0.0000, 0.5000, 2.0000])
    """
    n_heads, n_tokens, _ = q.shape
    rows = []
    for t in range(n_tokens):
        keys, values = k[:, : t + 1], v[:, : t + 1]
        row_bias = None if bias is None else bias[..., t, : t + 1].expand(n_heads, -1)
        rows.append(decode_step(q[:, t], keys, values, bias=row_bias, scale=scale, score_mod=score_mod, sink=sink))
    return torch.stack(rows, 1)


def weight_taken_by_new_token(scores: Float[Tensor, "*B T T"]) -> Float[Tensor, "*B T T"]:
    r"""Weight that row i gives up to a new token t if nothing is masked (i < t; 0 elsewhere).

    .. math:: \Delta_{it} = \frac{e^{s_{it}}}{\sum_{m \le t} e^{s_{im}}}

    Each weight that was there shrinks by the factor :math:`1 - \Delta_{it}`, so this is exactly the total variation
    between the row before and after.

    Example:
        >>> weight_taken_by_new_token(torch.zeros(3, 3))
        tensor([[0.0000, 0.5000, 0.3333],
                [0.0000, 0.0000, 0.3333],
                [0.0000, 0.0000, 0.0000]])
    """
    takes = (scores - scores.logcumsumexp(-1)).exp()
    # NaN stands where the new token and all before it are masked.
    return takes.nan_to_num(0.0).triu(1)


def rows_at_length(scores: Float[Tensor, "*B T T"], n: int) -> Float[Tensor, "*B n n"]:
    """Weights of the first ``n`` tokens at the time when there are no others, without a mask.

    Example:
        >>> rows_at_length(torch.zeros(3, 3), 2)
        tensor([[0.5000, 0.5000],
                [0.5000, 0.5000]])
    """
    return row_softmax(scores[..., :n, :n])
