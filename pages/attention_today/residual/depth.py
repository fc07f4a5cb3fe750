"""Attention over depth: which earlier layers each layer reads, beside the plain residual."""

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import normalize

from pages.attention_today import compute
from pages.attention_today.context import TodayContext
from viz.components.maps import show_maps
from viz.core.analysis.checks import largest, sdpa_heads
from viz.core.masks import causal
from viz.core.variants.residual.depth import attend_depth, shares_of_lengths
from viz.frame.checks import Check, check
from viz.frame.compute.blocks import reading
from viz.frame.format import number, share
from viz.frame.modes import say
from viz.frame.shared import QUERY, TEMPERATURE, Places
from viz.params import Scope
from viz.text.naming import list_token

DEPTH = (
    r"p_b = \operatorname{softmax}_b\big(w \cdot \hat r_b / \sqrt d\big), \quad "
    r"\sum_b p_b\, \hat r_b \;\text{ or }\; \sum_b p_b\, r_b, \quad \hat r_b = \sqrt d\, r_b / \|r_b\|"
)
CODE = (attend_depth, shares_of_lengths)
LENGTH = TEMPERATURE.variant(default=4.0, low=0.0, high=20.0, scope=Scope("depth"))
"""The length of w, which is the largest score: a w of length 0 tells no source from another."""


def open_word(context: TodayContext) -> tuple[Tensor, Tensor, Tensor]:
    """Draw the choice of a word; return three tensors (L + 1, d_model), a row for each layer and one for the end.

    The word's stream there; its sources, the word itself and what each layer adds; unit vectors along all words' mean.
    """
    t, source = context.t, context.scene.choice.source
    labels = reading(source).tokens.labels
    n, last = len(labels), max((i for i, label in enumerate(labels) if label.isalnum()), default=0)
    if n < len(context.scene.labels):
        st.caption(t("attention_today.first", n=n))
    names = [list_token(i, label) for i, label in enumerate(labels)]
    word = QUERY.selectbox(t("attention_today.gate.rows"), Places(labels, last, range(n)), says=names.__getitem__)
    states = compute.stream(source)
    stream = states[:, word]
    return stream, torch.cat([stream[:1], stream.diff(dim=0)]), normalize(states.mean(1), dim=-1)


def draw(context: TodayContext) -> list[Check]:
    """Show in three ways which sources each layer reads for one word, as weights on normed sources."""
    t, picture, finding = context.t, st.container(), st.container()
    with st.container(horizontal=True):
        stream, sources, w = open_word(context)
        w = w * LENGTH.slider(t("attention_today.depth.length"), step=0.5)
    earlier = causal(len(w), len(w))
    weights = attend_depth(sources, w, allowed=earlier).weights
    plain, raw = (shares_of_lengths(values, sources) for values in (earlier.float(), weights))
    maps, names = torch.stack([plain, weights, raw]), ("plain", "normed", "raw")
    layers = [t("chips.layer", layer=i) for i in range(len(w) - 1)]
    rows, columns = (*layers, t("attention_today.depth.end")), (t("attention_today.gate.rows"), *layers)
    titles, axes = [t(f"attention_today.depth.{name}") for name in names], t("attention_today.depth.axes")
    with picture:
        maps_in_browser = show_maps(t, titles, maps, rows, columns=columns, key="depth_maps", axes=axes)
    of_word = {name: share(float(row[0])) for name, row in zip(names, maps[:, -1], strict=True)}
    mean = attend_depth(sources, 0 * w[-1:]).output[0]
    cosine = number(float(torch.cosine_similarity(mean, stream[-1], dim=0)))
    with finding:
        say(t("attention_today.depth.says", cosine=cosine, **of_word))
    return [*_checks(stream.double(), sources.double(), w.double(), maps_in_browser), *stream_checks(context)]


def _checks(stream: Tensor, sources: Tensor, w: Tensor, maps: Tensor) -> list[Check]:
    earlier, normed = causal(len(w), len(w)), normalize(sources, dim=-1) * w.shape[-1] ** 0.5
    by_torch = [sdpa_heads(w[None], normed[None], values[None], allowed=earlier)[0] for values in (normed, sources)]
    apart = normalize(maps.double() @ normed, dim=-1) - normalize(torch.stack([stream, *by_torch]), dim=-1)
    evenly = attend_depth(sources, 0 * w, allowed=earlier, is_normed=False).output
    off = evenly * torch.arange(1, len(w) + 1)[:, None] - stream
    return [
        check("attention_today.depth.check_maps", apart.abs().max(), 1e-4),
        check("attention_today.depth.check_standard", off.abs().max() / largest(stream), 1e-6),
    ]


def stream_checks(context: TodayContext) -> list[Check]:
    """Check a model's stream against its own hidden states."""
    source = context.scene.choice.source
    return [check("attention_today.depth.check_states", compute.stream_error(source), 1e-5)] if context.is_model else []
