"""The grouped-query module: by hand, against the core and torch's own, and its three mistakes."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from viz.core.analysis.grouped_module import GroupedQueryAttention, load_grouped, through_module
from viz.core.heads import HeadWeights, concat_heads, multi_head
from viz.core.masks import causal
from viz.core.mistakes.kv_sharing import FiveAxes, Tiled, TooManyCopies
from viz.core.spec import AttentionSpec
from viz.core.variants.kv_sharing import attend_shared, repeat_kv
from viz.core.variants.today.bounded_scores import soft_cap

B, T, D, H = 3, 5, 14, 6


def build_module(kind, G, *, seed=0, **sizes):
    spec = AttentionSpec(d_model=D, n_heads=H, n_kv_heads=G, d_head=7, d_value=11, d_output=13, **sizes)
    weights = HeadWeights.random(spec, seed=seed)
    return weights, load_grouped(weights, kind)


def draw(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("G", [1, 2, 3, 6])
def test_any_group_count_equals_core_torch(G):
    weights, module = build_module(GroupedQueryAttention, G, d_memory=17)
    x, memory = draw(B, T, D), draw(B, 2, 17)
    with torch.inference_mode():
        output = module(x, memory)
        for b in range(B):
            assert_close(output[b], multi_head(x[b], memory[b], weights).output)
        q = module.split(module.q_proj(x), H)
        k, v = (module.split(p(memory), G) for p in (module.k_proj, module.v_proj))
        heads = scaled_dot_product_attention(q, k, v, enable_gqa=True)
        assert_close(output, module.o_proj(heads.transpose(1, 2).flatten(2)))


def test_additive_mask_empty_row_is_zero():
    weights, module = build_module(GroupedQueryAttention, 3)
    x, allowed = draw(T, D), causal(T, T).clone()
    allowed[0] = False
    added = torch.zeros(T, T).masked_fill(~allowed, -torch.inf)
    with torch.inference_mode():
        output = module(x[None], added=added)[0]
    assert_close(output, multi_head(x, x, weights, allowed=allowed).output)
    assert_close(output[0], torch.zeros(13))


def test_capped_scaled_biased_module_equals_core():
    weights, _ = build_module(GroupedQueryAttention, 3)
    x = draw(T, D)
    options = {"scale": 0.7, "bias": draw(H, T, T), "score_mod": lambda scores: torch.tanh(scores) * 2}
    trace = multi_head(x, x, weights, **options)
    assert_close(through_module(trace, **options), trace.output)


@pytest.mark.parametrize("G", [1, 2, 3, 6])
def test_five_axes_module_raises(G):
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 3"):
        build_module(FiveAxes, G)[1](draw(1, T, D))


@pytest.mark.parametrize("G", [1, 2, 3, 6])
def test_too_many_copies_module_raises(G):
    with pytest.raises(RuntimeError):  # with G = 1 the shape fails only at W_O
        build_module(TooManyCopies, G)[1](draw(1, T, D))


@pytest.mark.parametrize(("G", "right"), [(1, True), (2, False), (3, False), (6, True)])
def test_tiled_heads_differ_with_several_groups(G, right):
    x = draw(1, T, D)
    with torch.inference_mode():
        off = (build_module(Tiled, G)[1](x) - build_module(GroupedQueryAttention, G)[1](x)).abs().max()
    assert off == 0 if right else off > 0.1


def test_tiled_module_caps_its_own_scores():
    """A soft cap is of the scores of the pairs as they are read, also where heads read the wrong keys."""
    weights, _ = build_module(Tiled, 2)
    x = draw(T, D)
    trace = multi_head(x, x, weights, score_mod=soft_cap(0.3))
    wrong = attend_shared(trace.q, trace.k, trace.v, share=repeat_kv, score_mod=soft_cap(0.3))
    assert_close(through_module(trace, Tiled, score_mod=soft_cap(0.3)), concat_heads(wrong.output) @ weights.w_o)
