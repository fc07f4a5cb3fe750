"""Savings of sharing in this layer for every G: parameters of its matrices, bytes of its cache."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
import torch
from torch.nn import Linear

from pages.share_kv.context import ShareKvContext, draw_groups, spec_with
from viz.components.bars import BarChart
from viz.core.cost.attention import kv_cache_bytes, parameters
from viz.core.spec import AttentionSpec
from viz.core.variants.kv_sharing import divisors
from viz.frame.checks import Check, check
from viz.frame.format import share
from viz.frame.modes import say
from viz.frame.show import show_bars, show_table
from viz.text import Translate


def draw(context: ShareKvContext) -> list[Check]:
    """Draw parameters and cache as shares of those without sharing, then the numbers."""
    t, spec = context.t, context.spec
    every = [spec_with(spec, g) for g in reversed(divisors(spec.H))]
    marks = ["→ " if row.G == spec.G else "" for row in every]
    counts, cache = [parameters(row).total for row in every], [_token_bytes(row) for row in every]
    shares = torch.tensor(counts) / counts[0]
    at = next(i for i, row in enumerate(every) if row.G == spec.G)
    summary = t("share_kv.saves_found", H=spec.H, G=spec.G, all=share(float(shares[at])))
    chart = BarChart(
        [f"{mark}{row.G}" for mark, row in zip(marks, every, strict=True)],
        {t("share_kv.t_all"): shares, t("share_kv.t_cache_bar"): torch.tensor(cache) / cache[0]},
        title=t("share_kv.groups"),
        value_title=t("share_kv.t_share"),
        top=1.0,
        height=320,
    )
    show_bars(chart, key="savings", alt=summary)
    say(summary)
    draw_groups(context)
    _table(t, marks, every, spec)
    st.caption(t("share_kv.table_note"))
    return _checks(context, every)


def _table(t: Translate, marks: Sequence[str], every: Sequence[AttentionSpec], spec: AttentionSpec) -> None:
    """Draw MHA, GQA and MQA of this layer's sizes, a row for each G; then the chosen one with W_K as W_V."""
    counts = [parameters(row) for row in every]
    right, grouped = st.column_config.Column(alignment="right"), st.column_config.NumberColumn(format="localized")
    rows = [
        (f"{mark}G = {row.G} · {row.kind}", row, count.w_k + count.w_v, count.total)
        for mark, row, count in zip(marks, every, counts, strict=True)
    ]
    if spec.d_k == spec.d_v:
        rows.append((f"G = {spec.G} · W_V = W_K", spec, parameters(spec).w_k, tied_parameters(spec)))
    table: dict[str, Sequence[Any]] = {
        t("share_kv.t_g"): [name for name, *_ in rows],
        t("share_kv.t_readers"): [row.H // row.G for _, row, *_ in rows],
        t("share_kv.t_kv"): [n for *_, n, _ in rows],
        t("share_kv.t_all"): [total for *_, total in rows],
        t("share_kv.t_share"): [f"{total / counts[0].total:.3f}" for *_, total in rows],
        t("share_kv.t_cache"): [_token_bytes(row) for _, row, *_ in rows],
        t("share_kv.t_cache_share"): [f"{row.G}/{row.H}" for _, row, *_ in rows],
    }
    looks = (st.column_config.Column(), grouped, grouped, grouped, right, grouped, right)
    columns = dict(zip(table, looks, strict=True))
    show_table(table, column_config=columns)


def tied_parameters(spec: AttentionSpec) -> int:
    """Return the number of parameters where W_K is W_V too; norms and RoPE set keys and values apart."""
    count = parameters(spec)
    return count.total - count.w_v


def _token_bytes(spec: AttentionSpec) -> int:
    """Return the cache bytes of one token in one layer, at 16 bits a number."""
    return kv_cache_bytes(spec, n_tokens=1, n_layers=1)


def torchs_parameters(spec: AttentionSpec) -> int:
    """Return the number of parameters in torch's own linear layers of these sizes."""
    widths = (
        (spec.d_model, spec.H * spec.d_k),
        (spec.d_mem, spec.G * spec.d_k),
        (spec.d_mem, spec.G * spec.d_v),
        (spec.H * spec.d_v, spec.d_out),
    )
    return sum(Linear(*width, bias=False, device="meta").weight.numel() for width in widths)


def _checks(context: ShareKvContext, every: list[AttentionSpec]) -> list[Check]:
    weights = context.layer.projections
    sizes = weights.spec
    # W_O has no bias in Qwen's layers, and the only one in RecurrentGemma's.
    biases = {"b_q": sizes.H * sizes.d_k, "b_k": sizes.G * sizes.d_k, "b_v": sizes.G * sizes.d_v, "b_o": sizes.d_out}
    by_formula = parameters(sizes).total + sum(n for name, n in biases.items() if getattr(weights, name) is not None)
    spec = context.spec
    w_v = Linear(spec.d_mem, spec.G * spec.d_v, bias=False, device="meta").weight.numel()
    off_tied = abs(torchs_parameters(spec) - w_v - tied_parameters(spec))
    off_table = max(off_tied, *(abs(parameters(spec).total - torchs_parameters(spec)) for spec in every))
    off_cache = max(abs(_token_bytes(spec) - _torchs_bytes(spec)) for spec in every)
    return [
        check("share_kv.check_parameters", abs(by_formula - weights.n_parameters()), 0.0, n=f"{by_formula:,}"),
        check("share_kv.check_table", off_table, 0.0),
        check("share_kv.check_token", off_cache, 0.0),
    ]


def _torchs_bytes(spec: AttentionSpec) -> int:
    """Return the bytes that torch would allocate for one token's keys and values."""
    shapes = (spec.G, 1, spec.d_k), (spec.G, 1, spec.d_v)
    return sum(torch.empty(shape, dtype=torch.float16, device="meta").nbytes for shape in shapes)
