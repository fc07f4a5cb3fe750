"""The code below the diagram and its two other views: the functions that computed the blocks on the screen."""

from collections.abc import Callable
from typing import Any

from pages.block import compute
from pages.block.context import BlockContext
from pages.block.side import Side
from viz.core.analysis.torch_layers import torch_layer, torch_layer_error
from viz.core.block import SUBLAYERS, attention_sublayer, decoder_block, encoder_block, feed_forward_sublayer
from viz.core.experts import mixture_of_experts, network, route
from viz.core.feed_forward import feed_forward
from viz.core.norm import moments
from viz.core.spec import OddWidthError
from viz.errors import ModelError

Functions = tuple[Callable[..., Any], ...]


def of_diagram(context: BlockContext) -> Functions:
    """The blocks of the sides that are drawn, their parts, and torch's layer where one is compared with it."""
    sides = _sides(context)
    calls: dict[Callable[..., Any], bool] = {
        encoder_block: any(side.code == "enc" for side in sides),
        decoder_block: any(side.code == "dec" for side in sides),
        attention_sublayer: True,
        feed_forward_sublayer: True,
        network: True,
        mixture_of_experts: any(side.has_experts for side in sides),
        route: any(side.has_experts for side in sides),
        # Every expert is a feed-forward network, too.
        feed_forward: True,
    }
    if any(_is_compared(context, side) for side in sides):
        calls |= {torch_layer: True, torch_layer_error: True}
    return tuple(function for function, is_called in calls.items() if is_called and sides)


def of_points(context: BlockContext) -> Functions:
    """The norms of the sides that are drawn, and the moments of their points."""
    sides = _sides(context)
    return (*dict.fromkeys(side.trace.design.normalize for side in sides), moments) if sides else ()


def of_places(context: BlockContext) -> Functions:
    """The two places of the norm that are compared."""
    return tuple(SUBLAYERS[place] for side in _sides(context)[-1:] for place in compute.places(side.stack.design.norm))


def _sides(context: BlockContext) -> tuple[Side, ...]:
    """The sides that are drawn: none where a decoder cannot read the target."""
    try:
        return context.sides
    except (ModelError, OddWidthError) as error:
        if isinstance(error, ModelError) and error.code != "empty":
            raise
        return ()


def _is_compared(context: BlockContext, side: Side) -> bool:
    target = context.target if side.code == "dec" else ""
    rows = compute.block_errors(context.source, target, context.plan, context.mask)
    return any(row.torch_layer is not None for row in rows)
