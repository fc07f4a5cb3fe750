"""The cache of keys and values, filled token by token during decoding."""

import streamlit as st
import torch

from pages.share_kv.context import (
    ShareKvContext,
    beside_groups,
    say_cut,
    say_if_not_causal,
    say_whose_numbers,
    spec_with,
)
from pages.share_kv.pack import pack_cache
from viz import limits
from viz.components.view import View
from viz.core.analysis.checks import heads_off
from viz.core.attention import options_of_first
from viz.core.cost.attention import kv_cache_bytes
from viz.core.variants.decoding import decode
from viz.frame.checks import Check, check

CACHE = View("share_kv/kv_cache", words="share_kv.cache.", colours=True)


def draw(context: ShareKvContext) -> list[Check]:
    """Draw one column for each token and key/value head, and the size in bytes."""
    t, layer, spec, L = context.t, context.layer, context.spec, context.scene.capture.n_layers
    n = min(len(context.scene.labels), limits.SHARED_TOKENS)
    data = pack_cache(
        layer.k[:, :n],
        layer.v[:, :n],
        labels=context.scene.labels[:n],
        token_bytes=kv_cache_bytes(spec, n_tokens=1, n_layers=L),
        mha_token_bytes=kv_cache_bytes(spec_with(spec, spec.H), n_tokens=1, n_layers=L),
    )
    with beside_groups(context):
        CACHE.mount(key="kv_growing", data=data)
        say_cut(context)
    st.caption(t("share_kv.growing_note", L=L, G=spec.G, d_k=spec.d_k, d_v=spec.d_v))
    _say_what_differs(context)
    say_whose_numbers(context)
    return _checks(context, n)


def _say_what_differs(context: ShareKvContext) -> None:
    """Note the difference to a decoder: these heads may attend ahead, or not to every earlier token."""
    looks = context.layer.masked.isfinite().any(0)
    say_if_not_causal(context)
    if not bool(looks[torch.ones_like(looks).tril()].all()):
        st.caption(context.t("share_kv.not_all"))


def _checks(context: ShareKvContext, n: int) -> list[Check]:
    layer, L = context.layer, context.scene.capture.n_layers
    q, k, v = (x[:, :n] for x in (layer.q, layer.k, layer.v))
    options = options_of_first(context.scene.call.options, n)
    options.pop("allowed", None)
    so_far = torch.ones(n, n, dtype=torch.bool).tril()
    off = heads_off(decode(q, k, v, **options), q, k, v, allowed=so_far, **options)
    layer_bytes = sum(torch.empty_like(x, dtype=torch.float16, device="meta").nbytes for x in (k, v))
    by_formula = kv_cache_bytes(context.spec, n_tokens=n, n_layers=L)
    return [
        check("share_kv.check_decode", *off, tokens=n),
        check("share_kv.check_cache", abs(by_formula - L * layer_bytes), 0.0, tokens=n, n=f"{by_formula:,}"),
    ]
