"""Cached results of the Positions page: a text read with other positions, or in another order."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from viz import limits
from viz.core.heads import MultiHeadTrace
from viz.core.positions import kernel
from viz.core.variants.encodings import encode, no_table, offset_profile
from viz.frame.compute import bare, cached, model, on_seeded_heads
from viz.frame.compute.positions import every_encoding
from viz.frame.specs import Placing, Source
from viz.models import positions
from viz.models.capture import Capture

TRAINED = (8, 1024)
"""Shortest and longest length of training that the user can set."""

SAMPLED_ROWS = 64
"""Rows of a model's table that are compared with each other."""


@cached
def place_tokens(source: Source, placing: Placing) -> Capture:
    """Return a capture of the first tokens of a text with other positions, or in another order.

    Only the encoding's table is added here; rotations and biases follow in :func:`viz.core.variants.encodings.encode`.
    """
    tokens, vectors = bare(source)
    tokens, vectors = positions.first(tokens, limits.PLACED_TOKENS), vectors[: limits.PLACED_TOKENS]
    if placing.order:
        tokens, vectors = positions.reorder(tokens, placing.order), vectors[list(placing.order)]
    table = every_encoding(source, placing)[placing.code].table(*vectors.shape)
    if source.kind != "model":
        return on_seeded_heads(source, tokens, vectors + table)
    return positions.capture_placed(model(source.model), tokens, table)


def first_layer(source: Source, placing: Placing) -> MultiHeadTrace:
    """Return the first layer of heads with positions encoded, without a mask.

    Raises:
        ValueError: if the encoding does not fit the heads' sizes.
    """
    how = every_encoding(source, placing)[placing.code]
    added = Placing(order=placing.order) if how.table is no_table else placing
    call = place_tokens(source, added).calls[0]
    with torch.inference_mode():
        options = {name: call.options[name] for name in ("scale", "score_mod") if name in call.options}
        return encode(call.x, call.projections, how, **options)


@cached
def queries_and_keys(source: Source, placing: Placing) -> tuple[Tensor, Tensor]:
    """Return the queries and keys of :func:`first_layer`, (H, T, d_k) and (G, T, d_k)."""
    trace = first_layer(source, placing)
    return trace.q, trace.k


@cached
def encoded(source: Source, placing: Placing) -> Tensor:
    """The scaled scores of :func:`first_layer` with the encoding's bias, (H, T, T)."""
    return first_layer(source, placing).masked


@cached
def far_kernel(width: int, base: float) -> Tensor:
    """Return the dot products of two sinusoidal rows k places apart, for every k that can be set."""
    return kernel(2 * TRAINED[1], width, base=base)


@cached
def goes_by_distance(model_id: str) -> bool:
    """Return True if two rows of a model's table share what their distance says: then nobody learned it, as Marian's.

    The cosines of the rows that MiniLM learned differ by 0.2 at equal distances.
    """
    rows = model(model_id).positions()
    if rows is None:
        return False
    rows = normalize(rows[:SAMPLED_ROWS], dim=-1)
    return float(offset_profile(rows @ rows.T).spread.max()) < 1e-4


@cached
def trained_profile(model_id: str, n: int) -> Tensor:
    """Return the mean cosine of a model's first n rows of positions k apart, k from 0 to n - 1."""
    rows = model(model_id).positions()
    assert rows is not None
    rows = normalize(rows[:n], dim=-1)
    profile = offset_profile(rows @ rows.T)
    return profile.mean[profile.offset >= 0]
