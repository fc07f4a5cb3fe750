"""One step of decoding: the bytes it reads for every G, and its duration on this machine."""

from collections.abc import Mapping, Sequence

import streamlit as st
import torch
from torch.nn.functional import scaled_dot_product_attention

from pages.share_kv import compute
from pages.share_kv.context import ShareKvContext
from viz.components.bars import BarChart
from viz.core.analysis.checks import largest, worst
from viz.core.cost.decode_timing import DecodePlan
from viz.core.variants.kv_sharing import decode_step, divisors
from viz.frame.checks import Check, check
from viz.frame.format import amount, number
from viz.frame.modes import say
from viz.frame.show import show_bars, show_table
from viz.params.memory import Remembered
from viz.text import Translate
from viz.text.sizes import size

PLAN = DecodePlan()
CHECKED_TOKENS = 16
_IS_MEASURED: Remembered[bool] = Remembered("_decode_measured", default=False)


def draw(context: ShareKvContext) -> list[Check]:
    """Draw the bytes of a step; once measured, the duration beside the bytes' prediction."""
    t, groups = context.t, divisors(PLAN.n_heads)[::-1]
    picture = st.container()
    say(t("share_kv.measure_plan", H=PLAN.n_heads, d_k=PLAN.d_head, n=amount(PLAN.n_tokens)))
    if st.button(t("share_kv.measure"), key="measure_decode"):
        _IS_MEASURED.set(True)
    if _IS_MEASURED.read():
        with picture:
            times = _measure(t, groups)
            _times(t, times)
        _numbers(t, times)
    else:
        with picture:
            _bytes_read(t, groups)
    return [check("share_kv.check_step", steps_error(groups), 1e-5)]


def _bytes_read(t: Translate, groups: Sequence[int]) -> None:
    """Draw the bytes, before the measurement."""
    mebibytes = torch.tensor([PLAN.cache_bytes(g) / 2**20 for g in groups])
    chart = BarChart(
        [f"G = {g}" for g in groups],
        {t("share_kv.read"): mebibytes},
        title=t("share_kv.groups"),
        value_title=t("share_kv.read_mib"),
        height=320,
    )
    show_bars(chart, key="decode_bytes", alt=t("share_kv.read"))


def _measure(t: Translate, groups: Sequence[int]) -> dict[int, float]:
    """Measure the seconds for every G."""
    bar = st.progress(0.0, t("share_kv.measuring", G=groups[0]))
    times = {}
    for index, g in enumerate(groups):
        bar.progress(index / len(groups), t("share_kv.measuring", G=g))
        times[g] = compute.decode_time(PLAN, g)
    bar.empty()
    return times


def predicted_seconds(times: Mapping[int, float]) -> dict[int, float]:
    """Predict the durations from the bytes, at the speed of the first G."""
    first = next(iter(times))
    return {g: times[first] * PLAN.cache_bytes(g) / PLAN.cache_bytes(first) for g in times}


def _times(t: Translate, times: Mapping[int, float]) -> None:
    """Draw the measured durations beside the predictions."""
    series = {"took": times, "foretold": predicted_seconds(times)}
    milliseconds = {
        t(f"share_kv.{name}"): torch.tensor(list(seconds.values())) * 1000 for name, seconds in series.items()
    }
    groups = [f"G = {g}" for g in times]
    chart = BarChart(groups, milliseconds, title=t("share_kv.groups"), value_title=t("share_kv.ms"), height=320)
    show_bars(chart, key="decode", alt=_speed_sentence(t, times))


def _speed_sentence(t: Translate, times: Mapping[int, float]) -> str:
    """Return the measurement in a sentence."""
    first, *_, last = times
    slow, fast, rate = times[first] * 1000, times[last] * 1000, PLAN.cache_bytes(first) / times[first] / 2**30
    numbers = {"slow": slow, "fast": fast, "ratio": slow / fast, "rate": rate}
    return t("share_kv.measured", H=first, **{name: number(value) for name, value in numbers.items()})


def _numbers(t: Translate, times: Mapping[int, float]) -> None:
    """Draw the sentence, and a row for each G."""
    say(_speed_sentence(t, times))
    predicted = predicted_seconds(times)
    show_table(
        {
            "G": list(times),
            t("share_kv.read"): [size(PLAN.cache_bytes(g)) for g in times],
            t("share_kv.took"): [f"{1000 * seconds:.3f}" for seconds in times.values()],
            t("share_kv.foretold"): [f"{1000 * seconds:.3f}" for seconds in predicted.values()],
            t("share_kv.rate"): [f"{PLAN.cache_bytes(g) / seconds / 2**30:.1f}" for g, seconds in times.items()],
        },
    )
    st.caption(t("share_kv.measured_note"))


def steps_error(groups: Sequence[int]) -> float:
    """Return the relative error of the timed step against torch's own attention, for any G."""
    generator, off = torch.Generator().manual_seed(1), list[float]()
    for g in groups:
        q = torch.randn(PLAN.n_heads, PLAN.d_head, generator=generator)
        keys, values = (torch.randn(g, CHECKED_TOKENS, PLAN.d_head, generator=generator) for _ in "kv")
        torchs = scaled_dot_product_attention(q[:, None], keys, values, enable_gqa=True)[:, 0]
        off.append(float((decode_step(q, keys, values) - torchs).abs().max()) / largest(torchs))
    return worst(off)
