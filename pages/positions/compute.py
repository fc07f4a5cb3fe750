"""Cached results of the Positions page: a text read with other positions, or in another order."""

import torch
from torch import Tensor

from viz import limits
from viz.core.heads import MultiHeadTrace
from viz.core.variants.encodings import encode, no_table
from viz.frame.compute import bare, cached, model, on_seeded_heads
from viz.frame.compute.positions import every_encoding
from viz.frame.specs import Placing, Source
from viz.models import positions
from viz.models.capture import Capture


@cached
def place_tokens(source: Source, placing: Placing, *, only_first: bool = False) -> Capture:
    """Return a capture, or only of its first layer, of a text's first tokens with other positions or in another order.

    Only the encoding's table is added here; rotations and biases follow in :func:`viz.core.variants.encodings.encode`.
    """
    tokens, vectors = bare(source)
    tokens, vectors = positions.first(tokens, limits.PLACED_TOKENS), vectors[: limits.PLACED_TOKENS]
    if placing.order:
        tokens, vectors = positions.reorder(tokens, placing.order), vectors[list(placing.order)]
    table = every_encoding(source, placing)[placing.code].table(*vectors.shape)
    if source.kind != "model":
        return on_seeded_heads(source, tokens, vectors + table)
    return positions.capture_placed(model(source.model), tokens, table, only_first=only_first)


def first_layer(source: Source, placing: Placing) -> MultiHeadTrace:
    """Return the first layer of heads with positions encoded, without a mask.

    Raises:
        ValueError: if the encoding does not fit the heads' sizes.
    """
    how = every_encoding(source, placing)[placing.code]
    added = Placing(order=placing.order) if how.table is no_table else placing
    # Every layer of a text without a table is compared.
    call = place_tokens(source, added, only_first=added is placing).calls[0]
    with torch.inference_mode():
        options = {name: call.options[name] for name in ("scale", "score_mod") if name in call.options}
        return encode(call.x, call.projections, how, **options)


@cached
def encoded(source: Source, placing: Placing) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (H, T, d_k), keys (G, T, d_k) and scores with the bias, scaled, (H, T, T), of :func:`first_layer`."""
    trace = first_layer(source, placing)
    return trace.q, trace.k, trace.masked
