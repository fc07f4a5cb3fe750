"""Does a large weight matter? Where a head looks, beside what arrives from there."""

from pages.heads.context import HeadsContext
from viz.core.analysis.checks import largest
from viz.core.analysis.map_statistics import message_norms
from viz.core.heads import share_kv
from viz.figures.bars import bars
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.show import show
from viz.frame.terms.marks import say


def draw(context: HeadsContext) -> list[Check]:
    """For each key, its share of the head's weight and its share of what the head delivers."""
    t, trace, head = context.t, context.scene.trace, context.head
    labels = context.scene.labels
    w_o = trace.projections.w_o.unflatten(0, (trace.projections.spec.H, -1))
    values = share_kv(trace.v, w_o.shape[0])
    norms = message_norms(values, w_o)[head]
    weight = trace.weights[head].sum(0)
    weight = weight / weight.sum().clamp(min=1e-30)
    message = (trace.weights[head] * norms).sum(0)
    message = message / message.sum().clamp(min=1e-30)
    series = {t("heads.by_weight"): weight, t("heads.by_message"): message}
    alt = t("heads.arrive_alt", n=len(labels))
    show(bars(labels, series, title=t("axis.keys"), value_title=t("heads.share")), key="arrive", alt=alt)
    first, from_first = share(float(weight[0])), share(float(message[0]))
    say(t("heads.arrive_found", head=head, first=first, first_message=from_first))
    # Message by message, and not the matrix product the trace was made with.
    messages = trace.weights[head].unsqueeze(-1) * (values[head] @ w_o[head])
    error = (messages.sum(1) - trace.contributions[head]).abs().max()
    lengths = messages.square().sum(-1).sqrt().sum(0)
    off = (lengths / lengths.sum().clamp(min=1e-30) - message).abs().max()
    return [
        check("heads.check_arrive", error, 1e-5 * largest(trace.contributions[head])),
        check("heads.check_lengths", off, 1e-5),
    ]
