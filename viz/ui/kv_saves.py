"""What sharing saves: parameters, bytes of the cache, bytes read for each new token; counted, drawn and timed."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
import torch

from viz.core.cost import kv_cache_bytes, parameters
from viz.core.decode_time import DecodePlan
from viz.core.sharing import divisors
from viz.core.spec import AttentionSpec
from viz.figures.bars import bars
from viz.figures.sharing import cache_growth
from viz.models.presets import Preset, preset, presets
from viz.text import Translate
from viz.ui import compute, limits, state
from viz.ui.controls import KEEP
from viz.ui.layout import Check, check, say_error, show
from viz.ui.share_kv import HUES, Sharing, words
from viz.views.mount import mount
from viz.views.sharing import pack_cache

FORMATS = {"float32": 4, "float16": 2, "int8": 1}
MEMORIES_GB = (8, 24, 80, 141)
"""Of accelerators in use: a laptop's, a gaming card's, an A100 or H100, an H200."""

LONGEST, BATCH, LAYERS = 1_000_000, 1024, 256
LENGTHS = (*(2**i for i in range(7, 20)), LONGEST)
PLAN = DecodePlan()


def spec_with(spec: AttentionSpec, n_kv_heads: int) -> AttentionSpec:
    """The same layer with another G."""
    return replace(spec, n_kv_heads=n_kv_heads)


def bytes_text(size: float) -> str:
    """Bytes in binary units, as memory is counted: 1 GiB is 2**30.

    Example:
        >>> bytes_text(2**30), bytes_text(36_864), bytes_text(12)
        ('1 GiB', '36 KiB', '12 B')
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"


def parameter_check(sharing: Sharing) -> Check:
    """The formula for the parameters against the tensors themselves."""
    weights = sharing.layer.projections
    counted = parameters(weights.spec, bias=weights.b_k is not None).total
    if weights.b_k is not None and weights.b_o is None:  # Qwen: W_O has no bias
        counted -= weights.spec.d_out
    return check("share_kv.check_parameters", abs(counted - weights.n_parameters()), 0.0, n=counted)


