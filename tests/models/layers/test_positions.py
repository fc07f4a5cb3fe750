"""Changes to q and k as a layer makes them: those of the model's own run, in the precision they are given."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import TEXT, open_folder, save
from viz.core.heads import project, split_heads
from viz.models import capture
from viz.models.layers.positions import query_key_change


@pytest.mark.parametrize(("name", "change_name"), [
    ("qwen3", "normed"), ("hunyuan_v1_dense", "turned_normed"), ("glm", "part"), ("cohere", "whole"),
    ("olmo2", "normed"),
])  # fmt: skip
def test_query_key_change_is_models_own(name, change_name, tmp_path):
    """In float32 as the model has it, and in float64 without a step in less: a slope is measured with it."""
    model = open_folder(save(name, tmp_path / name))
    call = capture(model, TEXT).calls[1]
    p, change = call.projections, query_key_change(model, model.layers[1], call.rotation)
    q = split_heads(project(call.x, p.w_q, p.b_q), p.spec.H)
    k = split_heads(project(call.memory, p.w_k, p.b_k), p.spec.G)
    assert call.rotation == change_name
    for changed_rows, expected in zip(change(q, k), (call.q, call.k), strict=True):
        assert_close(changed_rows, expected, atol=1e-5 * float(expected.abs().max()), rtol=0)
    step = torch.zeros_like(q, dtype=torch.float64)
    step[:, 1, 0] = 1e-11
    difference = change(q.double() + step, k.double())[0] - change(q.double(), k.double())[0]
    assert 0 < float(difference.abs().max()) < 1e-9
