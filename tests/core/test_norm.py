"""Norms against torch's own, and the error of a wrong one."""

import torch
from torch.nn.functional import layer_norm as torch_layer_norm
from torch.nn.functional import rms_norm as torch_rms_norm
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.norm import NormWeights, layer_norm, moments, no_norm, rms_norm, standard_error

CLOSE = {"atol": 1e-12, "rtol": 1e-12}  # float64


def random_norm_weights(width: int) -> NormWeights:
    return NormWeights(gain=draw(width, seed=1), shift=draw(width, seed=2), eps=1e-3)


def test_layer_norm_equals_torch():
    x, w = draw(2, 7, 13), random_norm_weights(13)
    assert_close(layer_norm(x, w), torch_layer_norm(x, (13,), w.gain, w.shift, w.eps), **CLOSE)


def test_rms_norm_equals_torch_keeps_mean():
    x, w = 3 + draw(2, 7, 13), random_norm_weights(13)
    assert_close(rms_norm(x, w), torch_rms_norm(x, (13,), w.gain, w.eps) + w.shift, **CLOSE)
    plain = rms_norm(x, NormWeights(gain=torch.ones(13, dtype=torch.float64), eps=0.0))
    assert_close(plain.square().mean(-1), torch.ones(2, 7, dtype=torch.float64), **CLOSE)
    assert plain.mean(-1).min() > 0.5


def test_no_norm_returns_input():
    x = draw(3, 5)
    assert no_norm(x, random_norm_weights(5)) is x


def test_moments_and_pythagoras():
    x = 2 + draw(7, 13)
    m = moments(x)
    assert_close(m.norm.square(), 13 * (m.mean.square() + m.std.square()), **CLOSE)
    assert_close(m.std, x.var(-1, unbiased=False).sqrt(), **CLOSE)


def test_standard_error_detects_wrong_norm():
    """Rows before gain and shift are standard; a wrong norm has a large error."""
    x, w = 3 + draw(7, 13), random_norm_weights(13)
    assert standard_error(x, w, layer_norm) < 1e-12
    assert standard_error(x, w, rms_norm) < 1e-12
    assert standard_error(x, w, no_norm) > 1
    assert standard_error(x, w, lambda y, w: layer_norm(y, w) * 0.99) > 0.01
