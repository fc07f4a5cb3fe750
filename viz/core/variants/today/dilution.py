"""The weight of one key in longer and longer texts: it is diluted unless scores grow with the length."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def weight_among(
    scores: Float[Tensor, " K"], key: int, n_keys: Int[Tensor, " N"], temperatures: Float[Tensor, " N"]
) -> Float[Tensor, " N"]:
    r"""Return the weight of one key that stands once among n, the others repeated evenly until there are n.

    .. math:: \frac{e^{\tau s_*}}{e^{\tau s_*} + (n - 1)\, \operatorname{mean}_{j \ne *} e^{\tau s_j}}

    With n the row's own length and :math:`\tau = 1` it is the weight in the row. float64.

    Args:
        scores: a row of scaled scores.
        key: the key that stands once.
        n_keys: lengths of text.
        temperatures: factor of all scores at each length, e.g. :func:`~viz.core.variants.today.angles.temperatures`.

    Raises:
        ValueError: if there are no other keys.

    Example:
        >>> weight_among(torch.zeros(2), 0, torch.tensor([2, 100]), torch.ones(2))
        tensor([0.5000, 0.0100], dtype=torch.float64)
    """
    if len(scores) < 2:
        raise ValueError(f"a row of {len(scores)} has no other keys")
    above = scores.double() - scores.double()[key]
    remaining = torch.cat([above[:key], above[key + 1 :]])
    factors = temperatures.double()[:, None]
    log_mean = (factors * remaining).logsumexp(-1) - torch.tensor(float(len(remaining))).double().log()
    return torch.sigmoid(-((n_keys - 1).double().log() + log_mean))
