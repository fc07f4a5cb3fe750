"""The cache of published models: its size, its size without sharing, and the limits of memory."""

from dataclasses import dataclass

import streamlit as st
import torch

from pages.share_kv.context import ShareKvContext, draw_groups, spec_with
from viz.core.cost.attention import kv_cache_bytes, parameters
from viz.core.spec import AttentionSpec
from viz.figures.line_chart import LineChart
from viz.figures.sharing import cache_growth
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.shared import LANG
from viz.frame.show import show_lines
from viz.models.presets import Preset, preset, presets
from viz.params import Choice, Int
from viz.text import Translate
from viz.text.citations import translate_source
from viz.text.sizes import size

FORMATS = {"float32": torch.float32, "float16": torch.float16, "int8": torch.int8}
MEMORIES = {f"{gib} GiB": gib * 2**30 for gib in (8, 24, 80, 141)}
"""Memory of accelerators, in bytes: a laptop's, a gaming card's, an A100 or H100, an H200. Sold as so many GB."""

LONGEST = 1_000_000
PRESET = Choice("preset", "Llama-3-8B", among=lambda _: [preset.id for preset in presets()])
N_TOKENS = Int("n", 8192, low=1, high=LONGEST)
BATCH = Int("batch", 1, low=1, high=1024)
LAYERS = Int("layers", lambda preset: preset.n_layers, low=1, high=256)
NUMBER = Choice("number", "float16", among=tuple(FORMATS))
LENGTHS = (*(2**i for i in range(7, 20)), LONGEST)


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """A published model and its cache: length of the text, batch, layers and number format."""

    model: Preset
    n_tokens: int
    batch: int
    n_layers: int
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
            spec, n_tokens=n_tokens, n_layers=self.n_layers, batch=self.batch, bytes_per_value=self.bytes_per_value
        )


def draw(context: ShareKvContext) -> list[Check]:
    """Draw the cache against the length of the text, beside its size at the selected length."""
    t, picture = context.t, st.container()
    sizes = _choose(t)
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
    cache_check = check("share_kv.check_published", abs(cache - torchs_bytes(sizes)), 0.0, n=f"{cache:,}")
    return [cache_check]


def _choose(t: Translate) -> Sizes:
    """Draw the controls of model, length, batch, layers and number format."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = preset(PRESET.selectbox(t("share_kv.preset"), width=200, on_change=_bring_layers))
        N_TOKENS.number_input(t("share_kv.n"), width=160, help=t("share_kv.n_help"))
        BATCH.number_input(t("share_kv.batch"), width=150)
        LAYERS.number_input(t("share_kv.layers"), model, width=130)
        NUMBER.selectbox(t("share_kv.number"), width=130)
    return _read_sizes()


def _read_sizes() -> Sizes:
    """Return the values of the controls."""
    return Sizes(
        model=preset(PRESET.value),
        n_tokens=N_TOKENS.value,
        batch=BATCH.value,
        n_layers=LAYERS.value,
        number=NUMBER.value,
    )


def _bring_layers() -> None:
    """Set the number of layers to the model's own."""
    LAYERS.set(preset(PRESET.value).n_layers)


def _growth(t: Translate, sizes: Sizes, page_g: int) -> LineChart:
    """Return a line for no sharing, the model's own G, the page's G where it divides its heads, and one set for all."""
    spec = sizes.attention
    fitting = (page_g,) if spec.H % page_g == 0 else ()
    groups = sorted({spec.H, spec.G, *fitting, 1}, reverse=True)
    curves = {_curve_name(t, spec, g): [sizes.cache(g, n) for n in LENGTHS] for g in groups}
    return cache_growth(
        LENGTHS,
        curves,
        MEMORIES,
        at=sizes.n_tokens,
        x_title=t("share_kv.tokens"),
        y_title=t("share_kv.cache_bytes"),
    )


def _curve_name(t: Translate, spec: AttentionSpec, g: int) -> str:
    name = f"G = {g} · {spec_with(spec, g).kind}"
    return t("share_kv.as_published", name=name) if g == spec.G else name


def _notes(t: Translate, sizes: Sizes) -> None:
    """Draw the sizes, and the parts that the count leaves out."""
    spec, model = sizes.attention, sizes.model
    st.caption(
        t(
            "share_kv.published_sizes",
            H=spec.H,
            G=spec.G,
            d_k=spec.d_k,
            d_model=amount(spec.d_model),
        )
    )
    if not model.model.decoder:
        st.caption(t("share_kv.encoder"))
    if model.model.window:
        layers = {"w": model.model.windowed_layers, "L": model.n_layers}
        st.caption(t("share_kv.window", window=amount(model.model.window), **layers))
    st.caption(t("share_kv.growth_note"))


def formula(context: ShareKvContext) -> str:
    """Draw the cache's bytes in letters and in the selected numbers; then another way of sharing."""
    t, sizes = context.t, _read_sizes()
    spec = sizes.attention
    latex = r"C = 2\, L\, G\, d_k\, n\, B\, b"
    st.latex(latex)
    numbers = (2, sizes.n_layers, spec.G, spec.d_k, sizes.n_tokens, sizes.batch, sizes.bytes_per_value)
    factors = r" \cdot ".join(f"{number:,}".replace(",", "{,}") for number in numbers)
    total = f"{sizes.cache(spec.G, sizes.n_tokens):,}".replace(",", "{,}")
    # Line by line: side by side they are wider than a phone, and the unit would be cut off.
    st.latex(rf"\begin{{gathered}} {factors} \\ = {total}\ \text{{B}} \end{{gathered}}")
    st.caption(t("share_kv.published_source", source=translate_source(LANG.value, sizes.model.source)))
    if sizes.n_layers > 1:  # another way of sharing: one set of weights for all layers
        once = parameters(spec).total
        st.caption(t("share_kv.across", L=sizes.n_layers, all=amount(once * sizes.n_layers), once=amount(once)))
    return latex


def torchs_bytes(sizes: Sizes) -> int:
    """Return the bytes that torch would allocate for these keys and values, on the meta device."""
    spec = sizes.attention
    shape = (2, sizes.n_layers, sizes.batch, spec.G, sizes.n_tokens, spec.d_k)
    return torch.empty(shape, dtype=FORMATS[sizes.number], device="meta").nbytes
