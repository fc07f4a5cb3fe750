"""What the page keeps: the singular values of a head's form."""

import torch
from torch import Tensor

from pages.many_heads.context import q_and_k_of
from viz.core.analysis.several_heads import score_form
from viz.frame import compute
from viz.frame.specs import Mask, Source


@compute.kept
def strengths(source: Source, layer: int, head: int) -> Tensor:
    """The singular values of W_Q W_Kᵀ, the largest first."""
    weights = compute.trace(source, layer, Mask()).projections
    with torch.inference_mode():
        return torch.linalg.svdvals(score_form(*q_and_k_of(weights, head)))


@compute.kept
def rank_by_torch(source: Source, layer: int, head: int) -> int:
    """The rank of the same, from its factors: that of W_Q and W_K, whichever is smaller, in double precision."""
    weights = compute.trace(source, layer, Mask()).projections
    with torch.inference_mode():
        w_q, w_k = (factor.double() for factor in q_and_k_of(weights, head))
        return int(torch.linalg.matrix_rank(torch.linalg.qr(w_q).R @ torch.linalg.qr(w_k).R.T, rtol=1e-5))
