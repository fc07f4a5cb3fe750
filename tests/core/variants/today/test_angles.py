"""RoPE in part, stretched, or replaced by a temperature: by hand, and as rotations."""

import math

import pytest
import torch
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from tests.core.tensors import draw
from viz.core.positions import frequencies, rope
from viz.core.variants.today.angles import (
    partial_rope,
    proportional_frequencies,
    temperatures,
    yarn_frequencies,
    yarn_gain,
    yarn_ramp,
)

H, T, D = 3, 11, 14


def test_partial_rope_turns_the_first():
    """r dimensions turn as a head of width r would; the others stay."""
    x = draw(H, T, D)
    rotated = partial_rope(x, 6, base=700.0, pairing="halves")
    assert_close(rotated[..., :6], rope(x[..., :6], base=700.0, pairing="halves"))
    assert torch.equal(rotated[..., 6:], x[..., 6:])
    assert torch.equal(partial_rope(x, D, pairing="adjacent"), rope(x, pairing="adjacent"))
    assert torch.equal(partial_rope(x, 0, pairing="halves"), x)


def test_proportional_turns_the_fastest():
    """The speeds of the whole width, and 0 for the slow pairs."""
    omega = proportional_frequencies(D, 6, base=700.0)
    assert omega.tolist() == [*frequencies(D, base=700.0)[:3].tolist(), 0, 0, 0, 0]
    x = draw(H, T, D)
    rotated = rope(x, pairing="halves", omega=omega)
    assert torch.equal(rotated[..., 3:7], x[..., 3:7]) and torch.equal(rotated[..., 10:], x[..., 10:])
    assert torch.equal(proportional_frequencies(D, D), frequencies(D))


def test_yarn_ramp_by_hand():
    """Width 8, base 100, 64 tokens: pair j turns 64 / (2 pi 100^(j/4)) times; 4 turns at j = 0.81, 1 turn at 2.02."""
    ramp = yarn_ramp(8, base=100.0, original=64, fast=4.0, slow=1.0)
    assert_close(ramp, torch.tensor([1, 2 / 3, 1 / 3, 0], dtype=torch.float64))
    first, last = (4 * math.log(64 / (2 * math.pi * turns)) / math.log(100) for turns in (4, 1))
    exact = yarn_ramp(8, base=100.0, original=64, fast=4.0, slow=1.0, rounds=False)
    assert_close(
        exact, torch.tensor([1, 1 - (1 - first) / (last - first), 1 - (2 - first) / (last - first), 0]).double()
    )


def test_yarn_keeps_fast_and_stretches():
    """Pairs of 32 turns or more keep their speed, those that never came round are slowed down by the factor."""
    width, base, original, factor = 128, 150_000.0, 4096, 32.0
    omega = frequencies(width, base=base)
    speeds = yarn_frequencies(width, factor=factor, base=base, original=original, rounds=False)
    turns = original * omega / (2 * math.pi)
    assert torch.equal(speeds[turns >= 32], omega[turns >= 32])
    assert_close(speeds[turns <= 1], omega[turns <= 1] / factor)
    between = (turns > 1) & (turns < 32)
    assert between.sum() > 10
    assert ((speeds < omega) & (speeds > omega / factor))[between].all()
    assert (speeds.diff() < 0).all(), "faster pairs stay faster"


def speeds_of_transformers(width, base, original, factor, rounds):
    """Return the speeds and the gain of the code that models run, which computes in float32."""
    options = {
        "rope_type": "yarn",
        "rope_theta": base,
        "factor": factor,
        "original_max_position_embeddings": original,
        "truncate": rounds,
    }
    config = LlamaConfig(
        hidden_size=3 * width,
        num_attention_heads=3,
        head_dim=width,
        max_position_embeddings=int(factor * original),
        rope_parameters=options,
    )
    return ROPE_INIT_FUNCTIONS["yarn"](config, torch.device("cpu"))


