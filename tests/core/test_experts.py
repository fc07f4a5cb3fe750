"""Experts: by hand, equal scores, and transformers' own."""

import pytest
import torch
from torch.nn.functional import silu
from torch.testing import assert_close
from transformers import MixtralConfig, Qwen2MoeConfig
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock
from transformers.models.qwen2_moe.modeling_qwen2_moe import Qwen2MoeSparseMoeBlock

from tests.core.tensors import draw
from viz.core.block import BlockWeights, encoder_block
from viz.core.experts import ExpertsTrace, ExpertsWeights, Router, mixture_of_experts, route
from viz.core.feed_forward import FeedForwardWeights, feed_forward
from viz.core.spec import AttentionSpec

CLOSE = {"atol": 1e-12, "rtol": 1e-12}  # float64
T, D, D_FF, E, K = 13, 7, 11, 5, 3


def draw_network(seed: int, d_ff: int = D_FF) -> FeedForwardWeights:
    return FeedForwardWeights(
        w_in=draw(D, d_ff, seed=seed), w_gate=draw(D, d_ff, seed=seed + 100), w_out=draw(d_ff, D, seed=seed + 200)
    )


EXPERTS = tuple(draw_network(seed) for seed in range(1, E + 1))
X = draw(T, D)
LOGITS = torch.tensor([[1.0, 2.0, 4.0, 1.0]]).log()
"""Of four experts, whose scores are an eighth, a quarter, a half and an eighth."""


@pytest.mark.parametrize(
    ("options", "numbers", "weights"),
    [
        ({"k": 2}, [2, 1], [2 / 3, 1 / 3]),
        ({"k": 2, "renormalize": False}, [2, 1], [1 / 2, 1 / 4]),
        ({"k": 2, "scale": 3.0}, [2, 1], [2.0, 1.0]),
        ({"k": 1}, [2], [1.0]),
        ({"k": 2, "b": torch.tensor([4.0, 1.0, 1.0, 1.0]).log()}, [0, 2], [1 / 2, 1 / 2]),
        # The correction, 0.3 for the last expert, decides who is chosen, and is no part of the weights.
        ({"k": 2, "correction": torch.tensor([0.0, 0.0, 0.0, 0.3])}, [2, 3], [4 / 5, 1 / 5]),
        # Odds of 1, 2, 4, 1: sigmoids of 1/2, 2/3, 4/5, 1/2.
        ({"k": 2, "score": "sigmoid", "renormalize": False}, [2, 1], [4 / 5, 2 / 3]),
        ({"k": 2, "score": "sigmoid"}, [2, 1], [12 / 22, 10 / 22]),
    ],
)
def test_router_by_hand(options, numbers, weights):
    routing = route(torch.ones(1, 1), Router(w=LOGITS, **options))
    assert sorted(routing.numbers[0].tolist()) == sorted(numbers)
    by_expert = dict(zip(routing.numbers[0].tolist(), routing.weights[0].tolist(), strict=True))
    assert by_expert == pytest.approx(dict(zip(numbers, weights, strict=True)), abs=1e-6)
    assert routing.by_expert[0].tolist() == pytest.approx([by_expert.get(e, 0.0) for e in range(4)])


def test_batch_equals_its_texts():
    weights = ExpertsWeights(router=Router(w=draw(D, E, seed=9), k=K), experts=EXPERTS)
    texts = draw(2, T, D, seed=4)
    output = mixture_of_experts(texts, weights).output
    for i in range(2):
        assert_close(output[i], mixture_of_experts(texts[i], weights).output, **CLOSE)


def test_experts_compute_their_tokens_alone(monkeypatch):
    rows = []

    def count_rows(x, weights, **options):
        rows.append(len(x))
        return feed_forward(x, weights, **options)

    monkeypatch.setattr("viz.core.experts.feed_forward", count_rows)
    mixture_of_experts(X, ExpertsWeights(router=Router(w=draw(D, E, seed=9), k=K), experts=EXPERTS))
    assert sum(rows) == T * K


