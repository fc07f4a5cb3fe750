"""Rank of a head: it reads the whole vector but compares words in only a few directions."""

from pages.many_heads import compute
from pages.many_heads.context import ManyHeadsContext
from viz.figures.curves import curves
from viz.figures.line_chart import Axis, Mark
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.scene import refuse_latent
from viz.frame.shared import HEAD
from viz.frame.show import show_lines

ROUNDING = 1e-5
"""Singular values below this share of the largest are float32 rounding of 0."""


def draw(context: ManyHeadsContext) -> list[Check]:
    """Draw the singular values of a head, sorted; those after the first d_k are 0."""
    refuse_latent(context.scene)
    t, choice = context.t, context.scene.choice
    spec = context.scene.trace.projections.spec
    head = HEAD.read(spec.H)
    strengths = compute.strengths(choice.source, choice.layer, head)
    values = strengths[: min(2 * spec.d_k, len(strengths))].clamp(min=ROUNDING / 100 * float(strengths[0]))
    rank = int((strengths > ROUNDING * strengths[0]).sum())
    summary = t("many_heads.rank.found", head=head, rank=rank, d_k=spec.d_k, d=spec.d_model)
    title = t("many_heads.rank.strength")
    x, y = Axis(t("many_heads.rank.direction")), Axis(title, log=True, grid=True)
    marks = [Mark(x=spec.d_k + 0.5, label=f"d_k = {spec.d_k}")] if len(values) > spec.d_k else []
    fig = curves(range(1, len(values) + 1), {title: values}, x=x, y=y, dots=True, marks=marks, height=300)
    show_lines(fig, key="rank", alt=summary)
    HEAD.slider(t("many_heads.which"), spec.H)
    say(summary)
    n_rank = compute.rank_by_torch(choice.source, choice.layer, head)
    return [check("many_heads.rank.check", abs(rank - n_rank), 0.0, d_k=spec.d_k)]
