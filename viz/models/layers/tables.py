"""Tables of positions, one row added to each token, as models keep them."""

from operator import attrgetter
from typing import Any

from torch import Tensor


def position_rows(base_model: Any, path: str, width: int) -> Tensor:
    """Return the rows that a model adds to its tokens' vectors, the first place first, (places, d_model).

    The path is of a table, or of a formula's numbers, in front of which a model multiplies the vectors by
    ``embed_scale``, where it has one; CTRL, which gives that no name, by the root of their width.
    """
    table = attrgetter(path)(base_model)
    owner = attrgetter(path.rpartition(".")[0])(base_model) if "." in path else base_model
    if not isinstance(table, Tensor):
        # BART's first rows belong to no place, nor do RoBERTa's, whose places are counted on from its padding.
        padding = getattr(table, "padding_idx", None)
        before = getattr(table, "offset", 0) if padding is None else padding + 1
        return table.weight.detach().float()[before:]
    around = attrgetter(path.rpartition(".")[0].rpartition(".")[0])(base_model) if path.count(".") > 1 else base_model
    padding = getattr(owner, "padding_idx", None)
    before = 0 if padding is None else padding + 1
    return table.detach().float()[before:] / getattr(around, "embed_scale", width**0.5 if owner is base_model else 1.0)
