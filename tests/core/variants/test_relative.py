"""Quadratic heads: their identity, their windows, and the equal convolutions."""

import pytest
import torch
from torch.nn.functional import conv1d, pad

from viz.core.attention import row_softmax
from viz.core.variants.relative import (
    axial_layer,
    factored_scores,
    heads_from_kernel,
    kernel_offsets,
    quadratic_scores,
    value_heads,
)

SHARP = 46.0


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@pytest.mark.parametrize("grid", [(13,), (3, 5)])
def test_product_of_vectors_is_shifted_square(grid: tuple[int, ...]):
    for seed in range(3):
        offset = 3 * draw(5, len(grid), seed=seed, dtype=torch.float64)
        alpha = draw(5, seed=seed + 100, dtype=torch.float64).exp()
        square, product = quadratic_scores(offset, alpha, grid), factored_scores(offset, alpha, grid)
        constant = alpha * offset.square().sum(-1)
        torch.testing.assert_close(product, square + constant[:, None, None])
        torch.testing.assert_close(row_softmax(product), row_softmax(square))


@pytest.mark.parametrize("k", [1, 3, 5])
def test_one_dimension_is_conv1d_borders_included(k: int):
    signal, kernel = draw(3, 23), draw(2, 3, k, seed=1)
    expected = conv1d(pad(signal[None], (k // 2, k // 2), mode="replicate"), kernel)[0]
    torch.testing.assert_close(heads_from_kernel(kernel, alpha=SHARP).layer(signal), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_two_dimensions_are_conv2d_borders_included(k: int):
    image, kernel = draw(3, 7, 11), draw(5, 3, k, k, seed=1)
    layer = torch.nn.Conv2d(3, 5, k, padding=k // 2, padding_mode="replicate", bias=False)
    with torch.no_grad():
        layer.weight.copy_(kernel)
        expected = layer(image[None])[0]
    output = heads_from_kernel(kernel, alpha=SHARP).layer(image)
    # float32: up to 75 terms of size about 1 are added in another order
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-5)


def test_even_kernel_error_has_size():
    with pytest.raises(ValueError, match=r"\(3, 4\) must be odd"):
        kernel_offsets((3, 4))


def test_layer_in_chunks_equals_at_once(monkeypatch: pytest.MonkeyPatch):
    heads, image = heads_from_kernel(draw(2, 3, 3, 3), alpha=1.0), draw(3, 5, 7)
    output = heads.trace(image).output.T.reshape(2, 5, 7)
    monkeypatch.setattr("viz.core.variants.relative.CHUNK_BYTES", 9 * 35 * 4 * 4)  # 4 of 35 queries
    torch.testing.assert_close(heads.layer(image), output)


def test_cheaper_form_equals_any_centres():
    heads = value_heads(2 * draw(7, 2), draw(7, seed=1).exp(), draw(7, 3, 2, seed=2))
    image = draw(3, 5, 11, seed=3)
    torch.testing.assert_close(axial_layer(heads, image), heads.layer(image), rtol=1e-5, atol=1e-5)
