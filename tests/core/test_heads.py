"""Many heads: against one head at a time."""

import math

import pytest
import torch
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.attention import attend
from viz.core.heads import HeadWeights, concat_heads, merge_heads, multi_head, share_kv, split_heads
from viz.core.masks import causal
from viz.core.spec import AttentionSpec

EXACT = {"atol": 0, "rtol": 0}
CLOSE = {"atol": 1e-12, "rtol": 1e-12}  # float64: only a wrong formula is off by more


def wide_spec(n_kv_heads: int = 2) -> AttentionSpec:
    """Return a spec with a different prime for every width; six heads so that G can be 1, 2, 3 or 6."""
    return AttentionSpec(
        d_model=13, n_heads=6, n_kv_heads=n_kv_heads, d_head=7, d_value=11, d_memory=17, d_output=19
    )  # fmt: skip


def weights_of(spec: AttentionSpec, *, bias: bool = True) -> HeadWeights:
    shapes: dict[str, tuple[int, ...]] = {
        "w_q": (spec.d_model, spec.H * spec.d_k), "w_k": (spec.d_mem, spec.G * spec.d_k),
        "w_v": (spec.d_mem, spec.G * spec.d_v), "w_o": (spec.H * spec.d_v, spec.d_out),
    }  # fmt: skip
    if bias:
        shapes |= {name.replace("w", "b"): (shape[1],) for name, shape in shapes.items()}
    scale = {name: shape[0] ** -0.5 for name, shape in shapes.items()}
    return HeadWeights(
        spec=spec, **{name: draw(*shape, seed=i) * scale[name] for i, (name, shape) in enumerate(shapes.items())}
    )


class TestSplitShareConcat:
    def test_errors(self):
        with pytest.raises(ValueError, match=r"^width=30 is not a multiple of n_heads=8$"):
            split_heads(draw(5, 30), 8)
        with pytest.raises(ValueError, match=r"^n_heads=8 is not a multiple of n_kv_heads=3$"):
            share_kv(draw(3, 5, 7), 8)


class TestMultiHead:
    @pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
    @pytest.mark.parametrize("bias", [False, True])
    def test_one_head_at_a_time(self, n_kv_heads, bias):
        """Every head alone, with its own columns, and its own rows of W_O; rectangular, all widths different."""
        s = wide_spec(n_kv_heads)
        w = weights_of(s, bias=bias)
        x, memory = draw(3, s.d_model, seed=8), draw(5, s.d_mem, seed=9)
        trace = multi_head(x, memory, w)
        total = torch.zeros(3, s.d_out, dtype=torch.float64)
        for i in range(s.H):
            g = i * s.G // s.H
            q = x @ w.w_q[:, i * s.d_k : (i + 1) * s.d_k]
            k = memory @ w.w_k[:, g * s.d_k : (g + 1) * s.d_k]
            v = memory @ w.w_v[:, g * s.d_v : (g + 1) * s.d_v]
            if bias:
                q = q + w.b_q[i * s.d_k : (i + 1) * s.d_k]
                k = k + w.b_k[g * s.d_k : (g + 1) * s.d_k]
                v = v + w.b_v[g * s.d_v : (g + 1) * s.d_v]
            a = torch.softmax(q @ k.T / math.sqrt(s.d_k), dim=-1)
            z = (a @ v) @ w.w_o[i * s.d_v : (i + 1) * s.d_v]
            assert_close(trace.weights[i], a, **CLOSE)
            assert_close(trace.head_outputs[i], a @ v, **CLOSE)
            assert_close(trace.contributions[i], z, **CLOSE)
            total = total + z
        assert_close(trace.concat, concat_heads(trace.head_outputs), **EXACT)
        assert_close(trace.output, total + w.b_o if bias else total, **CLOSE)

    def test_options_reach_attention(self):
        x, w = draw(5, 35, seed=9), weights_of(AttentionSpec(d_model=35, n_heads=5))
        bias = draw(5, 5, 5)
        trace = multi_head(x, x, w, allowed=causal(5, 5), bias=bias, scale=0.2, score_mod=torch.tanh)
        again = attend(trace.q, trace.k, trace.v, allowed=causal(5, 5), bias=bias, scale=0.2, score_mod=torch.tanh)
        assert_close(trace.weights, again.weights, **CLOSE)
        assert trace.weights.triu(1).eq(0).all()

    def test_merging_turned_queries_and_keys(self):
        """A model that rotates q and k by position continues after the projections."""
        x, w = draw(5, 35, seed=9), weights_of(AttentionSpec(d_model=35, n_heads=5))
        plain = multi_head(x, x, w)
        same = merge_heads(plain.q, plain.k, plain.v, w, x=x, memory=x)
        assert_close(same.output, plain.output, **CLOSE)
        merged = merge_heads(plain.q.flip(-1), plain.k.flip(-1), plain.v, w, x=x, memory=x)
        assert_close(merged.output, plain.output, **CLOSE)
        assert torch.equal(merged.q, plain.q.flip(-1))


