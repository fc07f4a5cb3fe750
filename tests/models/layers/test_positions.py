"""Changes to q and k as a layer makes them: those of the model's own run, in the precision they are given."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from transformers.models.cohere.modeling_cohere import CohereLayerNorm
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.nemotron.modeling_nemotron import NemotronLayerNorm1P
from transformers.models.t5.modeling_t5 import T5LayerNorm

from tests.checkpoints import TEXT, open_folder, save
from viz.core.heads import project, split_heads
from viz.core.norm import layer_norm, rms_norm
from viz.models import capture
from viz.models.layers.positions import norm_weights, query_key_change


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


NORMS = {
    "gemma": (GemmaRMSNorm, rms_norm), "llama": (LlamaRMSNorm, rms_norm), "t5": (T5LayerNorm, rms_norm),
    "nemotron": (NemotronLayerNorm1P, layer_norm), "cohere": (CohereLayerNorm, layer_norm),
    "torch": (nn.LayerNorm, layer_norm), "torch_bare": (partial(nn.LayerNorm, elementwise_affine=False), layer_norm),
}  # fmt: skip
"""Norms of transformers that keep their gain as it is or less 1, with a shift or without, and the core's."""


@pytest.mark.parametrize("name", NORMS)
def test_norm_weights_are_models_gain(name):
    make, normalize = NORMS[name]
    module, generator = make(7), torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        x = 3 * torch.randn(5, 7, generator=generator) + 1
        assert_close(normalize(x, norm_weights(module)), module(x), atol=1e-5, rtol=1e-5)


def test_norm_weights_of_separate_heads():
    """Cohere norms each head by weights of its own."""
    module = CohereLayerNorm(hidden_size=(3, 8))
    with torch.no_grad():
        module.weight.copy_(torch.randn(3, 8, generator=torch.Generator().manual_seed(0)))
    assert torch.equal(norm_weights(module).gain, module.weight)
