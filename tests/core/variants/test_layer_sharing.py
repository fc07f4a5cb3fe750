"""Which layer uses which weights, and what that makes of a stack's parameters."""

import pytest
import torch
from torch.testing import assert_close

from viz.core.block import BlockWeights, stack, stack_parameters
from viz.core.spec import AttentionSpec
from viz.core.variants.layer_sharing import kv_sources, layers_used

SPEC = AttentionSpec(d_model=6, n_heads=3)


@pytest.mark.parametrize(("n_layers", "n_sets"), [(1, 1), (7, 1), (7, 7), (7, 3), (12, 5)])
def test_neighbours_share_and_groups_are_as_even_as_can_be(n_layers, n_sets):
    used = layers_used(n_layers, n_sets)
    assert len(used) == n_layers
    assert sorted(used) == list(used)
    assert len(set(used)) == n_sets
    assert all(used[one] == one for one in used), "a group uses its first layer"
    sizes = [used.count(one) for one in set(used)]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("n_sets", [0, 4])
def test_not_more_sets_than_layers(n_sets):
    with pytest.raises(ValueError, match=f"n_sets={n_sets} must be between 1 and n_layers=3"):
        layers_used(3, n_sets)


def test_a_shared_tensor_counts_once_and_runs_again():
    kinds = [BlockWeights.random(SPEC, 11, seed=seed) for seed in range(5)]
    layers = [kinds[one] for one in layers_used(5, 2)]
    each = 4 * 6 * 6 + 2 * 6 * 11 + 4 * 6
    assert stack_parameters(layers) == 2 * each
    x = torch.randn(7, 6, generator=torch.Generator().manual_seed(0))
    copies = [BlockWeights.random(SPEC, 11, seed=one) for one in (0, 0, 0, 3, 3)]
    assert stack_parameters(copies) == 5 * each
    assert_close(stack(x, layers)[-1].output, stack(x, copies)[-1].output)


def test_kv_sources_follow_the_kind():
    """Later layers read the last layer of their kind, not the last layer; none shared: each reads its own."""
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