class TestHeadWeights:
    def test_random_depends_on_seed_only(self):
        spec = wide_spec()
        a, b, c = (HeadWeights.random(spec, seed=seed) for seed in (3, 3, 4))
        for name in ("w_q", "w_k", "w_v", "w_o"):
            assert torch.equal(getattr(a, name), getattr(b, name))
            assert (getattr(a, name) - getattr(c, name)).abs().max() > 0.1

    def test_random_keeps_global_seed(self):
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        HeadWeights.random(wide_spec(), seed=0)
        assert_close(torch.rand(3), expected)

    def test_random_keeps_unit_variance(self):
        spec = AttentionSpec(d_model=128, n_heads=4, n_kv_heads=1)
        x = torch.randn(997, 128, generator=torch.Generator().manual_seed(0))
        trace = multi_head(x, x, HeadWeights.random(spec, seed=0))
        for tensor in (trace.q, trace.k, trace.v):
            assert_close(float(tensor.var()), 1.0, atol=0.05, rtol=0)

    def test_a_wrong_shape_is_refused(self):
        spec = AttentionSpec(d_model=6, n_heads=2)
        good = HeadWeights.random(spec, seed=0)
        with pytest.raises(ValueError, match=r"^w_k has shape \(5, 6\), the spec asks for \(6, 6\)$"):
            HeadWeights(spec=spec, w_q=good.w_q, w_k=good.w_k[:5], w_v=good.w_v, w_o=good.w_o)
        with pytest.raises(ValueError, match=r"^b_o has shape \(5,\), the spec asks for \(6,\)$"):
            HeadWeights(spec=spec, w_q=good.w_q, w_k=good.w_k, w_v=good.w_v, w_o=good.w_o, b_o=torch.zeros(5))


class TestFromMha:
    @pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
    def test_pooled_keys_are_group_means(self, n_kv_heads):
        old = weights_of(wide_spec(6))
        new = HeadWeights.from_mha(old, n_kv_heads)
        x, memory = draw(3, 13, seed=8), draw(5, 17, seed=9)
        before, after = multi_head(x, memory, old), multi_head(x, memory, new)
        size = 6 // n_kv_heads
        for g in range(n_kv_heads):
            group = slice(g * size, (g + 1) * size)
            assert_close(after.k[g], before.k[group].mean(0), **CLOSE)
            assert_close(after.v[g], before.v[group].mean(0), **CLOSE)
        assert_close(after.q, before.q, **CLOSE)
        assert new.w_o is old.w_o and new.b_o is old.b_o
        assert new.spec.kind == {1: "MQA", 6: "MHA"}.get(n_kv_heads, "GQA")

    def test_without_biases(self):
        assert HeadWeights.from_mha(weights_of(wide_spec(6), bias=False), 3).b_k is None

    def test_errors(self):
        with pytest.raises(ValueError, match=r"^n_kv_heads=2 cannot be pooled into n_kv_heads=3$"):
            HeadWeights.from_mha(weights_of(wide_spec(2)), 3)
        with pytest.raises(ValueError, match=r"^n_heads=6 is not a multiple of n_kv_heads=4$"):
            HeadWeights.from_mha(weights_of(wide_spec(6)), 4)
