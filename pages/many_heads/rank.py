"""What is small in a head: not what it reads, but in how many directions it can compare two words."""

from pages.many_heads import compute
from pages.many_heads.context import ManyHeadsContext
from viz.figures.line_chart import Axis, LineChart, Mark, Series
from viz.figures.palette import BLUE
from viz.frame.checks import Check, check
from viz.frame.modes import say
from viz.frame.scene import refuse_latent
from viz.frame.shared import HEAD
from viz.frame.show import show_lines

ROUNDING = 1e-5
"""What is smaller than this, as a share of the largest, is what float32 leaves of 0."""


def draw(context: ManyHeadsContext) -> list[Check]:
    """The strengths of a head's directions, sorted; after d_k of them nothing is left."""
    refuse_latent(context.scene)
    t, choice = context.t, context.scene.choice
    spec = context.scene.trace.projections.spec
    head = HEAD.read(spec.H)
    strengths = compute.strengths(choice.source, choice.layer, head)
    drawn = strengths[: min(2 * spec.d_k, len(strengths))].clamp(min=ROUNDING / 100 * float(strengths[0]))
    counted = int((strengths > ROUNDING * strengths[0]).sum())
    found = t("many_heads.inputs.rank.found", head=head, rank=counted, d_k=spec.d_k, d=spec.d_model)
    fig = LineChart(
        series=[
            Series(
                name=t("many_heads.inputs.rank.strength"),
                x=list(range(1, len(drawn) + 1)),
                y=drawn.tolist(),
                colour=BLUE,
                marker=5,
            )
        ],
        x=Axis(t("many_heads.inputs.rank.direction")),
        y=Axis(t("many_heads.inputs.rank.strength"), log=True, grid=True),
        marks=[Mark(x=spec.d_k + 0.5, label=f"d_k = {spec.d_k}")] if len(drawn) > spec.d_k else [],
        legend=False,
    )
    show_lines(fig, key="rank", alt=found)
    HEAD.slider(t("many_heads.which"), spec.H)
    say(found)
    n_rank = compute.rank_by_torch(choice.source, choice.layer, head)
    return [check("many_heads.inputs.rank.check", abs(counted - n_rank), 0.0, d_k=spec.d_k)]
