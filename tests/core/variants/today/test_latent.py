"""Latent attention: the plain form by loops, the absorbed form against it, conversion, and what is cached."""

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch.nn.functional import rms_norm
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.heads import HeadWeights, multi_head
from viz.core.masks import causal
from viz.core.positions import rope
from viz.core.spec import AttentionSpec
from viz.core.variants.today.latent import LatentSpec, LatentWeights, attend_absorbed, attend_latent, latent_cache

T = 7
SPEC = LatentSpec(d_model=13, n_heads=3, d_latent=5, d_nope=11, d_rope=4, d_value=2)
turn = partial(rope, pairing="adjacent")


def weights(spec: LatentSpec = SPEC, dtype: torch.dtype = torch.float64) -> LatentWeights:
    random_weights = LatentWeights.random(spec, seed=1)
    tensors: dict[str, Any] = {
        name: value.to(dtype) for name, value in vars(random_weights).items() if isinstance(value, torch.Tensor)
    }
    gain = torch.linspace(0.5, 2.0, spec.d_latent, dtype=dtype)
    return LatentWeights(spec=spec, **tensors | {"gain": gain})


def test_plain_form_by_loops():
    """Every head's keys and values out of one latent vector a token, and one turned key for all heads."""
    x, w = draw(T, SPEC.d_model), weights()
    trace = attend_latent(x, w, turn=turn, allowed=causal(T, T))
    c = rms_norm(x @ w.w_down, (SPEC.d_latent,), w.gain, w.eps)
    r = turn(x @ w.w_rope_k)
    n, p, u = SPEC.d_nope, SPEC.d_rope, SPEC.d_value
    total = torch.zeros(T, SPEC.d_model, dtype=torch.float64)
    for h in range(SPEC.n_heads):
        q = x @ w.w_q[:, h * (n + p) : (h + 1) * (n + p)]
        scores = (q[:, :n] @ (c @ w.w_up_k[:, h * n : (h + 1) * n]).T + turn(q[:, n:]) @ r.T) / math.sqrt(n + p)
        shares = scores.masked_fill(~causal(T, T), -torch.inf).softmax(-1)
        total += shares @ (c @ w.w_up_v[:, h * u : (h + 1) * u]) @ w.w_o[h * u : (h + 1) * u]
    assert_close(trace.output, total, atol=1e-12, rtol=0)


def test_both_forms_are_equal():
    """Multiplied out or absorbed into the queries, W_UK gives the same maps and outputs; in float32 to 1e-6."""
    for dtype, tolerance in ((torch.float64, 1e-13), (torch.float32, 1e-6)):
        x, w = draw(T, SPEC.d_model).to(dtype), weights(dtype=dtype)
        plain, absorbed = (form(x, w, turn=turn, allowed=causal(T, T)) for form in (attend_latent, attend_absorbed))
        for of in (lambda trace: trace.attention.weights, lambda trace: trace.head_outputs, lambda trace: trace.output):
            assert_close(of(plain), of(absorbed), atol=tolerance, rtol=0)


def test_absorbed_form_shares_one_key():
    """All heads have the same key, as wide as the cache; its first numbers are the value."""
    trace = attend_absorbed(draw(T, SPEC.d_model), weights(), turn=turn)
    k, v = trace.attention.k, trace.attention.v
    assert k.shape == (SPEC.n_heads, T, SPEC.cache_width)
    assert (k == k[:1]).all() and torch.equal(k[..., : SPEC.d_latent], v)
    latent, rope_key = latent_cache(draw(T, SPEC.d_model), weights(), turn=turn)
    assert_close(k[0], torch.cat([latent, rope_key], -1))


def check_conversion(n_kv_heads: int = 3) -> None:
    spec = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=n_kv_heads, d_head=5, d_value=2)
    mha_weights = HeadWeights.random(spec, seed=1)
    w = HeadWeights(spec=spec, **{f"w_{name}": getattr(mha_weights, f"w_{name}").double() for name in "qkvo"})
    x, converted = draw(T, 13), LatentWeights.from_heads(w)
    assert converted.spec.cache_width == min(13, n_kv_heads * 7)
    want = multi_head(x, x, w, allowed=causal(T, T)).output
    for form in (attend_latent, attend_absorbed):
        assert_close(form(x, converted, allowed=causal(T, T)).output, want, atol=1e-12, rtol=0)


def test_conversion_loses_what_is_cut():
    """A narrower latent vector is off by the singular values that were left out (Eckart and Young)."""
    spec = AttentionSpec(d_model=13, n_heads=3, d_head=5, d_value=2)
    w = HeadWeights.random(spec, seed=1)
    both = torch.cat([w.w_k, w.w_v], -1)
    sizes = torch.linalg.svdvals(both)
    for rank in (1, 7, 11):
        cut = LatentWeights.from_heads(w, d_latent=rank)
        near = cut.w_down @ torch.cat([cut.w_up_k, cut.w_up_v], -1)
        assert_close((both - near).norm(), sizes[rank:].norm(), atol=1e-5, rtol=0)


def test_impossible_conversions_are_refused():
    """Biases have no place in a latent vector; a size below 1 is named."""
    spec = AttentionSpec(d_model=6, n_heads=3)
    mha_weights = HeadWeights.random(spec, seed=1)
    biased = HeadWeights(spec=spec, **{f"w_{n}": getattr(mha_weights, f"w_{n}") for n in "qkvo"}, b_k=torch.zeros(6))
    with pytest.raises(ValueError, match="only a layer without biases"):
        LatentWeights.from_heads(biased)
    with pytest.raises(ValueError, match=r"^d_latent=0 must be at least 1$"):
        LatentSpec(d_model=6, n_heads=3, d_latent=0, d_nope=2, d_rope=0, d_value=2)
    with pytest.raises(ValueError, match=r"^d_rope=-1 must be at least 0$"):
        LatentSpec(d_model=6, n_heads=3, d_latent=1, d_nope=2, d_rope=-1, d_value=2)
