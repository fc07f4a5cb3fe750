"""A part of a score exchanged for what other words have in its place: the weight, with all norms computed anew."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from viz.core.analysis.score_parts import Part, ScoringHead


def exchange_part(
    head: ScoringHead,
    query: int,
    key: int,
    part: Part,
    donors: Int[Tensor, " M"],
    allowed: Bool[Tensor, " T"] | None = None,
) -> Float[Tensor, " M"]:
    """Weight of an edge with a part at one of its ends replaced by that of each donor, all else as it was written.

    Norms are computed anew; what later heads and feed-forward networks wrote stays. A donor that has the same there
    leaves the weight as it is.

    Args:
        head: the head, and the streams in front of its layer.
        query: the token that looks.
        key: the token that is looked at.
        part: a word, a place, a head or a feed-forward network, at the query or at the key.
        donors: the tokens whose part is put in its place, one at a time.
        allowed: True where the query may look; None is everywhere.

    Example:
        >>> from viz.core.block import BlockDesign
        >>> word, nothing, eye = torch.tensor([[4.0], [0.0]]), torch.zeros(2, 1), torch.ones(1, 1)
        >>> head = ScoringHead(word=word, place=nothing, constant=nothing, blocks=(), w_q=eye, w_k=eye,
        ...                    b_q=torch.ones(1), b_k=torch.zeros(1), scale=1.0, design=BlockDesign())
        >>> part = Part(side="key", kind="word", layer=-1, head=-1, amount=4.0)
        >>> exchange_part(head, 1, 0, part, torch.tensor([0, 1])).tolist()  # weights e^4 / (e^4 + 1), and a half
        [0.9820137900379085, 0.5]
    """
    at_query = part.side == "query"
    at = query if at_query else key
    q, k = head.queries_and_keys()
    w, b = (head.w_q, head.b_q) if at_query else (head.w_k, head.b_k)
    rows = _inputs_with(head, at, part, donors) @ w.double() + b.double()
    rows = head.turn(rows[:, None], torch.tensor([at]))[:, 0]
    if at_query:
        scores = rows @ k.T
    else:
        scores = (q[query] @ k.T).repeat(len(donors), 1)
        scores[:, key] = rows @ q[query]
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    return (scores * head.scale).softmax(-1)[:, key]


def _inputs_with(head: ScoringHead, at: int, part: Part, donors: Tensor) -> Tensor:
    """A token as W_Q and W_K read it with a part of it exchanged, a row for each donor, (M, d_model)."""
    x = torch.zeros(len(donors), head.word.shape[1], dtype=torch.float64)
    for step in head.steps:
        if step.norm is not None:
            x = head.design.normalize(x, step.norm)
        else:
            is_part = (part.kind, part.layer, part.head) == (step.kind, step.layer, step.head)
            x = x + (step.x[donors] if is_part else step.x[at])
    return x