@pytest.mark.parametrize("n_experts", [5, 97])
def test_equal_scores_as_transformers_chooses(n_experts):
    """Whole groups of experts with one score, of which ``torch.topk`` takes some: the same as transformers' router."""
    config = MixtralConfig(
        hidden_size=D, intermediate_size=D_FF, num_local_experts=n_experts, num_experts_per_tok=3, num_attention_heads=1
    )
    router = MixtralSparseMoeBlock(config).gate
    with torch.no_grad():
        router.weight.copy_(torch.arange(n_experts)[:, None] % 2 * torch.ones(n_experts, D))
        x = torch.cat([torch.ones(3, D), -torch.ones(3, D), torch.zeros(3, D)])
        _, weights, numbers = router(x)
        routing = route(x, Router(w=router.weight.T, k=3))
    assert torch.equal(routing.numbers, numbers)
    assert_close(routing.weights, weights, atol=1e-7, rtol=0)


def fill(module: torch.nn.Module) -> None:
    for i, parameter in enumerate(module.parameters()):
        parameter.data = draw(*parameter.shape, seed=i) / 2


def stacked(module) -> tuple[FeedForwardWeights, ...]:
    return tuple(
        FeedForwardWeights(w_gate=gate_up[:D_FF].T, w_in=gate_up[D_FF:].T, w_out=down.T)
        for gate_up, down in zip(module.experts.gate_up_proj, module.experts.down_proj, strict=True)
    )


@pytest.mark.parametrize("renormalize", [True, False])
def test_shared_expert_equals_qwens(renormalize):
    config = Qwen2MoeConfig(
        hidden_size=D, moe_intermediate_size=D_FF, shared_expert_intermediate_size=17, num_experts=E,
        num_experts_per_tok=K, norm_topk_prob=renormalize, num_attention_heads=1,
    )  # fmt: skip
    module = Qwen2MoeSparseMoeBlock(config)
    fill(module)
    mlp = module.shared_expert
    weights = ExpertsWeights(
        router=Router(w=module.gate.weight.T, k=K, renormalize=renormalize),
        experts=stacked(module),
        shared=FeedForwardWeights(
            w_in=mlp.up_proj.weight.T, w_gate=mlp.gate_proj.weight.T, w_out=mlp.down_proj.weight.T
        ),
        w_shared=module.shared_expert_gate.weight.T,
    )
    with torch.no_grad():
        assert_close(mixture_of_experts(X, weights, activation=silu).output, module(X[None])[0], atol=1e-5, rtol=1e-5)


def test_block_runs_experts():
    """Its trace is the experts', and its parameters are counted: all of them, and those that one token meets."""
    plain = BlockWeights.random(AttentionSpec(d_model=6, n_heads=3), 11, seed=0)
    experts = tuple(FeedForwardWeights.random(6, 13, seed=seed) for seed in range(5))
    mixture = ExpertsWeights(router=Router(w=torch.randn(6, 5), k=2), experts=experts, shared=plain.feed_forward)
    weights = BlockWeights(**vars(plain) | {"feed_forward": mixture})
    trace = encoder_block(torch.eye(6), weights)
    assert isinstance(trace.feed_forward, ExpertsTrace)
    assert trace.feed_forward.output is trace.points["feed_forward"]
    assert mixture.n_parameters() == 6 * 5 + 5 * (2 * 6 * 13) + 2 * 6 * 11
    assert sum(tensor.numel() for tensor in mixture.active_tensors) == 6 * 5 + 2 * (2 * 6 * 13) + 2 * 6 * 11
    assert weights.n_parameters() == plain.n_parameters() + mixture.n_parameters() - 2 * 6 * 11


def test_wrong_numbers_of_experts_are_refused():
    with pytest.raises(ValueError, match="6 of 5 experts cannot be chosen"):
        Router(w=torch.zeros(D, E), k=E + 1)
    with pytest.raises(ValueError, match="among 4 experts, not 5"):
        ExpertsWeights(router=Router(w=torch.zeros(D, 4), k=2), experts=EXPERTS)
