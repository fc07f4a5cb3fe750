"""The weights of all heads kept at once, against what a streaming softmax keeps."""

import streamlit as st
import torch
from torch.nn.functional import scaled_dot_product_attention

from pages.cost import recount
from pages.cost.context import FLOAT32_BYTES, CostContext, draw_sizes, powers_of_two
from pages.cost.growth import COUNTED_TOKENS
from pages.cost.streaming import streaming_attention
from viz.core.analysis.checks import largest
from viz.core.cost.architectures import Sizes
from viz.core.cost.attention import softmax_exponentials, streaming_numbers
from viz.core.spec import AttentionSpec
from viz.figures.growth import Line, growth
from viz.frame.checks import Check, check
from viz.frame.format import amount
from viz.frame.modes import say
from viz.frame.show import show_lines
from viz.text.sizes import size

STREAMED_TOKENS, STREAMED_HEADS, STREAMED_WIDTH = 300, 4, 8
"""A text that is streamed for the check: more than two tiles long, few and narrow heads, 10 ms."""


def draw(context: CostContext) -> list[Check]:
    """Bytes over the length of the text, one layer."""
    t, s = context.t, context.sizes
    spec = AttentionSpec(d_model=s.d, n_heads=s.h)

    def stored_bytes(n: int) -> int:
        return FLOAT32_BYTES * softmax_exponentials(spec, n_queries=n, n_keys=n)

    def streamed(n: int) -> int:
        return FLOAT32_BYTES * streaming_numbers(spec, n_queries=n, n_keys=n)

    lengths = powers_of_two(s.n, s.d)
    lines = [
        Line(name=t("cost.kept"), style=0, values={n: stored_bytes(n) for n in lengths}),
        Line(name=t("cost.streamed"), style=1, values={n: streamed(n) for n in lengths}),
    ]
    marks = {s.n: f"n = {amount(s.n)}"}
    fig = growth(lines, size_title=t("cost.n"), value_title=t("cost.bytes"), marks=marks, in_bytes=True)
    show_lines(fig, key="memory", alt=t("cost.memory_alt", h=s.h))
    draw_sizes(context)
    sentence = t("cost.memory_found", n=amount(s.n), h=s.h, kept=size(stored_bytes(s.n)), streamed=size(streamed(s.n)))
    say(sentence)
    st.caption(t("cost.memory_note"))
    expected = recount.attention_layer(s.d, s.h, s.d // s.h, COUNTED_TOKENS)
    off = abs(expected.weight_bytes - stored_bytes(COUNTED_TOKENS))
    return [check("cost.check_kept", off, 0, n=COUNTED_TOKENS, h=s.h), *_streaming_checks(s)]


def _streaming_checks(s: Sizes) -> list[Check]:
    """Really stream a text: the output must be torch's own, and no more numbers held than are drawn."""
    n, h = min(s.n, STREAMED_TOKENS), min(s.h, STREAMED_HEADS)
    noise = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, h, n, STREAMED_WIDTH, generator=noise)
    output, n_held = streaming_attention(q, k, v)
    torchs = scaled_dot_product_attention(q, k, v)
    spec = AttentionSpec(d_model=h * STREAMED_WIDTH, n_heads=h)
    expected = streaming_numbers(spec, n_queries=n, n_keys=n)
    return [
        check("cost.check_streaming", (output - torchs).abs().max(), 1e-5 * largest(torchs), n=n),
        check("cost.check_streamed", abs(n_held - expected), 0, n=n),
    ]
