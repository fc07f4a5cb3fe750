"""Does a large weight matter? Where a head looks, beside what arrives from there."""

import torch
from torch import Tensor

from pages.heads.context import HeadsContext
from viz.components.bars import BarChart
from viz.core.analysis.checks import largest
from viz.core.analysis.map_statistics import message_norms
from viz.core.heads import share_kv
from viz.errors import ModelError
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.show import show_bars

AT_ONCE = 16
"""Keys whose messages are held at once: those of 512 tokens to 512 are 400 MB."""


def by_messages(weights: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """The output of each query, (Q, d), and the lengths of each key's messages, (K,), message by message.

    Not by the matrix product the trace was made with. ``weights`` (Q, K) say how much of ``values`` (K, d) arrives.
    """
    added_up, lengths = torch.zeros(len(weights), values.shape[-1]), list[Tensor]()
    for shares, keys in zip(weights.split(AT_ONCE, 1), values.split(AT_ONCE), strict=True):
        messages = shares.unsqueeze(-1) * keys
        added_up += messages.sum(1)
        lengths.append(messages.norm(dim=-1).sum(0))
    return added_up, torch.cat(lengths)


def draw(context: HeadsContext) -> list[Check]:
    """Draw for each key its share of the head's weight and its share of the head's output."""
    t, trace, head = context.t, context.scene.trace, context.head
    labels = context.scene.labels
    # The gate differs from query to query, so a value behind it has no single length.
    if trace.gate is not None:
        raise ModelError("gate", model=context.scene.choice.source.model)
    w_o = trace.projections.w_o.unflatten(0, (trace.projections.spec.H, -1))
    values = share_kv(trace.v, w_o.shape[0])
    norms = message_norms(values, w_o)[head]
    weight = trace.weights[head].sum(0)
    weight = weight / weight.sum().clamp(min=1e-30)
    message = (trace.weights[head] * norms).sum(0)
    message = message / message.sum().clamp(min=1e-30)
    series = {t("heads.by_weight"): weight, t("heads.by_message"): message}
    alt = t("heads.arrive_alt", n=len(labels))
    show_bars(BarChart(labels, series, title=t("axis.keys"), value_title=t("heads.share")), key="arrive", alt=alt)
    first, from_first = share(float(weight[0])), share(float(message[0]))
    sentence = "arrive_found" if bool(weight.any()) else "arrive_nothing"
    say(t(f"heads.{sentence}", head=head, first=first, first_message=from_first))
    added_up, lengths = by_messages(trace.weights[head], values[head] @ w_o[head])
    error = (added_up - trace.contributions[head]).abs().max()
    off = (lengths / lengths.sum().clamp(min=1e-30) - message).abs().max()
    return [
        check("heads.check_arrive", error, 1e-5 * largest(trace.contributions[head])),
        check("heads.check_lengths", off, 1e-5),
    ]
