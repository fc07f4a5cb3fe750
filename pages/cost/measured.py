"""Measured on this machine: the same layers timed, on the curves their counts predict."""

import math
import os

import streamlit as st
import torch

from pages.cost import compute, recount
from pages.cost.context import FLOAT32_BYTES, CostContext, draw_sizes
from pages.cost.growth import flops_check
from pages.cost.measurement import Measurement
from viz import limits
from viz.core.cost.architectures import Sizes
from viz.core.cost.timed_layers import CANDIDATES, Plan
from viz.core.cost.timing import FITTED, Fit, Point, best_device, device_name, fit_exponent
from viz.figures.growth import Line, growth
from viz.frame.checks import Check, check
from viz.frame.format import amount, number, span
from viz.frame.show import show_lines, show_table
from viz.params import Int
from viz.text import Translate

WATCHED_EVERY = 0.5
MIB = 2**20

SECONDS = Int("cost_seconds", limits.MEASURED_SECONDS[0], among=limits.MEASURED_SECONDS)


def draw(context: CostContext) -> list[Check]:
    """Start, watch and stop a measurement; show what there is."""
    t, s, picture = context.t, context.sizes, st.container()
    draw_sizes(context)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        seconds = SECONDS.select_slider(t("cost.seconds"), says=_in_seconds, help=t("cost.seconds_help"), width=200)
        if s.d > limits.MEASURED_WIDTH or s.k > limits.MEASURED_KERNEL:
            st.info(t("cost.too_wide", d=limits.MEASURED_WIDTH, k=limits.MEASURED_KERNEL))
            return [flops_check(s)]
        plan = Plan(d=s.d, h=s.h, k=s.k, lengths=limits.MEASURED_LENGTHS, seconds=seconds, device=best_device())
        running = compute.measurement(plan)
        if not running.active:
            label = t("cost.again" if running.points else "cost.start")
            st.button(label, key="measure", type="primary", on_click=running.start)
    with picture:
        if running.active:
            st.fragment(_watch, run_every=WATCHED_EVERY)(t, running)
        else:
            if running.state in ("full", "failed", "stopped", "late"):
                st.info(t(f"cost.state_{running.state}", limit=seconds))
            _results(t, running)
    _say_how(t, plan)
    return [flops_check(s), *_checks(s, plan)]


def _in_seconds(limit: int) -> str:
    return f"{limit} s"


def _say_how(t: Translate, plan: Plan) -> None:
    """The machine, the method, and the same as a command."""
    st.caption(
        t(
            "cost.machine",
            device=device_name(plan.device),
            kind=plan.device.upper(),
            threads=torch.get_num_threads(),
            torch=torch.__version__,
            d=plan.d,
            h=plan.h,
            k=plan.k,
        )
    )
    st.caption(t("cost.method"))
    lengths = " ".join(map(str, plan.lengths))
    st.code(
        f"python -m viz.core.cost --measure --d-model {plan.d} --heads {plan.h} --kernel {plan.k} "
        f"--seconds {plan.seconds} --tokens {lengths}",
        language="bash",
        wrap_lines=True,
    )


def _watch(t: Translate, running: Measurement) -> None:
    """The part that is drawn again and again while it runs."""
    if not running.active:
        st.rerun()
    text = t("cost.waiting") if running.state == "waiting" else t("cost.running", done=len(running.points))
    st.progress(running.progress, text=text)
    st.button(t("cost.stop"), key="stop", on_click=running.stop)
    _results(t, running)


def _fits(plan: Plan, points: list[Point]) -> dict[str, Fit | None]:
    n = [point.n for point in points]
    return {
        "time": fit_exponent(n, [point.seconds for point in points]),
        "count": fit_exponent(n, _counts(plan, points[0].name, n)),
        "peak": fit_exponent(n, [point.peak_bytes for point in points]),
    }


def _counts(plan: Plan, name: str, lengths: list[int]) -> list[int]:
    return [CANDIDATES[name].flops(plan.at(n)) for n in lengths]


def _speed(plan: Plan, points: list[Point]) -> float:
    """FLOPs a second that bring the count closest to the points: the mean of their logarithms."""
    logs = [math.log(CANDIDATES[p.name].flops(plan.at(p.n)) / p.seconds) for p in points]
    return math.exp(sum(logs) / len(logs))


