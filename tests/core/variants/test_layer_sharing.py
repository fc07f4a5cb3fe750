"""The weights that each layer uses, and the parameter count of the stack."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from viz.core.block import BlockWeights
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec
from viz.core.stack import stack, stack_parameters
from viz.core.variants.layer_sharing import (
    attend_in_layers,
    attend_to_source,
    grouped_sources,
    kv_sources,
    layers_used,
)
from viz.core.variants.today.interleaved import interleaved_masks

SPEC = AttentionSpec(d_model=6, n_heads=3)


@pytest.mark.parametrize(("n_layers", "n_sets"), [(1, 1), (7, 1), (7, 7), (7, 3), (12, 5)])
def test_neighbours_share_evenly(n_layers, n_sets):
    used = layers_used(n_layers, n_sets)
    assert len(used) == n_layers
    assert sorted(used) == list(used)
    assert len(set(used)) == n_sets
    assert all(used[layer] == layer for layer in used), "a group uses its first layer"
    sizes = [used.count(layer) for layer in set(used)]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("n_sets", [0, 4])
def test_more_sets_than_layers_is_refused(n_sets):
    with pytest.raises(ValueError, match=f"n_sets={n_sets} must be between 1 and n_layers=3"):
        layers_used(3, n_sets)


def test_shared_tensor_counts_once_runs_again():
    kinds = [BlockWeights.random(SPEC, 11, seed=seed) for seed in range(5)]
    layers = [kinds[source] for source in layers_used(5, 2)]
    layer_parameters = 4 * 6 * 6 + 2 * 6 * 11 + 4 * 6
    assert stack_parameters(layers) == 2 * layer_parameters
    x = torch.randn(7, 6, generator=torch.Generator().manual_seed(0))
    copies = [BlockWeights.random(SPEC, 11, seed=source) for source in (0, 0, 0, 3, 3)]
    assert stack_parameters(copies) == 5 * layer_parameters
    assert_close(stack(x, layers)[-1].output, stack(x, copies)[-1].output)


def test_kv_sources_follow_the_kind():
    """Later layers read the last layer of their kind; without sharing every layer reads its own."""
    kinds = ["window"] * 4 + ["full"] + ["window"] * 4 + ["full"] + ["window", "full", "window"]
    assert kv_sources(kinds, 3) == (*range(10), 8, 9, 8)
    assert kv_sources(kinds, 0) == tuple(range(13))
    assert len(set(kv_sources(kinds, 3))) == 10, "ten caches instead of thirteen"


@pytest.mark.parametrize(
    ("kinds", "n_shared", "sentence"),
    [
        ("wf", 2, "n_shared=2 is not between 0 and n_layers - 1 = 1"),
        ("wf", -1, "n_shared=-1 is not between 0 and n_layers - 1 = 1"),
        ("wwf", 1, "layer 2 finds no layer of its kind among the first 2"),
    ],
)
def test_kv_sources_are_refused(kinds, n_shared, sentence):
    """A layer without keys and values needs another of its kind."""
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        kv_sources(kinds, n_shared)


GQA = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=3, d_head=5, d_value=2)
HEADS = [HeadWeights.random(GQA, seed=seed) for seed in range(5)]
MASKS = interleaved_masks(7, (False, False, True, False, True), size=3)


def tokens():
    return torch.randn(7, 13, generator=torch.Generator().manual_seed(0))


def test_readers_use_what_was_cached():
    """A reading layer uses its own queries with the keys and values of an earlier layer."""
    sources = kv_sources(["w", "w", "f", "w", "f"], 2)
    assert sources == (0, 1, 2, 1, 2)
    traces = attend_in_layers(tokens(), HEADS, sources, allowed=MASKS)
    for layer, source in ((3, 1), (4, 2)):
        trace, weights = traces[layer], HEADS[layer]
        own_queries = HeadWeights(
            spec=GQA, w_q=weights.w_q, w_k=HEADS[source].w_k, w_v=HEADS[source].w_v, w_o=weights.w_o
        )
        want = multi_head(traces[layer - 1].x + traces[layer - 1].output, traces[source].x, own_queries,
                          allowed=MASKS[layer])  # fmt: skip
        assert_close(trace.output, want.output)
        assert trace.k is traces[source].k, "nothing is computed twice"


def test_layer_cannot_read_later_one():
    """A layer cannot share what a later layer computes."""
    with pytest.raises(ValueError, match=r"^layer 1 cannot read layer 2, which comes later$"):
        attend_in_layers(tokens(), HEADS, (0, 2, 2, 3, 4))


@pytest.mark.parametrize("sizes", [(0, 1), (3, 0)])
def test_grouped_sources_refuse_nothing(sizes):
    with pytest.raises(ValueError, match="=0 must be at least 1"):
        grouped_sources(*sizes)


def test_attend_to_source_equals_sdpa():
    """Torch's own attention with the layer's queries and another's keys and values, behind the layer's mask."""
    traces = attend_in_layers(tokens(), HEADS, range(5), allowed=MASKS)
    queries, keys, values = ([vars(trace)[name] for trace in traces] for name in "qkv")
    for layer, source in enumerate(grouped_sources(5, 2)):
        mixed = attend_to_source(queries, keys, values, grouped_sources(5, 2), layer, allowed=MASKS[layer])
        expected = scaled_dot_product_attention(
            queries[layer], keys[source], values[source], attn_mask=MASKS[layer], enable_gqa=True
        )
        assert_close(mixed.output, expected)