@pytest.mark.parametrize("rounds", [True, False])
@pytest.mark.parametrize(
    ("width", "base", "original", "factor"),
    [(26, 10_000.0, 8192, 7.0), (64, 150_000.0, 4096, 32.0), (4, 500.0, 64, 3.0)],
)
def test_yarn_matches_transformers(width, base, original, factor, rounds):
    """The speeds and the gain are those of transformers."""
    speeds, gain = speeds_of_transformers(width, base, original, factor, rounds)
    expected = yarn_frequencies(width, factor=factor, base=base, original=original, rounds=rounds)
    assert_close(speeds.double(), expected, atol=0, rtol=1e-5)
    assert gain == pytest.approx(yarn_gain(factor), abs=1e-12)


@pytest.mark.parametrize("rounds", [True, False])
@pytest.mark.parametrize("original", [300_000, 1_000_000, 3_000_000])
def test_yarn_differs_beyond_last_number(original, rounds):
    """Even the slowest of 4 pairs turns 32 times: transformers slows all down once the pair of 32 is past D - 1."""
    speeds, _ = speeds_of_transformers(8, 100.0, original, 4.0, rounds)
    omega, place = frequencies(8, base=100.0), 8 * math.log(original / (32 * 2 * math.pi)) / (2 * math.log(100.0))
    assert torch.equal(yarn_ramp(8, base=100.0, original=original), torch.ones(4, dtype=torch.float64))
    is_beyond = (math.floor(place) if rounds else place) > 7
    assert is_beyond == (original > 1_000_000 or (original == 1_000_000 and not rounds))
    assert_close(speeds.double(), omega / 4 if is_beyond else omega, atol=0, rtol=1e-5)


def test_partial_rope_with_other_speeds():
    """Speeds for the turned dimensions alone replace those of the base; an empty list turns nothing."""
    x, omega = draw(H, T, D), torch.tensor([0.3, 0.05], dtype=torch.float64)
    rotated = partial_rope(x, 4, pairing="adjacent", omega=omega)
    assert_close(rotated[..., :4], rope(x[..., :4], pairing="adjacent", omega=omega))
    assert torch.equal(rotated[..., 4:], x[..., 4:])
    assert torch.equal(partial_rope(x, 0, pairing="adjacent", omega=omega[:0]), x)


def test_yarn_without_stretch_is_rope():
    """At a factor of 1 both the speeds and the gain are those of RoPE."""
    assert_close(yarn_frequencies(D, factor=1.0, original=64), frequencies(D), atol=1e-16, rtol=0)
    assert (yarn_gain(1.0), yarn_gain(0.5)) == (1.0, 1.0)
    assert yarn_gain(math.e) == pytest.approx(1.1)


def test_temperature_by_hand():
    """1 up to token 8190, then in steps: 1 + 0.1 ln 2 from 8191 on, 1 + 0.1 ln 3 from 16383 on."""
    values = temperatures(torch.tensor([0, 8190, 8191, 16382, 16383]))
    want = [1.0, 1.0, 1 + 0.1 * math.log(2), 1 + 0.1 * math.log(2), 1 + 0.1 * math.log(3)]
    assert_close(values, torch.tensor(want))
    assert_close(temperatures(torch.arange(T), floor=3, gain=0.0), torch.ones(T))
    of_smooth, of_logarithm = (
        temperatures(torch.tensor([0, 8191, 16383]), growth=how) for how in ("smooth", "logarithm")
    )
    assert_close(of_smooth, torch.tensor([1.0, 1.0, 1 + 0.1 * math.log(2)]))
    assert_close(of_logarithm, torch.tensor([1.0, 1 + 0.1 * math.log(8192), 1 + 0.1 * math.log(16384)]))
    with pytest.raises(ValueError, match=r"^floor=0 must be at least 1$"):
        temperatures(torch.arange(T), floor=0)


@pytest.mark.parametrize("rotary_dim", [-2, 16])
def test_widths_are_refused(rotary_dim):
    """More than there are cannot turn."""
    with pytest.raises(ValueError, match=f"^rotary_dim={rotary_dim} is not between 0 and d_k={D}$"):
        partial_rope(draw(H, T, D), rotary_dim, pairing="halves")
    for wrong in (rotary_dim, 3):
        with pytest.raises(ValueError, match=f"^rotary_dim={wrong} is not an even number between 0 and width={D}$"):
            proportional_frequencies(D, wrong)
