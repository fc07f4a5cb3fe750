"""The answers about the feed-forward network, beside counting."""

from typing import Any

import pytest

from tests.lessons.samples import D_K, D_MODEL, D_V, G, H, Sample, hold
from viz.lessons.whole_model.about_feed_forward import ANSWERS


def rows_a_feed_forward_mixes(example: Sample) -> Any:
    return "none" if len(example.subject.labels) >= 3 else None


def weights_of_feed_forward(_: Sample) -> Any:
    attention = D_MODEL * (H * D_K + G * D_K + G * D_V) + H * D_V * D_MODEL
    network = 8 * D_MODEL**2
    return network / (attention + network)


def order_of_block(_: Sample) -> Any:
    """Vaswani et al. 2017, sec. 3.1: LayerNorm(x + Sublayer(x)), self-attention first."""
    parts = ("attention", "feed_forward")
    return {tuple(name for part in parts for name in (part, f"{part}_add", f"{part}_norm"))}


REFERENCES = {work.__name__: work for work in (order_of_block, rows_a_feed_forward_mixes, weights_of_feed_forward)}


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_count(name):
    hold(ANSWERS[name], REFERENCES[name], {}, refuses=False)
