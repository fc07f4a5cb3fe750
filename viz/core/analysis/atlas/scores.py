"""Scores of a head on one text: shares of its weight, entropy and distance, the fit of a window of positions.

A score is NaN where the text has nothing to score: no punctuation, say, or no token that occurs twice.
"""

from collections.abc import Mapping

from jaxtyping import Bool, Float, Int
from torch import Tensor

from viz.core.analysis.head_statistics import head_statistics
from viz.core.analysis.map_statistics import weight_at_offset, weight_on_keys
from viz.core.analysis.window_fit import fit_windows
from viz.core.variants.kv_sharing import induction

SENTENCES = ("previous", "next", "itself", "first", "separators", "punctuation", "same", "entropy", "distance")
"""Scores of a text as people write it."""
WINDOW = "window"
"""Score of such a text too; it takes longer than all the others together."""
REPEATED = ("duplicate", "induction")
"""Scores of random tokens that are repeated once: only a head that looks back can predict the next token."""


def sentence_scores(
    weights: Float[Tensor, "H T T"],
    ids: Int[Tensor, " T"],
    special: Bool[Tensor, " T"],
    marks: Bool[Tensor, " T"],
    allowed: Bool[Tensor, "T T"],
) -> Mapping[str, Float[Tensor, " H"]]:
    """Score each head of self-attention on a text: the numbers of its portrait, and two more shares of weight.

    ``itself`` is on the query's own token, ``punctuation`` on the marks, of every other query that may look at one.

    Args:
        weights: each row sums to 1.
        ids: the tokens.
        special: True at what the tokenizer added.
        marks: True at punctuation.
        allowed: where a query may look.

    Example:
        >>> import torch
        >>> ids, no, mark = torch.tensor([5, 7]), torch.zeros(2).bool(), torch.tensor([False, True])
        >>> weights = torch.tensor([[[0.25, 0.75], [0.5, 0.5]]])
        >>> scores = sentence_scores(weights, ids, no, mark, torch.ones(2, 2).bool())
        >>> [round(float(scores[name]), 3) for name in ("next", "itself", "punctuation")]
        [0.75, 0.375, 0.75]
    """
    statistics = head_statistics(weights, ids, special)
    asks = ~marks & ~special & (allowed & marks).any(-1)
    more = {
        "itself": weight_at_offset(weights, 0).mean(-1),
        "punctuation": weight_on_keys(weights, marks)[:, asks].mean(-1),
    }
    return {name: more[name] if name in more else getattr(statistics, name) for name in SENTENCES}


def window_score(weights: Float[Tensor, "H T T"], allowed: Bool[Tensor, "T T"]) -> Float[Tensor, " H"]:
    """Share of each head's variance that the best window of positions explains, from 0 to 1."""
    return fit_windows(weights, allowed).explained_share


def earlier_mention(ids: Int[Tensor, " T"]) -> Bool[Tensor, "T T"]:
    """Mark the keys of a duplicate-token head: True at each earlier mention of the query's own token.

    Example:
        >>> import torch
        >>> earlier_mention(torch.tensor([4, 7, 4])).int()
        tensor([[0, 0, 0],
                [0, 0, 0],
                [1, 0, 0]], dtype=torch.int32)
    """
    return (ids == ids[:, None]).tril(-1)


def repeated_scores(weights: Float[Tensor, "H T T"], ids: Int[Tensor, " T"]) -> Mapping[str, Float[Tensor, " H"]]:
    """Score each head on tokens that come twice: its weight on the first mention, and on what followed that.

    Example:
        >>> import torch
        >>> weights = torch.tensor([[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.1, 0.7, 0.2]]])
        >>> {name: round(float(score), 2) for name, score in repeated_scores(weights, torch.tensor([4, 7, 4])).items()}
        {'duplicate': 0.1, 'induction': 0.7}
    """
    keys = earlier_mention(ids)
    return {
        "duplicate": weight_on_keys(weights, keys)[:, keys.any(-1)].mean(-1),
        "induction": induction(weights, ids),
    }


def copying_scores(logits: Float[Tensor, "H N N"]) -> Float[Tensor, "N H"]:
    """For each word that a head looks at: the share of the other words whose logit it raises less than that word's own.

    1 is a head that copies, 0 one that speaks against what it looks at, a half is chance.

    Args:
        logits: a row for each word looked at, a column for each word written, the same words in the same order.

    Example:
        >>> import torch
        >>> copying_scores(torch.tensor([[[2.0, 1.0, 0.0], [0.0, 1.0, 2.0], [1.0, 2.0, 0.0]]])).flatten()
        tensor([1.0000, 0.5000, 0.0000])
    """
    itself = logits.diagonal(0, -2, -1)[..., None]
    return ((logits < itself).sum(-1) / (logits.shape[-1] - 1)).T
