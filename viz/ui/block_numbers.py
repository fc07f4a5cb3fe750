"""What the block does to the numbers: from point to point, with and without its switches, and beside torch."""

import math
from dataclasses import replace

import streamlit as st
import torch

from viz.core.block import BlockTrace
from viz.core.checks import largest
from viz.core.norm import moments, no_norm, standard_error
from viz.figures.points import points_map
from viz.ui import compute_blocks
from viz.ui.block import Stage, Tower
from viz.ui.block_diagram import kind_of, long_name, tower_name
from viz.ui.layout import Check, attention_checks, check, show
from viz.ui.specs import BlockPlan


def from_point_to_point(stage: Stage, chosen: str) -> None:
    """Mean, standard deviation and length of every token at every point of the open box's tower."""
    t, tower = stage.t, stage.tower(chosen)
    d_model = tower.trace.x.shape[1]
    codes = [code for code, values in tower.boxes.items() if values.shape == (len(tower.labels), d_model)]
    codes = [code for code in codes if kind_of(code) != "memory"]
    seen = [moments(tower.boxes[code]) for code in codes]
    values = {t(f"block.moment_{name}"): torch.stack([getattr(one, name) for one in seen]) for name in vars(seen[0])}
    fig = points_map(
        values, [long_name(stage, code) for code in codes], tower.labels, signed=[t("block.moment_mean")],
        hover=t("block.moment_hover"), column_title=t("axis.tokens"),
        marked=codes.index(chosen) if chosen in codes else None,
    )  # fmt: skip
    show(fig, key="block_points", alt=t("block.points_alt", points=len(codes), n=len(tower.labels)))


def variants(stage: Stage) -> dict[str, BlockPlan]:
    """The block as it is, and with each thing changed alone, by the code of the change."""
    own = stage.towers[-1].stack.design.norm
    usual = BlockPlan(positions=stage.plan.positions)
    return {
        own: usual,
        "pre" if own == "post" else "post": replace(usual, norm="pre" if own == "post" else "post"),
        "no_residual": replace(usual, residual=False),
        "no_norm": replace(usual, normalize=False),
        "neither": replace(usual, residual=False, normalize=False),
    }


def written(number: float) -> str:
    """A number to be compared with others of very different size."""
    if math.isnan(number):  # nothing to compare with
        return "–"
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3f}" if abs(number) >= 0.001 or number == 0 else f"{number:.1e}"


def switches(stage: Stage) -> None:
    """What each switch does to what the last block hands on."""
    t = stage.t
    tower, rows, every = stage.towers[-1], [], variants(stage)
    if all(plan.design(tower.stack.design) != tower.trace.design for plan in every.values()):
        every["several"] = stage.plan
    for code, plan in every.items():
        made = compute_blocks.outcome(stage.source, stage.target, plan, stage.mask)
        here = plan.design(tower.stack.design) == tower.trace.design
        name = t(f"block.variant_{code}")
        row = {t("block.variant"): t("block.variant_now", name=name) if here else name}
        rows.append(row | {t(f"block.outcome_{what}"): written(number) for what, number in vars(made).items()})
    st.dataframe(rows, hide_index=True, width="stretch")
    st.caption(t("block.outcome_says", n=len(stage.towers[-1].traces)))


def _sum_error(tower: Tower) -> float:
    """How far any sum is from its two terms."""
    points, residual, worst = tower.trace.points, tower.trace.design.residual, 0.0
    came_in = tower.trace.x
    for name, values in points.items():
        if name.endswith("_add"):
            expected = points[name.removesuffix("_add")] + (came_in if residual else 0)
            worst = max(worst, float((values - expected).abs().max()))
        part_ends = "_add" if tower.trace.design.norm == "pre" else "_norm"
        if name.endswith(part_ends):
            came_in = values
    return worst


def norm_error(trace: BlockTrace) -> float:
    """How far any norm's rows are from standard, and what is shown from the norm of what came before."""
    normalize, worst = trace.design.normalize, 0.0
    for point in trace.points:
        if point.endswith("_norm"):
            came, learned = trace.before(point), trace.norm_weights(point)
            off = (trace.points[point] - normalize(came, learned)).abs().max()
            worst = max(worst, float(off), standard_error(came, learned, normalize))
    return worst


def _tower_checks(stage: Stage, tower: Tower) -> list[Check]:
    trace = tower.trace
    # Rounding grows with the largest number on the way, not with what comes out.
    size = max(largest(values) for values in tower.boxes.values())
    name = tower_name(stage, tower)
    found = []
    target = stage.target if tower.side == "dec" else ""
    off = compute_blocks.torch_error(stage.source, target, stage.plan, stage.mask, tower.layer)
    if off is not None:
        kind = "TransformerDecoderLayer" if tower.side == "dec" else "TransformerEncoderLayer"
        found.append(check("block.check_torch", off, 1e-6 * size, kind=kind, layer=tower.layer))
    if tower.stack.states and stage.plan.as_is and stage.mask.kind == "own":
        error = tower.stack.state_error(tower.traces)
        found.append(check("block.check_model", error, 1e-5 * largest(tower.stack.states[-1]), n=len(tower.traces)))
    if trace.design.normalize is not no_norm:
        found.append(check("block.check_norm", norm_error(trace), 1e-5, name=name))
    if trace.design.residual:
        found.append(check("block.check_add", _sum_error(tower), 0.0, name=name))
    return found


def checks(stage: Stage) -> list[Check]:
    """Live checks of everything the page shows; what holds of every attention is said once, of the worst."""
    found, worst = list[Check](), dict[str, Check]()
    for tower in stage.towers:
        found += _tower_checks(stage, tower)
        for steps in (tower.trace.attention, tower.trace.cross):
            for one in [] if steps is None else attention_checks(steps):
                off = one.error / one.tolerance
                if one.key not in worst or not off <= worst[one.key].error / worst[one.key].tolerance:
                    worst[one.key] = one
    return [*found, *worst.values()]
