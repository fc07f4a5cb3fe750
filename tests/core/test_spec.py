"""Sizes: defaults, refused values, and the kind of layer."""

import pytest

from viz.core.spec import AttentionSpec


def test_omitted_sizes_take_defaults():
    spec = AttentionSpec(d_model=35, n_heads=5)
    assert (spec.H, spec.G, spec.d_k, spec.d_v, spec.d_mem, spec.d_out) == (5, 5, 7, 7, 35, 35)


def test_every_size_may_differ():
    spec = AttentionSpec(d_model=13, n_heads=6, n_kv_heads=2, d_head=7, d_value=11, d_memory=17, d_output=19)
    assert (spec.H, spec.G, spec.d_k, spec.d_v, spec.d_mem, spec.d_out) == (6, 2, 7, 11, 17, 19)
    assert AttentionSpec(d_model=13, n_heads=6, d_head=7).d_v == 7


@pytest.mark.parametrize(
    ("n_heads", "n_kv_heads", "kind"),
    [(8, None, "MHA"), (8, 8, "MHA"), (8, 4, "GQA"), (8, 2, "GQA"), (8, 1, "MQA"), (1, 1, "MHA"), (1, None, "MHA")],
)
def test_kinds(n_heads, n_kv_heads, kind):
    assert AttentionSpec(d_model=64, n_heads=n_heads, n_kv_heads=n_kv_heads).kind == kind


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"d_model": 30, "n_heads": 8}, "d_model=30 is not a multiple of n_heads=8"),
        ({"d_model": 32, "n_heads": 8, "n_kv_heads": 3}, "n_heads=8 is not a multiple of n_kv_heads=3"),
        ({"d_model": 32, "n_heads": 8, "n_kv_heads": 16}, "n_heads=8 is not a multiple of n_kv_heads=16"),
        ({"d_model": 0, "n_heads": 1}, "d_model=0 must be at least 1"),
        ({"d_model": 4, "n_heads": 0}, "n_heads=0 must be at least 1"),
        ({"d_model": 4, "n_heads": 1, "n_kv_heads": 0}, "n_kv_heads=0 must be at least 1"),
        ({"d_model": 4, "n_heads": 1, "d_head": -3}, "d_head=-3 must be at least 1"),
        ({"d_model": 4, "n_heads": 1, "d_output": 0}, "d_output=0 must be at least 1"),
    ],
)
def test_errors_name_values_and_rule(sizes, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        AttentionSpec(**sizes)
