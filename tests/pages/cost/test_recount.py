"""The counts made another way: against numbers known beforehand, and against each other."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from pages.cost import recount
from pages.cost.streaming import streaming_attention
from viz.core.cost.architectures import ARCHITECTURES, Sizes
from viz.models.presets import preset


def test_one_layer_of_the_paper():
    """Vaswani et al. 2017: d = 512, eight heads of 64; ten words."""
    assert vars(recount.attention_layer(512, 8, 64, 10)) == {
        "matrices": 10_485_760,
        "pairs": 102_400,
        "exponentials": 800,
        "weight_bytes": 3_200,
        "parameters": 1_048_576,
    }


@pytest.mark.parametrize("k", [1, 3, 5, 31])
@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=lambda architecture: architecture.name)
def test_spreading_steps_equal_formula(architecture, k):
    steps = recount.spreading_steps(architecture.name, 130, k)
    assert steps == tuple(architecture.steps(Sizes(n=130, d=1, k=k), distance) for distance in range(130))


def test_known_models():
    gpt2, llama = preset("gpt2").model, preset("Llama-2-7B").model
    assert recount.model_parameters(gpt2) == 124_439_808
    assert recount.model_parameters(llama) == 6_738_415_616


@pytest.mark.parametrize(("n", "block"), [(1, 128), (128, 128), (300, 128), (17, 4), (5, 1)])
def test_streaming_is_exact_whatever_the_scores(n, block):
    q, k, v = 3 * torch.randn(3, 2, n, 8, generator=torch.Generator().manual_seed(1))
    output, n_stored = streaming_attention(q, k, v, block)
    assert_close(output, scaled_dot_product_attention(q, k, v), atol=1e-4, rtol=1e-4)
    assert n_stored == 2 * (2 * n + min(n, block) ** 2)
