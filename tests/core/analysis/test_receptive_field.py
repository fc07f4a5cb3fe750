"""The reach of information through layers: path by path, and measured on stacks that run."""

from dataclasses import fields, replace

import pytest
import torch
from torch.testing import assert_close

from viz.core import masks
from viz.core.analysis.receptive_field import cone, output_change, sensitivity, step
from viz.core.block import BlockDesign, BlockWeights
from viz.core.spec import AttentionSpec
from viz.core.stack import stack

T = 13
BLOCK_PARTS = {field.name for field in fields(BlockWeights)}


def reach(steps):
    """The tokens on which each token of the last layer may depend, (T, T)."""
    return torch.stack([cone(steps, query)[0] for query in range(steps.shape[-1])])


def same(mask, n_layers):
    return mask.expand(n_layers, T, T)


class TestReach:
    def test_path_by_path(self):
        random = torch.rand(3, 5, 5, generator=torch.Generator().manual_seed(0)) < 0.3
        reachable = torch.zeros(5, 5, dtype=torch.bool)
        for i in range(5):
            for j in range(5):
                ways = [(a, b) for a in range(5) for b in range(5) if random[2, i, a] and random[1, a, b]]
                reachable[i, j] = any(random[0, b, j] for _, b in ways)
        assert torch.equal(reach(random), reachable)
        assert reachable.any() and not reachable.all()


class TestStep:
    def test_a_residual_keeps_the_token_itself(self):
        nothing = torch.zeros(T, T, dtype=torch.bool)
        assert torch.equal(step(nothing, T, residual=True), torch.eye(T).bool())
        assert torch.equal(step(nothing, T, residual=False), nothing)
        assert step(None, T, residual=False).all()


def doubled(part):
    """Convert weights to float64: after three layers a gradient may be below the precision of float32."""
    tensors = {name: value.double() for name, value in vars(part).items() if isinstance(value, torch.Tensor)}
    tensors |= {name: doubled(value) for name, value in vars(part).items() if name in BLOCK_PARTS and value is not None}
    return replace(part, **tensors)


def random_levels(mask, n_layers=3, dtype=torch.float32, **design):
    weights = [BlockWeights.random(AttentionSpec(d_model=6, n_heads=2), 11, seed=seed) for seed in range(n_layers)]
    weights = weights if dtype == torch.float32 else [doubled(block) for block in weights]

    def run(x):
        layers = stack(x, weights, allowed=mask, design=BlockDesign(**design))
        return (x, *(layer.output for layer in layers))

    return run


def tokens():
    return torch.randn(T, 6, generator=torch.Generator().manual_seed(0))


class TestMeasured:
    @pytest.mark.parametrize("norm", ["post", "pre"])
    @pytest.mark.parametrize("query", [0, 6, 12])
    def test_stack_depends_only_on_mask_reach(self, norm, query):
        mask = masks.window(T, T, 1)
        gradients = sensitivity(random_levels(mask, norm=norm), tokens(), query)
        assert torch.equal(gradients > 0, cone(same(mask, 3), query))

    def test_gradient_norm_equals_finite_differences(self):
        run, x, query = random_levels(None, 2), tokens(), 4
        gradients = sensitivity(run, x, query)
        direction = torch.randn(6, generator=torch.Generator().manual_seed(0))
        direction /= direction.norm()
        bumps = 0.01 * torch.eye(T * 6).view(T * 6, T, 6)  # one number of one token each
        slopes = (run(x + bumps)[-1] - run(x - bumps)[-1])[:, query] @ direction / 0.02
        # ReLU bends, and float32 has 7 digits
        assert_close(gradients[0], slopes.view(T, 6).norm(dim=-1), atol=2e-3, rtol=2e-2)
        assert_close(gradients[-1], torch.eye(T)[query])

    def test_noise_moves_output_only_from_inside(self):
        mask = masks.window(T, T, 1)
        outside = torch.arange(T) > 6 + 3
        run = random_levels(mask, dtype=torch.float64)
        change = output_change(lambda x: run(x)[-1], tokens().double(), outside)
        assert change[: 6 + 1].max() == 0
        assert change[6 + 1 :].min() > 0

    def test_works_inside_inference_mode(self):
        run = random_levels(masks.causal(T, T), 1)
        with torch.inference_mode():
            assert sensitivity(run, tokens(), 0)[0].nonzero().tolist() == [[0]]
