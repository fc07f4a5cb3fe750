"""Blocks with experts give a model's own hidden states, whatever their router does."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import MORE, TEXT, open_folder, save
from viz.core.experts import ExpertsTrace, ExpertsWeights
from viz.models import ModelError, capture
from viz.models.blocks import find_block_layout, model_blocks
from viz.models.layers.experts import read_experts

SIZES = {
    "num_experts": 11,
    "num_local_experts": 11,
    "moe_num_experts": 11,
    "num_experts_per_tok": 3,
    "moe_topk": 3,
    "moe_k": 3,
    "moe_intermediate_size": 20,
    "shared_expert_intermediate_size": 17,
    "num_hidden_layers": 3,
}  # fmt: skip
"""torch multiplies rows of a multiple of 16 bytes: the experts' width cannot be a prime."""
CORRECTED = {
    "glm4_moe": "mlp.gate.e_score_correction_bias", "dots1": "mlp.gate.e_score_correction_bias",
    "solar_open": "mlp.gate.e_score_correction_bias", "minimax_m2": "mlp.e_score_correction_bias",
    "exaone_moe": "mlp.gate.e_score_correction_bias", "glm4v_moe_text": "mlp.gate.e_score_correction_bias",
    "hy_v3": "mlp.e_score_correction_bias", "ernie4_5_moe": "mlp.gate.moe_statics.e_score_correction_bias",
}  # fmt: skip
"""The place of the number that is added to each expert's score for the choice alone; 0 before training, mostly."""
GROUPS = {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 1}
CASES = {
    "mixtral": ("mixtral", {}),
    "olmoe": ("olmoe", {}),
    "olmoe, renormalized": ("olmoe", {"norm_topk_prob": True}),
    "qwen3_moe": ("qwen3_moe", {"norm_topk_prob": False}),
    "qwen3_moe, renormalized": ("qwen3_moe", {"norm_topk_prob": True}),
    "qwen3_moe, every second layer": ("qwen3_moe", {"decoder_sparse_step": 2}),
    "qwen3_moe, first layer dense": ("qwen3_moe", {"mlp_only_layers": [0]}),
    "qwen2_moe": ("qwen2_moe", {}),
    "qwen2_moe, renormalized": ("qwen2_moe", {"norm_topk_prob": True}),
    "flex_olmo": ("flex_olmo", {}),
    "glm4_moe": ("glm4_moe", GROUPS | {"n_shared_experts": 2, "routed_scaling_factor": 1.7}),
    "glm4_moe, not renormalized": ("glm4_moe", GROUPS | {"norm_topk_prob": False}),
    "dots1": ("dots1", GROUPS | {"n_shared_experts": 2, "routed_scaling_factor": 0.6}),
    "solar_open": ("solar_open", {"routed_scaling_factor": 1.3}),
    "minimax_m2": ("minimax_m2", {}),
    "mellum": ("mellum", {"norm_topk_prob": False}),
    "qwen3_vl_moe_text": ("qwen3_vl_moe_text", {}),
    "qwen3_omni_moe_text": ("qwen3_omni_moe_text", {}),
    "exaone_moe": ("exaone_moe", {"n_group": 1, "topk_group": 1, "routed_scaling_factor": 1.9}),
    "glm4v_moe_text": ("glm4v_moe_text", GROUPS | {"routed_scaling_factor": 1.2}),
    "hy_v3": ("hy_v3", {"router_scaling_factor": 1.4}),
    "hunyuan_v1_moe": ("hunyuan_v1_moe", {}),
    "ernie4_5_moe": ("ernie4_5_moe", {"moe_num_shared_experts": 2}),
    "ernie4_5_moe, none shared": ("ernie4_5_moe", {"moe_num_shared_experts": 0}),
}


def open_case(name, folder, **changes):
    family, sizes = CASES[name]
    n_routed = {"n_routed_experts": 11} if "n_routed_experts" in MORE[family].sizes else {}
    model = open_folder(save(family, folder, **SIZES | n_routed | sizes | changes))
    generator = torch.Generator().manual_seed(1)
    for layer in model.model.base_model.layers:
        if family in CORRECTED and hasattr(layer.mlp, "experts"):
            correction = layer.get_submodule(CORRECTED[family].rpartition(".")[0]).e_score_correction_bias
            correction.data = torch.randn(correction.shape, generator=generator) / 4
    return model


@pytest.mark.parametrize("name", CASES)
def test_experts_give_models_hidden_states(name, tmp_path):
    model = open_case(name, tmp_path / "small")
    blocks = model_blocks(model, capture(model, TEXT))
    traces = blocks.run()
    largest = max(float(state.abs().max()) for state in blocks.states)
    # The sums are in float32, of weights drawn wide.
    assert blocks.state_error(traces) < 5e-5 * max(1.0, largest / 20)
    layers = model.model.base_model.layers
    for layer, weights, trace in zip(layers, blocks.weights, traces, strict=True):
        has_experts = hasattr(layer.mlp, "experts")
        assert isinstance(trace.feed_forward, ExpertsTrace) is has_experts
        assert weights.feed_forward.n_parameters() == sum(
            value.numel() for name, value in layer.mlp.state_dict().items() if "expert_bias" not in name
        )
        if has_experts:
            assert len(weights.feed_forward.experts) == 11
            assert trace.feed_forward.routing.numbers.shape == (len(trace.x), 3)
            assert len(trace.feed_forward.routing.numbers.unique()) > 3, "else a router of one answer would pass"
    assert any(isinstance(trace.feed_forward, ExpertsTrace) for trace in traces)
    # Experts in another order are another model.
    last = blocks.weights[-1].feed_forward
    if isinstance(last, ExpertsWeights):
        object.__setattr__(last, "experts", (*last.experts[1:], last.experts[0]))
        assert blocks.state_error(blocks.run()) > 0.01


def test_experts_are_views(tmp_path):
    """No matrix of an expert is copied: all of Qwen3-30B's are 110 GB."""
    model = open_case("qwen2_moe", tmp_path / "small")
    layer, layout = model.model.base_model.layers[0], find_block_layout(model, "decoder")
    weights = read_experts(layer, layout.experts)
    storages = {parameter.untyped_storage().data_ptr() for parameter in layer.parameters()}
    assert all(tensor.untyped_storage().data_ptr() in storages for tensor in weights.active_tensors)
    assert_close(weights.experts[1].w_gate, layer.mlp.experts.gate_up_proj[1, :20].T)
    assert_close(weights.experts[1].w_in, layer.mlp.experts.gate_up_proj[1, 20:].T)


def test_groups_of_experts_are_refused(tmp_path):
    model = open_case("dots1", tmp_path / "small", n_group=2, topk_group=1, num_experts=4, n_routed_experts=4)
    with pytest.raises(ModelError, match="dots1 first chooses groups of experts") as error:
        find_block_layout(model, "decoder")
    assert error.value.code == "block_groups"
    assert find_block_layout(model, "decoder", of_stream=True).network == "mlp"


def test_all_groups_are_no_choice(tmp_path):
    """A router that takes all groups chooses among all experts."""
    sizes = {"n_group": 2, "topk_group": 2, "num_experts": 4, "n_routed_experts": 4, "num_local_experts": 4}
    model = open_case("dots1", tmp_path / "small", **sizes)
    blocks = model_blocks(model, capture(model, TEXT))
    assert blocks.state_error(blocks.run()) < 5e-5