def table(sharing: Sharing) -> None:
    """MHA, GQA and MQA of this layer's sizes, side by side."""
    t, spec = sharing.scene.t, sharing.layer.projections.spec
    rows = [spec_with(spec, g) for g in reversed(divisors(spec.H))]
    most = parameters(rows[0]).total
    cache, marks = [kv_cache_bytes(row, n_tokens=1, n_layers=1) for row in rows], ("", "→ ")
    st.dataframe(
        {
            t("share_kv.t_g"): [f"{marks[sharing.n_kv_heads == row.G]}G = {row.G} · {row.kind}" for row in rows],
            t("share_kv.t_readers"): [row.H // row.G for row in rows],
            t("share_kv.t_kv"): [parameters(row).w_k + parameters(row).w_v for row in rows],
            t("share_kv.t_all"): [parameters(row).total for row in rows],
            t("share_kv.t_share"): [f"{parameters(row).total / most:.3f}" for row in rows],
            t("share_kv.t_cache"): cache,
            t("share_kv.t_cache_share"): [f"{row.G}/{row.H}" for row in rows],
        },
        hide_index=True,
    )  # fmt: skip
    st.caption(t("share_kv.table_note"))


def _sizes(t: Translate) -> tuple[Preset, int, int, int, int]:
    """Which model, how long a text, how many at once, how many layers, bytes a number."""
    names = [one.id for one in presets()]
    name = state.choice("preset", "Llama-3-8B", names)
    columns = st.columns([3, 2, 2, 2, 2], vertical_alignment="bottom")
    columns[0].selectbox(t("share_kv.preset"), names, key="preset", persist_state=KEEP, on_change=_own_layers)
    chosen = preset(name)
    n = state.whole("n", 8192, 1, LONGEST)
    columns[1].number_input(t("share_kv.n"), 1, LONGEST, key="n", persist_state=KEEP, help=t("share_kv.n_help"))
    batch = state.whole("batch", 1, 1, BATCH)
    columns[2].number_input(t("share_kv.batch"), 1, BATCH, key="batch", persist_state=KEEP)
    n_layers = state.whole("layers", chosen.n_layers, 1, LAYERS)
    columns[3].number_input(t("share_kv.layers"), 1, LAYERS, key="layers", persist_state=KEEP)
    number = state.choice("number", "float16", tuple(FORMATS))
    columns[4].selectbox(t("share_kv.number"), tuple(FORMATS), key="number", persist_state=KEEP)
    return chosen, n, batch, n_layers, FORMATS[number]


def _own_layers() -> None:
    """A model brings its own number of layers along."""
    state.put("layers", preset(st.session_state["preset"]).n_layers)


def published(t: Translate) -> None:
    """A published model's cache: what it takes, what it would take unshared, and where memory ends."""
    chosen, n, batch, n_layers, width = _sizes(t)
    spec = chosen.attention

    def cache(g: int, tokens: int) -> int:
        return kv_cache_bytes(
            spec_with(spec, g), n_tokens=tokens, n_layers=n_layers, batch=batch, bytes_per_value=width
        )  # fmt: skip

    try:
        ours, theirs = cache(spec.G, n), cache(spec.H, n)
    except ValueError as error:
        say_error(t, error)
        return
    factors = r" \cdot ".join(map(str, (2, n_layers, spec.G, spec.d_k, n, batch, width)))
    st.latex(rf"{factors} = {ours:,}\ \text{{B}}")
    columns = st.columns(3)
    columns[0].metric(t("share_kv.m_cache"), bytes_text(ours), help=f"{ours:,} B")
    columns[1].metric(t("share_kv.m_mha", H=spec.H), bytes_text(theirs), help=f"{theirs:,} B")
    if chosen.model.decoder:
        columns[2].metric(t("share_kv.m_read"), bytes_text(ours), help=t("share_kv.m_read_help"))
    st.caption(t("share_kv.published", H=spec.H, G=spec.G, d_k=spec.d_k, d_model=spec.d_model, source=chosen.source))
    if not chosen.model.decoder:
        st.caption(t("share_kv.encoder"))
    if chosen.model.window:
        near, L = chosen.model.windowed_layers, chosen.n_layers
        st.caption(t("share_kv.window", window=chosen.model.window, w=near, L=L))
    curves = {g: [cache(g, tokens) for tokens in LENGTHS] for g in dict.fromkeys((spec.H, spec.G, 1))}
    kinds = {g: f"G = {g} · {spec_with(spec, g).kind}" for g in curves}
    fig = cache_growth(
        LENGTHS, {kinds[g]: curve for g, curve in curves.items()}, {f"{gb} GB": gb * 10**9 for gb in MEMORIES_GB},
        at=n, x_title=t("share_kv.tokens"), y_title=t("share_kv.cache_gb"),
    )  # fmt: skip
    show(fig, key="growth", alt=t("share_kv.growth_alt", mine=bytes_text(ours), mha=bytes_text(theirs)))
    st.caption(t("share_kv.growth_note"))
    if n_layers > 1:
        across_layers(t, spec, n_layers)


def across_layers(t: Translate, spec: AttentionSpec, n_layers: int) -> None:
    """Another way of sharing: one set of weights for all layers."""
    once = parameters(spec).total
    st.markdown(t("share_kv.across", L=n_layers, all=f"{once * n_layers:,}", once=f"{once:,}"))


def growing(sharing: Sharing) -> None:
    """The cache of this layer, filled token by token."""
    t, scene, layer = sharing.scene.t, sharing.scene, sharing.layer
    n, spec, L = min(len(scene.labels), limits.SHARED_TOKENS), layer.projections.spec, scene.capture.n_layers
    may = layer.masked.isfinite().any(0)
    if scene.choice.source.kind == "model" and bool(may.triu(1).any()):
        st.caption(t("share_kv.not_causal"))
    if not bool(may[torch.ones_like(may).tril()].all()):
        st.caption(t("share_kv.not_all"))
    data = pack_cache(
        layer.k[:, :n], layer.v[:, :n], labels=scene.labels[:n], words=words(t, "cache"), hues=HUES,
        token_bytes=kv_cache_bytes(spec, n_tokens=1, n_layers=L),
        mha_token_bytes=kv_cache_bytes(spec_with(spec, spec.H), n_tokens=1, n_layers=L),
    )  # fmt: skip
    mount("kv_cache", key="kv_growing", data=data)
    st.caption(t("share_kv.growing_note", L=L, G=spec.G, d_k=spec.d_k, d_v=spec.d_v))


def _measure(t: Translate, groups: Sequence[int]) -> dict[int, float]:
    bar = st.progress(0.0, t("share_kv.measuring", G=groups[0]))
    times = {}
    for done, g in enumerate(groups):
        bar.progress(done / len(groups), t("share_kv.measuring", G=g))
        times[g] = compute.decode_time(PLAN, g)
    bar.empty()
    return times


def measured(t: Translate) -> None:
    """A step of decoding on this machine for every G, beside what the count of bytes predicts."""
    plan = PLAN
    st.markdown(t("share_kv.measure_plan", H=plan.n_heads, d_k=plan.d_head, n=plan.n_tokens))
    if st.button(t("share_kv.measure"), key="measure_decode"):
        st.session_state["_decode_measured"] = True
    if not st.session_state.get("_decode_measured"):
        return
    groups = divisors(plan.n_heads)[::-1]
    times = _measure(t, groups)
    most = plan.cache_bytes(groups[0])
    took = torch.tensor([times[g] * 1000 for g in groups])
    foretold = torch.tensor([times[groups[0]] * 1000 * plan.cache_bytes(g) / most for g in groups])
    found = t(
        "share_kv.measured", H=plan.n_heads, slow=f"{float(took[0]):.2f}", fast=f"{float(took[-1]):.2f}",
        ratio=f"{float(took[0] / took[-1]):.1f}", rate=f"{most / times[groups[0]] / 1e9:.1f}",
    )  # fmt: skip
    st.markdown(found)
    fig = bars(
        [f"G = {g}" for g in groups], {t("share_kv.took"): took, t("share_kv.foretold"): foretold},
        title=t("share_kv.groups"), value_title=t("share_kv.ms"),
    )  # fmt: skip
    show(fig, key="decode", alt=found)
    st.dataframe(
        {
            "G": groups, t("share_kv.read"): [bytes_text(plan.cache_bytes(g)) for g in groups],
            t("share_kv.took"): [f"{value:.3f}" for value in took.tolist()],
            t("share_kv.foretold"): [f"{value:.3f}" for value in foretold.tolist()],
            t("share_kv.rate"): [f"{plan.cache_bytes(g) / times[g] / 1e9:.1f}" for g in groups],
        },
        hide_index=True,
    )  # fmt: skip
    st.caption(t("share_kv.measured_note"))
