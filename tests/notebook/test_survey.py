"""One reading of a layer's maps says what several readings of them in float64 say."""

import pytest
import torch
from torch.testing import assert_close

from viz.components.head_grid import largest_of_blocks
from viz.notebook.survey import survey_layer

HEADS, QUERIES, KEYS, POOL = 3, 17, 23, 5


def build_layer(dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    scores = 3 * torch.randn(HEADS, QUERIES, KEYS, generator=generator)
    return scores.masked_fill(torch.ones(QUERIES, KEYS).triu(7).bool(), -torch.inf).softmax(-1).to(dtype)


@pytest.mark.parametrize("n_heads", [1, 2, HEADS])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_survey_equals_separate_readings(dtype, n_heads):
    """In every precision, of a part of a larger tensor too, and with some heads read after others."""
    larger = torch.stack([build_layer(dtype), build_layer(dtype)], 1)
    layer = larger[:, 1]
    survey, exact = survey_layer(layer.split(n_heads), POOL), layer.double()
    assert survey.shape == (HEADS, QUERIES, KEYS)
    assert (survey.lowest, survey.highest) == (0, pytest.approx(float(exact.max()), rel=1e-6))
    assert survey.above == pytest.approx(float(exact.triu(1).max()), rel=1e-6) and survey.above > 0
    assert torch.equal(survey.nowhere, (exact == 0).all(0))
    assert_close(survey.sums.double(), exact.sum(-1), atol=3e-6, rtol=0)
    small = torch.nn.functional.max_pool2d(exact, POOL, ceil_mode=True)
    assert survey.small.dtype == torch.float32
    assert_close(survey.small.double(), small, atol=1e-7, rtol=0)
    previous = torch.stack([torch.stack([head[i, i - 1] for i in range(1, QUERIES)]).mean() for head in exact])
    assert_close(survey.measures["previous"].double(), previous, atol=1e-6, rtol=0)
    assert_close(survey.measures["first_of_others"].double(), exact[:, 1:, 0].mean(-1), atol=1e-6, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("value", [-0.25, torch.nan, torch.inf, -torch.inf, -0.0])
@pytest.mark.parametrize("n_heads", [1, HEADS])
def test_survey_finds_false_weights(dtype, value, n_heads):
    """Integers in the place of 16-bit floats would order negative numbers the other way round."""
    layer = build_layer(dtype)
    layer[1, 2, 3] = value
    survey = survey_layer(layer.split(n_heads), 1)
    extremes = torch.tensor([survey.lowest, survey.highest])
    if value in (-0.25, 0):
        assert survey.lowest == value and survey.highest == float(layer.max())
    else:
        assert not extremes.isfinite().all()


@pytest.mark.parametrize("shape", [(2, 7, 11), (2, 3, 40), (4, 4), (3, 13, 2)])
@pytest.mark.parametrize("pool", [1, 2, 5, 13])
def test_largest_of_blocks_equals_torch(shape, pool):
    """Blocks at the edges are smaller, or a map is smaller than a block; -inf and NaN stay."""
    maps = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    maps.view(-1)[3], maps.view(-1)[5] = -torch.inf, torch.nan
    want = torch.nn.functional.max_pool2d(maps.view(-1, *shape[-2:]), pool, ceil_mode=True).view(*shape[:-2], -1)
    assert_close(largest_of_blocks(maps, pool).flatten(-2), want, atol=0, rtol=0, equal_nan=True)