def _results(t: Translate, running: Measurement) -> None:
    """Times on the curves of the counts, the exponents, and the memory."""
    points = list(running.points)
    by_layer = {name: [point for point in points if point.name == name] for name in CANDIDATES}
    by_layer = {name: layer_points for name, layer_points in by_layer.items() if layer_points}
    if not by_layer:
        return
    rows = [_row(t, running.plan, name, layer_points) for name, layer_points in by_layer.items()]
    sentences = [t("cost.exponent_says", layer=row["layer"], time=row["time"], count=row["count"]) for row in rows]
    times = growth(_time_lines(t, running.plan, by_layer), size_title=t("cost.n"), value_title=t("cost.ms"), height=340)
    show_lines(times, key="times", alt=" ".join(sentences))
    st.caption(t("cost.lines_note"))
    columns = {
        name: st.column_config.TextColumn(t(f"cost.r_{name}"), help=t(f"cost.r_{name}_help")) for name in rows[0]
    }
    show_table(rows, height="content", column_config=columns, key="exponents")
    peaks = growth(
        _peak_lines(t, running.plan, by_layer), size_title=t("cost.n"), value_title=t("cost.mib"), height=300
    )
    show_lines(peaks, key="peaks", alt=t("cost.peaks_alt"))
    if running.load is not None:
        st.caption(t("cost.load", load=f"{running.load:.1f}", cores=os.cpu_count() or 1))


def _row(t: Translate, plan: Plan, name: str, points: list[Point]) -> dict[str, str]:
    """A layer's speed, and how its time, count and memory grow over its longest texts."""
    last = points[-FITTED:]
    row = {
        "layer": t(f"cost.c_{name}"),
        "lengths": span(amount(last[0].n), amount(last[-1].n), " – "),
        "speed": number(_speed(plan, last) / 1e9),
    }
    return row | {kind: _format_fit(kind, fit) for kind, fit in _fits(plan, last).items()}


def _format_fit(kind: str, fit: Fit | None) -> str:
    """An exponent with its standard error; a count has none worth telling, it is exact."""
    if fit is None:
        return "–"
    return f"n^{fit.exponent:.2f}" if kind == "count" else f"n^({fit.exponent:.2f} ± {fit.error:.2f})"


def _time_lines(t: Translate, plan: Plan, by_layer: dict[str, list[Point]]) -> list[Line]:
    lines = []
    for style, (name, points) in enumerate(by_layer.items()):
        label, speed = t(f"cost.c_{name}"), _speed(plan, points[-FITTED:])
        curve = {p.n: CANDIDATES[name].flops(plan.at(p.n)) / speed * 1e3 for p in points}
        took = {p.n: p.seconds * 1e3 for p in points}
        lines.append(Line(name=label, style=style, points=True, unit=" ms", values=took))
        predicted = t("cost.predicted", name=label)
        lines.append(Line(name=predicted, style=style, unit=" ms", values=curve, listed=False))
    return lines


def _peak_lines(t: Translate, plan: Plan, by_layer: dict[str, list[Point]]) -> list[Line]:
    lines = [
        Line(
            name=t(f"cost.c_{name}"),
            style=style,
            points=True,
            unit=" MiB",
            values={p.n: p.peak_bytes / MIB for p in points},
        )
        for style, (name, points) in enumerate(by_layer.items())
    ]
    if "naive" in by_layer:
        square = {p.n: FLOAT32_BYTES * plan.h * p.n**2 / MIB for p in by_layer["naive"]}
        lines.append(Line(name=t("cost.one_square"), style=0, unit=" MiB", values=square))
    return lines


def _checks(s: Sizes, plan: Plan) -> list[Check]:
    """Check that both timed programs are attention, and the exponents against least squares in torch."""
    off = 0.0
    for name in CANDIDATES:
        counts = _counts(plan, name, list(plan.lengths))
        fit = fit_exponent(plan.lengths, counts)
        if fit is not None:
            off = max(off, abs(fit.exponent - recount.slope(plan.lengths, counts)))
    return [
        check("cost.check_same", compute.attention_error(s.d, s.h), 1e-5, d=s.d, h=s.h),
        check("cost.check_fit", off, 1e-9),
    ]
