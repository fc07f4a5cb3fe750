"""One text asks, another answers: cross-attention from every source of numbers, as one capture."""

from dataclasses import replace

import torch

from viz.core.analysis.checks import largest
from viz.core.heads import multi_head
from viz.models.capture import Call, Capture

_POSITION_FREE = frozenset(("scale", "score_mod"))
"""Options that apply to any score. A mask and a bias belong to the places of one text and are dropped."""


def _meet(asks: Call, answers: Call) -> Call:
    r"""The same heads with :math:`Q = X W_Q` of one text and :math:`K = M W_K, V = M W_V` of another.

    Where the layer turns q and k by position, each text's places are its own, counted from 0.
    """
    options = {name: value for name, value in asks.options.items() if name in _POSITION_FREE}
    return replace(asks, k=answers.k, v=answers.v, memory=answers.x, options=options)


def pair(asks: Capture, answers: Capture) -> Capture:
    """Every layer of the first stack, with the queries of one text and the keys and values of another.

    Each text was read alone, so ``x`` and ``memory`` are what the two look like at that layer. Nobody may look
    nowhere: the layer's own mask (a decoder's, say) is about one text and does not hold between two.
    """
    calls = tuple(_meet(ask, answer) for ask, answer in zip(asks.calls, answers.calls, strict=True))
    paired = replace(answers, target=asks.tokens, stacks={"cross": calls}, predictions=())
    with torch.inference_mode():
        return replace(paired, final=paired.multi_head(paired.n_layers - 1).output)


def has_cross(capture: Capture) -> bool:
    """Return whether the model has layers trained for cross-attention: an encoder-decoder's."""
    return "cross" in capture.stacks


def trained_cross(together: Capture) -> Capture:
    """An encoder-decoder that read one text and wrote another, with its own cross-attention as the first stack.

    Any other heads, seeded or a model's, were made for one text; :func:`pair` gives them two.
    """
    return replace(together, stacks={"cross": together.stacks["cross"], **together.stacks})


def self_error(capture: Capture, layer: int) -> float:
    """Difference of a text's cross-attention to itself from its self-attention, under the same mask and bias.

    Q, K and V are computed anew from what the pair says asks and answers, so not where a layer turns q and k by
    position; weights, and outputs beside the largest of them.
    """
    once, twice = capture.multi_head(layer), pair(capture, capture).calls[layer]
    again = multi_head(twice.x, twice.memory, twice.projections, **capture.calls[layer].options)
    outputs = (again.output - once.output).abs().max() / largest(once.output)
    return max(float((again.weights - once.weights).abs().max()), float(outputs))
