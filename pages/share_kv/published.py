"""The cache of published models: its size, its size without sharing, and the limits of memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from pages.share_kv.context import ShareKvContext, draw_groups, spec_with
from pages.share_kv.layers import recent
from viz.core.cost.attention import kv_cache_bytes
from viz.core.cost.mixed import FullCost, LatentCost, LinearCost, SharedKVCost, WindowCost
from viz.core.spec import AttentionSpec
from viz.figures.line_chart import LineChart
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.shared import LANG
from viz.frame.show import show_lines
from viz.models.presets import Preset, preset, presets
from viz.models.published import model_named, models
from viz.params import Choice, Int
from viz.text import Translate
from viz.text.citations import translate_source
from viz.text.sizes import size

FORMATS = {"float32": torch.float32, "float16": torch.float16, "int8": torch.int8}
LONGEST = 1_000_000
RECENT: list[str] = [model.name for model in models() if model.name not in {preset.id for preset in presets()}]
"""Models whose layers keep caches of several kinds, or a latent vector."""
PRESET = Choice("preset", "Llama-3-8B", among=lambda _: [preset.id for preset in presets()] + RECENT)
N_TOKENS = Int("n", 8192, low=1, high=LONGEST)
BATCH = Int("batch", 1, low=1, high=1024)
NUMBER = Choice("number", "float16", among=tuple(FORMATS))
LENGTHS = (*(2**i for i in range(7, 20)), LONGEST)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """A published model and its cache: length of the text, batch and number format."""

    model: Preset
    n_tokens: int
    batch: int
    number: str

    @property
    def attention(self) -> AttentionSpec:
        """Sizes of one of the model's attention layers."""
        return self.model.attention

    @property
    def bytes_per_value(self) -> int:
        """Bytes of one number."""
        return FORMATS[self.number].itemsize

    def cache(self, n_kv_heads: int, n_tokens: int) -> int:
        """Return the bytes of the cache with this many key/value heads, after this many tokens."""
        spec = spec_with(self.attention, n_kv_heads)
        return kv_cache_bytes(
            spec,
            n_tokens=n_tokens,
            n_layers=self.model.n_layers,
            batch=self.batch,
            bytes_per_value=self.bytes_per_value,
        )


def draw(context: ShareKvContext) -> list[Check]:
    """Draw the cache against the length of the text and its size at the selected length."""
    picture = st.container()
    name, n = _choose(context.t)
    if name not in RECENT:
        return _draw_alike(context, picture)
    with picture:
        return recent.draw_model(context.t, model_named(name), n)


def _draw_alike(context: ShareKvContext, picture: DeltaGenerator) -> list[Check]:
    """Draw a model whose layers are all alike: curves for several G, and the numbers at the chosen length."""
    t = context.t
    with st.container(horizontal=True, vertical_alignment="bottom"):
        BATCH.number_input(t("share_kv.batch"), width=150)
        NUMBER.selectbox(t("share_kv.number"), width=130)
    sizes = _read_sizes()
    draw_groups(context)
    spec = sizes.attention
    cache, unshared = (sizes.cache(g, sizes.n_tokens) for g in (spec.G, spec.H))
    growth, numbers = picture.columns([5, 2], gap="medium")
    with growth:
        alt = t("share_kv.growth_alt", mine=size(cache), mha=size(unshared))
        show_lines(_growth(t, sizes, page_g=context.n_kv_heads), key="growth", alt=alt)
    with numbers:
        st.metric(t("share_kv.m_cache"), size(cache), help=f"{cache:,} B")
        st.metric(t("share_kv.m_mha", H=spec.H), size(unshared), help=f"{unshared:,} B")
        if sizes.model.model.decoder:
            st.metric(t("share_kv.m_read"), size(cache), help=t("share_kv.m_read_help"))
    _notes(t, sizes)
    return [check("share_kv.check_published", abs(cache - torchs_bytes(sizes)), 0.0, n=f"{cache:,}")]


def _choose(t: Translate) -> tuple[str, int]:
    """Draw the controls of model and length."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = PRESET.selectbox(t("share_kv.preset"), width=200)
        n = N_TOKENS.number_input(t("share_kv.n"), width=160, help=t("share_kv.n_help"))
    return name, n


def _read_sizes() -> Sizes:
    """Return the values of the controls."""
    return Sizes(model=preset(PRESET.value), n_tokens=N_TOKENS.value, batch=BATCH.value, number=NUMBER.value)


def _growth(t: Translate, sizes: Sizes, page_g: int) -> LineChart:
    """Return a line for no sharing, the model's own G, the page's G where it divides its heads, and one set for all."""
    spec = sizes.attention
    fitting = (page_g,) if spec.H % page_g == 0 else ()
    groups = sorted({spec.H, spec.G, *fitting, 1}, reverse=True)
    curves = {_curve_name(t, spec, g): [sizes.cache(g, n) for n in LENGTHS] for g in groups}
    return recent.cache_growth(t, LENGTHS, curves, sizes.n_tokens)


def _curve_name(t: Translate, spec: AttentionSpec, g: int) -> str:
    name = f"G = {g} · {spec_with(spec, g).kind}"
    return t("share_kv.as_published", name=name) if g == spec.G else name


def _notes(t: Translate, sizes: Sizes) -> None:
    """Draw the sizes, and the parts that the count leaves out."""
    spec, model = sizes.attention, sizes.model
    st.caption(t("share_kv.published_sizes", H=spec.H, G=spec.G, d_k=spec.d_k, d_model=amount(spec.d_model)))
    if not model.model.decoder:
        st.caption(t("share_kv.encoder"))
    if model.model.window:
        layers = {"w": model.model.windowed_layers, "L": model.n_layers}
        st.caption(t("share_kv.window", window=amount(model.model.window), **layers))


def formula(context: ShareKvContext) -> str:
    """Draw the cache's bytes in letters and, of a model whose layers are all alike, in the selected numbers."""
    if PRESET.value in RECENT:
        st.latex(recent.CACHE_BYTES)
        return recent.CACHE_BYTES
    t, sizes = context.t, _read_sizes()
    spec = sizes.attention
    latex = r"C = 2\, L\, G\, d_k\, n\, B\, b"
    st.latex(latex)
    numbers = (2, sizes.model.n_layers, spec.G, spec.d_k, sizes.n_tokens, sizes.batch, sizes.bytes_per_value)
    factors = r" \cdot ".join(f"{number:,}".replace(",", "{,}") for number in numbers)
    total = f"{sizes.cache(spec.G, sizes.n_tokens):,}".replace(",", "{,}")
    # Line by line: side by side they are wider than a phone, and the unit would be cut off.
    st.latex(rf"\begin{{gathered}} {factors} \\ = {total}\ \text{{B}} \end{{gathered}}")
    st.caption(t("share_kv.published_source", source=translate_source(LANG.value, sizes.model.source)))
    return latex


def code(_: ShareKvContext) -> tuple[Callable[..., Any], ...]:
    """The functions that count the chosen model's cache."""
    by_layer = (FullCost, WindowCost, LatentCost, SharedKVCost, LinearCost)
    return by_layer if PRESET.read() in RECENT else (kv_cache_bytes,)


def torchs_bytes(sizes: Sizes) -> int:
    """Return the bytes that torch would allocate for these keys and values, on the meta device."""
    spec = sizes.attention
    shape = (2, sizes.model.n_layers, sizes.batch, spec.G, sizes.n_tokens, spec.d_k)
    return torch.empty(shape, dtype=FORMATS[sizes.number], device="meta").nbytes
