"""A logit split into parts: as a sum for random numbers, and against the stream without the part."""

from dataclasses import replace

import pytest
import torch

from viz.core import norm
from viz.core.analysis.attribution import StreamParts, attribute, final_norm_direction
from viz.core.norm import NormWeights

L, H, D_V, D = 3, 5, 2, 7


def draw(*shape):
    return torch.randn(*shape, generator=GENERATOR)


GENERATOR = torch.Generator().manual_seed(0)
ADDITIONS = StreamParts(
    embedding=draw(D),
    heads=draw(L, H, D_V),
    w_o=tuple(draw(H, D_V, D) for _ in range(L)),
    biases=draw(L, D),
    feed_forward=draw(L, D),
)
READ = draw(D)
WEIGHTS = NormWeights(gain=draw(D), shift=draw(D), eps=1e-3)
KINDS = {True: norm.layer_norm, False: norm.rms_norm}


@pytest.mark.parametrize("centred", KINDS)
def test_parts_sum_to_logit(centred):
    x = ADDITIONS.stream
    wide = NormWeights(gain=WEIGHTS.gain.double(), shift=WEIGHTS.shift.double(), eps=WEIGHTS.eps)
    logit = float(KINDS[centred](x[None], wide)[0] @ READ.double()) + 0.25
    attribution = attribute(ADDITIONS, READ, WEIGHTS, centred=centred, bias=0.25)
    assert attribution.total == pytest.approx(logit, abs=1e-12)
    assert sum(value for *_, value in attribution.parts()) == pytest.approx(logit, abs=1e-12)
    assert len(list(attribution.parts())) == 1 + L * H + L + L + 1


@pytest.mark.parametrize("centred", KINDS)
def test_part_equals_loss_without_it(centred):
    """A part's contribution is the difference that removing it makes."""
    attribution, r = attribute(ADDITIONS, READ, WEIGHTS, centred=centred), final_norm_direction
    direction = r(READ, ADDITIONS.stream, WEIGHTS, centred=centred)
    for layer, head in ((0, 0), (1, 4), (2, 3)):
        heads = ADDITIONS.heads.clone()
        heads[layer, head] = 0
        lost = (ADDITIONS.stream - replace(ADDITIONS, heads=heads).stream) @ direction
        torch.testing.assert_close(attribution.heads[layer, head], lost)
