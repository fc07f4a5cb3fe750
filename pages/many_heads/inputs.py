"""Each head reads the whole vector: zero one of its numbers, and every head's queries change."""

from torch import Tensor

from pages.many_heads.context import ManyHeadsContext
from viz.components.bars import BarChart
from viz.core.analysis.checks import largest
from viz.core.heads import HeadWeights, project, split_heads
from viz.figures.palette import BLUE, ORANGE
from viz.frame.checks import Check, check, scene_checks
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.scene import refuse_latent
from viz.frame.show import show_bars
from viz.params import Int

INPUT_OFF = Int("input_off", high=lambda width: width - 1)


def queries(x: Tensor, weights: HeadWeights) -> Tensor:
    """Return every head's queries, (H, Q, d_k), before rotation and scaling."""
    return split_heads(project(x, weights.w_q, weights.b_q), weights.spec.H)


def changes(x: Tensor, weights: HeadWeights, place: int) -> Tensor:
    """Return the relative change of each head's queries, (H), if number ``place`` of every vector is 0."""
    without = x.clone()
    without[:, place] = 0
    complete = queries(x, weights)
    return (complete - queries(without, weights)).norm(dim=(-2, -1)) / complete.norm(dim=(-2, -1))


def draw(context: ManyHeadsContext) -> list[Check]:
    """Draw the change of each head's queries without one of the vector's numbers."""
    refuse_latent(context.scene)
    t, trace = context.t, context.scene.trace
    weights, x = trace.projections, trace.x
    spec = weights.spec
    place = INPUT_OFF.read(spec.d_model)
    by_head = changes(x, weights, place)
    owner = min(place * spec.H // spec.d_model, spec.H - 1)
    n_changed = int((by_head > 0).sum())
    least, most = share(float(by_head.min())), share(float(by_head.max()))
    summary = t("many_heads.inputs.found", place=place, changed=n_changed, n=spec.H, least=least, most=most)
    show_bars(
        BarChart(
            context.names,
            {t("many_heads.inputs.change"): by_head},
            title="",
            value_title=t("many_heads.inputs.change"),
            colours=[ORANGE if head == owner else BLUE for head in range(spec.H)],
        ),
        key="inputs",
        alt=summary,
    )
    INPUT_OFF.slider(t("many_heads.inputs.place"), spec.d_model)
    say(summary)
    if spec.H > 1:
        say(t("many_heads.inputs.cut", owner=owner, d=spec.d_model, H=spec.H, d_k=spec.d_k))
    # The queries lose that number's row of W_Q times the number.
    row = weights.w_q[place].unflatten(0, (spec.H, spec.d_k))
    missing = x[:, place].norm() * row.norm(dim=-1) / queries(x, weights).norm(dim=(-2, -1))
    return [
        check("many_heads.inputs.check", (missing - by_head).abs().max(), 1e-4 * largest(by_head) + 1e-6),
        *scene_checks(context.scene),
    ]
