"""Faulty relative windows: by hand, as properties, and against NumPy and torch."""

import numpy as np
import pytest
import torch
from torch.nn.functional import conv2d, pad
from torch.testing import assert_close

from tests.core.tensors import draw_single
from viz.core.attention import row_softmax
from viz.core.mistakes.relative import narrow_heads, query_minus_key, shift_for_centre
from viz.core.variants.relative import heads_from_kernel, positions

SHARP = 46.0


def replicated(image: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    return conv2d(pad(image[None], (1, 1, 1, 1), mode="replicate"), kernel)[0]


@pytest.mark.parametrize("grid", [(13,), (3, 5)])
def test_wrong_centre_attends_farthest_key(grid):
    scores, at = shift_for_centre(torch.tensor([0.7, 2.0]), grid), positions(grid)
    away = torch.cdist(at, at)
    assert_close(scores[1], 2 * away.square())
    keys = row_softmax(scores).argmax(-1)
    assert_close(away.gather(1, keys[0][:, None])[:, 0], away.amax(1))


def test_flipped_sign_flips_kernel():
    image, kernel = draw_single(3, 5, 7), draw_single(2, 3, 3, 3, seed=1)
    wrong = query_minus_key(heads_from_kernel(kernel, alpha=SHARP)).layer(image)
    assert_close(wrong, replicated(image, kernel.flip(-1, -2)), rtol=0, atol=1e-4)
    assert (wrong - replicated(image, kernel)).abs().max() > 1


@pytest.mark.parametrize("d_v", [1, 2, 3, 5])
def test_narrow_heads_equal_low_rank_kernel(d_v):
    image, kernel = draw_single(3, 5, 7), draw_single(5, 3, 3, 3, seed=1)
    heads = narrow_heads(kernel, d_v, alpha=SHARP)
    assert heads.weights.w_v.shape == (3, 9 * d_v) and heads.weights.w_o.shape == (9 * d_v, 5)
    nearest = np.zeros((5, 3, 3, 3))
    for row in range(3):
        for column in range(3):
            a, sizes, b = np.linalg.svd(kernel[:, :, row, column].double().numpy(), full_matrices=False)
            nearest[:, :, row, column] = (a[:, :d_v] * sizes[:d_v]) @ b[:d_v]
    assert_close(heads.layer(image), replicated(image, torch.tensor(nearest).float()), rtol=0, atol=1e-4)
    off = float((heads.layer(image) - replicated(image, kernel)).abs().max())
    assert off < 1e-4 if d_v >= 3 else off > 0.1
