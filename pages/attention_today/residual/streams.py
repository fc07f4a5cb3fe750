"""Several residual streams: the matrix that mixes them, and how long they are beside the plain one."""

from functools import reduce

import streamlit as st
import torch
from torch import Tensor

from pages.attention_today.context import TodayContext
from pages.attention_today.residual.depth import open_word, stream_checks
from viz.components.matrix import Axis as Side
from viz.components.matrix import Matrix
from viz.core.analysis.checks import largest
from viz.core.variants.residual.streams import StreamWeights, sinkhorn, stream_weights
from viz.figures.curves import curves
from viz.figures.line_chart import Axis
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.frame.shared import STACK, TEMPERATURE
from viz.frame.show import show_lines, show_matrix
from viz.params import Scope

STREAMS = r"f\big(\textstyle\sum_i a_i X_i\big), \qquad X \leftarrow M^\top X + b f"
CODE = (StreamWeights.next, stream_weights, sinkhorn)
N_STREAMS = STACK.variant(default=4, low=1, high=6, scope=Scope("streams"))
SIZE = TEMPERATURE.variant(default=2.5, low=0.0, high=8.0, scope=Scope("streams"))
"""Standard deviation of what goes into σ and Sinkhorn: 0.02 times the root of V4's 4 x 4,096 numbers is 2.6."""


def seeded(layer: int, n: int, width: int) -> Tensor:
    """Draw a layer's weights on n streams, (n (n + 2), n width), for products of standard deviation 1."""
    return torch.randn(n * (n + 2), n * width, generator=torch.Generator().manual_seed(layer)) / (n * width) ** 0.5


def run_streams(sources: Tensor, n: int, size: float) -> tuple[Tensor, list[StreamWeights]]:
    """Return the streams in front of each layer and at the end, (L + 1, n, d_model), and each layer's seeded weights.

    All streams begin as the word; what a layer adds is what it adds to the plain stream.
    """
    streams, weights = [sources[0].expand(n, -1)], list[StreamWeights]()
    scales, bias = torch.full((3,), size), torch.zeros(n * (n + 2))
    for layer, addition in enumerate(sources[1:]):
        weights.append(stream_weights(streams[-1], seeded(layer, *streams[0].shape), scales=scales, bias=bias))
        streams.append(weights[-1].next(streams[-1], addition))
    return torch.stack(streams), weights


def draw(context: TodayContext) -> list[Check]:
    """One layer's mixing matrix, and the length of each stream and of the plain one, layer by layer."""
    t, picture, finding = context.t, st.container(), st.container()
    with st.container(horizontal=True):
        stream, sources, _ = open_word(context)
        n = N_STREAMS.slider(t("attention_today.streams.n"))
        size = SIZE.slider(t("attention_today.streams.size"), step=0.5)
    streams, weights = run_streams(sources, n, size)
    mixes, lengths = torch.stack([of_layer.mix.mT for of_layer in weights]), streams.norm(dim=-1)
    series = {t("attention_today.depth.plain"): stream.norm(dim=-1)} | {str(i): lengths[:, i] for i in range(n)}
    layer = min(context.scene.layer_number, len(weights) - 1)
    new, old = (Side(list(map(str, range(n))), t(f"attention_today.streams.{side}")) for side in ("new", "old"))
    matrix = Matrix(values=mixes[layer], rows=new, columns=old, kind="weights", numbers=True)
    title, length = f"M · {t('chips.layer', layer=layer)}", t("attention_today.streams.length")
    chart = curves(range(len(lengths)), series, x=Axis(t("choice.layer")), y=Axis(length), dots=True)
    with picture:
        left, right = st.columns([1, 2])
        with left:
            st.subheader(title, anchor=False)
            mix_in_browser = show_matrix(t, matrix, key="streams_mix", alt=title)
        with right:
            show_lines(chart, key="streams_lengths", alt=length)
    off = {side: number(float((mixes.sum(axis) - 1).abs().max()), 1) for side, axis in (("new", -1), ("old", -2))}
    with finding:
        say(t("attention_today.streams.says", **off))
    mix_off = mix_in_browser - mix_by_logarithms(streams[layer], size, layer)
    return [
        *_checks(stream, sources, weights, lengths[-1]),
        check("attention_today.streams.check_mix", mix_off.abs().max(), 1e-4),
        *stream_checks(context),
    ]


def mix_by_logarithms(streams: Tensor, size: float, layer: int) -> Tensor:
    """Return what each new stream takes of each old one, (n, n), in logarithms and in float64."""
    n, flat = len(streams), streams.double().flatten()
    logits = size * (seeded(layer, *streams.shape)[2 * n :].double() @ flat).view(n, n) / flat.square().mean().sqrt()
    logs = (logits.softmax(-1) + 1e-6).log().log_softmax(-2)
    for _ in range(19):
        logs = logs.log_softmax(-1).log_softmax(-2)
    return logs.exp().mT


def _checks(stream: Tensor, sources: Tensor, weights: list[StreamWeights], lengths: Tensor) -> list[Check]:
    unit, factors = torch.ones(1, 1), sources.new_ones(len(lengths), 1)
    single = reduce(StreamWeights(read=unit[0], write=unit[0], mix=unit).next, sources[1:], sources[:1])[0]
    # The factor of each source in each stream.
    for of_layer in weights:
        factors = torch.cat([torch.einsum("jk,js->ks", of_layer.mix, factors), of_layer.write[:, None]], -1)
    apart = (factors @ sources).norm(dim=-1) - lengths
    return [
        check("attention_today.streams.check_standard", (single - stream[-1]).abs().max() / largest(stream), 1e-6),
        check("attention_today.streams.check_lengths", apart.abs().max() / largest(lengths), 1e-5),
    ]
