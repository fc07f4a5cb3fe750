"""Exclusive self-attention: a word is told nothing that lies along its own value, whoever brought it."""

import streamlit as st
import torch
from torch import Tensor

from pages.attention_today.context import Layer, TodayContext
from pages.attention_today.maps import show_maps
from pages.attention_today.parameters import SUBTRACTED
from viz.components.bars import BarChart
from viz.core.analysis.checks import largest, maps_off, sdpa_heads
from viz.core.masks import combine
from viz.core.nested import double
from viz.core.variants.today.exclusive import exclude_own_value, exclusive_map
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.show import show_bars

EXCLUSIVE = (
    r"o_i \mapsto o_i - \lambda\, (o_i \cdot \hat v_i)\, \hat v_i, \quad \hat v_i = v_i / \|v_i\|"
    r" \qquad \Longleftrightarrow \qquad A_{ii} \mapsto A_{ii} - \lambda \sum_j A_{ij}\, (v_j \cdot \hat v_i) / \|v_i\|"
)

CODE = (exclude_own_value, exclusive_map)


def own_closed(layer: Layer) -> dict[str, Tensor | None]:
    """Return the mask of the layer with the own word's cell closed, as an option of its attention."""
    diagonal = torch.eye(layer.q.shape[-2], dtype=torch.bool)
    return {"allowed": combine(layer.options.get("allowed"), ~diagonal)}


def share_along_own(output: Tensor, v: Tensor) -> Tensor:
    """Return the share of each head's output (H, T, d_v), in squared length, that lies along the words' values (H,)."""
    along = (output * torch.nn.functional.normalize(v, dim=-1)).sum(-1)
    return along.square().sum(-1) / output.square().sum((-2, -1)).clamp(min=1e-12)


def draw(context: TodayContext) -> list[Check]:
    """One head's map in three ways, and in every head the share of its output along the words' own values."""
    t, layer, head = context.t, context.layer, context.head
    picture, finding = st.container(), st.container()
    lam = SUBTRACTED.slider(t("attention_today.exclusive.lambda"), 1.0, step=0.05)
    standard, others_only = context.standard, layer.attend(**own_closed(layer))
    output = exclude_own_value(standard.output, layer.v, share=lam)
    maps = torch.stack([standard.weights, exclusive_map(standard.weights, layer.v, share=lam), others_only.weights])
    ways = [t(f"attention_today.exclusive.{way}") for way in ("before", "after", "closed")]
    with picture:
        maps_in_browser = show_maps(context, ways, maps[:, head], key="exclusive_maps", signed=True, limit=1.0)
    shares = [share_along_own(values, layer.v) for values in (standard.output, output, others_only.output)]
    before, after, struck = (share(float(values[head])) for values in shares)
    with finding:
        say(t("attention_today.exclusive.says", head=head, before=before, after=after, closed=struck))
    bars = BarChart(
        list(map(str, range(len(layer.q)))),
        dict(zip(ways, shares, strict=True)),
        title=t("attention_today.head"),
        value_title=t("attention_today.exclusive.share"),
        top=1.0,
        height=200,
    )
    show_bars(bars, key="exclusive_bars", alt=t("attention_today.exclusive.bars_alt"))
    st.caption(t("attention_today.difference.users"))
    return _checks(layer, head, lam, maps_in_browser, output)


def _checks(layer: Layer, head: int, lam: float, maps: Tensor, output: Tensor) -> list[Check]:
    exact = double(layer)
    off = exclude_own_value(exact.attend().output, exact.v, share=0.0) - exact.attend().output
    # Least squares: the multiple of the own value that is nearest to what torch's own attention gives.
    outputs = sdpa_heads(exact.q, exact.k, exact.v, **exact.options)
    nearest = torch.linalg.lstsq(exact.v[..., None], outputs[..., None]).solution[..., 0] * exact.v
    calls = [(layer.q, layer.k, {**layer.options, **options}) for options in ({}, own_closed(layer))]
    return [
        check("attention_today.exclusive.check_standard", off.abs().max(), 1e-6),
        check(
            "attention_today.exclusive.check_rest",
            (outputs - lam * nearest - output).abs().max(),
            1e-4 * largest(output),
        ),
        check(
            "attention_today.exclusive.check_map",
            (maps[1] @ layer.v[head] - output[head]).abs().max(),
            1e-4 * largest(output),
        ),
        check("attention_today.exclusive.check_maps", *maps_off(maps[::2], head, calls)),
    ]
