"""The fit recovers known windows and gives other heads a low share."""

import pytest
import torch

from viz.core.analysis.window_fit import fit_layers, fit_windows, window_weights
from viz.core.attention import row_softmax
from viz.core.masks import causal
from viz.core.variants.relative import quadratic_scores


@pytest.mark.parametrize("n_tokens", [17, 113])
def test_windows_are_recovered(n_tokens: int):
    offset, alpha = torch.tensor([-1.0, 2.3, 0.0, -4.7, 7.0]), torch.tensor([20.0, 1.3, 0.21, 0.06, 3.0])
    weights = row_softmax(quadratic_scores(offset[:, None], alpha, (n_tokens,)))
    fit = fit_windows(weights)
    torch.testing.assert_close(fit.explained_share, torch.ones(5), rtol=0, atol=1e-4)
    torch.testing.assert_close(fit.offset[1:], offset[1:], rtol=0, atol=0.03)
    torch.testing.assert_close(fit.alpha[1:], alpha[1:], rtol=0.03, atol=0)
    assert fit.offset[0] == -1  # many centres give a sharp shift by one: the fit prefers the whole number


def test_window_under_causal_mask_is_recovered():
    delta = torch.arange(13.0) - torch.arange(13.0)[:, None]
    weights = window_weights(torch.tensor([-2.0]), torch.tensor([0.4]), delta, causal(13, 13))
    fit = fit_windows(weights, causal(13, 13))
    torch.testing.assert_close(fit.explained_share, torch.ones(1), rtol=0, atol=1e-4)
    assert fit_windows(weights).explained_share[0] < 0.999  # without the mask it fits worse


def test_share_is_one_minus_residual_squares():
    generator = torch.Generator().manual_seed(0)
    weights = torch.softmax(torch.randn(3, 11, 11, generator=generator), -1)
    fit = fit_windows(weights)
    fitted = row_softmax(quadratic_scores(fit.offset[:, None], fit.alpha, (11,)))
    residual, total = (weights - fitted).square().sum((1, 2)), (weights - 1 / 11).square().sum((1, 2))
    torch.testing.assert_close(fit.explained_share, 1 - residual / total, rtol=1e-4, atol=1e-5)
    assert fit.explained_share.max() < 0.5


def test_no_grid_window_fits_better():
    generator = torch.Generator().manual_seed(1)
    weights = torch.softmax(2 * torch.randn(1, 7, 7, generator=generator), -1)
    centres, sharpness = torch.meshgrid(torch.linspace(-6, 6, 97), torch.linspace(-7, 3.4, 97), indexing="ij")
    windows = row_softmax(quadratic_scores(centres.flatten()[:, None], sharpness.flatten().exp(), (7,)))
    best = 1 - (weights - windows).square().sum((1, 2)).min() / (weights - 1 / 7).square().sum()
    assert fit_windows(weights).explained_share[0] >= best - 2e-4  # a whole number may cost up to 1e-4


def test_uniform_head_has_zero_share():
    fit = fit_windows(torch.full((1, 5, 5), 0.2))
    assert fit.explained_share[0] < 1e-3
    assert fit.explained_share.isfinite().all()


def test_one_token_and_fully_masked_rows():
    assert fit_windows(torch.ones(2, 1, 1)).explained_share.tolist() == [0.0, 0.0]
    blind = causal(5, 5).clone()
    blind[2] = False
    weights = row_softmax(torch.zeros(1, 5, 5).masked_fill(~blind, -torch.inf))
    assert fit_windows(weights, blind).explained_share.isfinite().all()


@pytest.mark.parametrize("differ", [False, True])
def test_layers_at_once_equal_single_fits(differ):
    """Fit layers together, with equal masks and with a different mask in the last one."""
    generator = torch.Generator().manual_seed(2)
    allowed = [torch.ones(7, 7).bool(), torch.ones(7, 7).bool(), causal(7, 7) if differ else torch.ones(7, 7).bool()]
    weights = [row_softmax(torch.randn(3, 7, 7, generator=generator).masked_fill(~may, -torch.inf)) for may in allowed]
    for fit, layer_weights, may in zip(fit_layers(zip(weights, allowed, strict=True)), weights, allowed, strict=True):
        alone = fit_windows(layer_weights, may)
        for name in ("offset", "alpha", "explained_share"):
            torch.testing.assert_close(getattr(fit, name), getattr(alone, name))
