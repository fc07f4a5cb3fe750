"""Measured on this machine: the same layers timed, on the curves their counts predict."""

import math
import os

import streamlit as st
import torch

from viz.core.architectures import Sizes
from viz.core.measure_cost import FITTED, Fit, Point, best_device, device_name, fit_exponent
from viz.core.timed_layers import CANDIDATES, Plan
from viz.figures.growth import Line, growth
from viz.ui import compute, limits, state
from viz.ui.controls import KEEP
from viz.ui.layout import Scene, show
from viz.ui.measuring import Measurement

WATCHED_EVERY = 0.5


def measured(scene: Scene, s: Sizes) -> None:
    """Start, watch and stop a measurement; show what there is."""
    t = scene.t
    seconds = state.pick("cost_seconds", limits.MEASURED_SECONDS[0], limits.MEASURED_SECONDS)
    st.segmented_control(
        t("cost.seconds"), limits.MEASURED_SECONDS, key="cost_seconds", required=True, persist_state=KEEP,
        format_func=lambda limit: f"{limit} s", help=t("cost.seconds_help"),
    )  # fmt: skip
    if s.d > limits.MEASURED_WIDTH or s.k > limits.MEASURED_KERNEL:
        st.info(t("cost.too_wide", d=limits.MEASURED_WIDTH, k=limits.MEASURED_KERNEL))
        return
    plan = Plan(d=s.d, h=s.h, k=s.k, lengths=limits.MEASURED_LENGTHS, seconds=seconds, device=best_device())
    running = compute.measurement(plan)
    st.caption(
        t("cost.machine", device=device_name(plan.device), kind=plan.device.upper(), threads=torch.get_num_threads(),
          torch=torch.__version__, d=plan.d, h=plan.h, k=plan.k)
    )  # fmt: skip
    if running.active:
        st.fragment(_watch, run_every=WATCHED_EVERY)(scene, running)
    else:
        st.button(t("cost.again" if running.points else "cost.start"), key="measure", on_click=running.start)
        if running.state in ("full", "failed", "stopped", "late"):
            st.info(t(f"cost.state_{running.state}", limit=seconds))
        _results(scene, running)
    st.caption(t("cost.method"))
    lengths = " ".join(map(str, plan.lengths))
    st.code(
        f"python -m viz.core.cost --measure --d-model {plan.d} --heads {plan.h} --kernel {plan.k} "
        f"--seconds {plan.seconds} --tokens {lengths}",
        language="bash",
    )


def _watch(scene: Scene, running: Measurement) -> None:
    """The part that is drawn again and again while it runs."""
    t = scene.t
    if not running.active:
        st.rerun()
    text = t("cost.waiting") if running.state == "waiting" else t("cost.running", done=len(running.points))
    st.progress(running.progress, text=text)
    st.button(t("cost.stop"), key="stop", on_click=running.stop)
    _results(scene, running)


def _fits(plan: Plan, points: list[Point]) -> dict[str, Fit | None]:
    n = [point.n for point in points]
    return {
        "time": fit_exponent(n, [point.seconds for point in points]),
        "count": fit_exponent(n, [CANDIDATES[point.name].flops(plan.at(point.n)) for point in points]),
        "peak": fit_exponent(n, [point.peak_bytes for point in points]),
    }


def _speed(plan: Plan, points: list[Point]) -> float:
    """FLOPs a second that bring the count closest to the points: the mean of their logarithms."""
    logs = [math.log(CANDIDATES[p.name].flops(plan.at(p.n)) / p.seconds) for p in points]
    return math.exp(sum(logs) / len(logs))


def _results(scene: Scene, running: Measurement) -> None:
    t, plan, points = scene.t, running.plan, list(running.points)
    own = {name: [p for p in points if p.name == name] for name in CANDIDATES}
    own = {name: found for name, found in own.items() if found}
    if not own:
        return
    times, peaks, rows = [], [], []
    for style, (name, found) in enumerate(own.items()):
        last, label = found[-FITTED:], t(f"cost.c_{name}")
        speed, fits = _speed(plan, last), _fits(plan, last)
        curve = {p.n: CANDIDATES[name].flops(plan.at(p.n)) / speed * 1e3 for p in found}
        measured_ms = {p.n: p.seconds * 1e3 for p in found}
        times.append(Line(name=label, style=style, points=True, unit=" ms", values=measured_ms))
        times.append(Line(name=t("cost.predicted", name=label), style=style, unit=" ms", values=curve, listed=False))
        in_mb = {p.n: p.peak_bytes / 1e6 for p in found}
        peaks.append(Line(name=label, style=style, points=True, unit=" MB", values=in_mb))
        rows.append(
            {"layer": label, "lengths": f"{last[0].n:,} – {last[-1].n:,}", "speed": f"{speed / 1e9:.1f}"}
            | {kind: _written(kind, fit) for kind, fit in fits.items()}
        )
    if "naive" in own:
        square = {p.n: 4 * plan.h * p.n**2 / 1e6 for p in own["naive"]}
        peaks.append(Line(name=t("cost.one_square"), style=0, unit=" MB", values=square))
    if running.load is not None:
        st.caption(t("cost.load", load=f"{running.load:.1f}", cores=os.cpu_count() or 1))
    said = [t("cost.exponent_says", layer=r["layer"], time=r["time"], count=r["count"]) for r in rows]
    show(growth(times, size_title=t("cost.n"), value_title=t("cost.ms")), key="times", alt=" ".join(said))
    st.caption(t("cost.lines_note"))
    columns = {
        name: st.column_config.TextColumn(t(f"cost.r_{name}"), help=t(f"cost.r_{name}_help")) for name in rows[0]
    }
    st.dataframe(rows, hide_index=True, height="content", column_config=columns, key="exponents")
    fig = growth(peaks, size_title=t("cost.n"), value_title=t("cost.mb"))
    show(fig, key="peaks", alt=t("cost.peaks_alt"))


def _written(kind: str, fit: Fit | None) -> str:
    """An exponent with its standard error; a count has none worth telling, it is exact."""
    if fit is None:
        return "–"
    return f"n^{fit.exponent:.2f}" if kind == "count" else f"n^({fit.exponent:.2f} ± {fit.error:.2f})"
