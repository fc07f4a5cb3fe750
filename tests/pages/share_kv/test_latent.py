"""The latent section: hand values, the widths of the bars, and the error beside numpy's."""

import pytest
import torch
from torch.testing import assert_close

from pages.share_kv import compute as own_compute
from pages.share_kv.mla import DEEPSEEK_V3, narrow
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec
from viz.core.variants.today.latent import LatentWeights
from viz.text import LANGUAGES, translator

SEEDED = {"source": "words", "text": "one two three four two", "n_heads": 4}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_latent_deepseek_numbers_by_hand(open_app, lang):
    """512 + 64 numbers in place of 128 · (128 + 64 + 128), and 61 · 576 · 2 bytes, 71 times fewer."""
    assert (DEEPSEEK_V3.cache_width, DEEPSEEK_V3.expanded_width) == (576, 40_960)
    app = open_app("share_kv", section="latent", lang=lang, **SEEDED)
    values = {"numbers": 576, "all": "40,960", "bytes": "70,272", "unshared": "4,997,120", "times": 71}
    assert translator(lang)("share_kv.latent.deepseek", **values) in [element.value for element in app.caption]


def test_latent_default_width_matches_groups(open_app):
    """At first a latent vector takes as many numbers as the key/value heads of the page."""
    assert open_app("share_kv", section="latent", n_kv_heads=4).session_state["mla_width"] == 4 * 64


def test_narrow_equals_direct_conversion():
    weights = HeadWeights.random(AttentionSpec(d_model=10, n_heads=2, n_kv_heads=1, d_head=3), seed=1)
    narrowed, direct = narrow(LatentWeights.from_heads(weights), 4), LatentWeights.from_heads(weights, d_latent=4)
    for name in ("w_down", "w_up_k", "w_up_v"):
        assert_close(vars(narrowed)[name], vars(direct)[name])


def test_biases_as_rows_keep_output():
    """A layer with some biases gives the same without them, for tokens that end in 1; b_O is not counted."""
    spec = AttentionSpec(d_model=6, n_heads=2, n_kv_heads=1, d_head=3)
    plain, generator = HeadWeights.random(spec, seed=2), torch.Generator().manual_seed(3)
    biases = {"b_q": torch.randn(6, generator=generator), "b_v": torch.randn(3, generator=generator)}
    biased = HeadWeights(**{name: x for name, x in vars(plain).items() if x is not None} | biases)
    x = torch.randn(5, 6, generator=generator)
    with_one = torch.cat([x, torch.ones(5, 1)], -1).double()
    output = multi_head(with_one, with_one, own_compute.with_biases_as_rows(biased)).output
    assert_close(output[:, :6], multi_head(x, x, biased).output.double(), atol=1e-5, rtol=1e-5)
    assert output[:, 6].abs().max() == 0
