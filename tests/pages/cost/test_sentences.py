"""Sentences of the Cost page: true of every model."""

from itertools import pairwise

import pytest

from viz.core.cost.model import model_flops, model_parameters
from viz.models.presets import presets
from viz.text import LANGUAGES, translator


@pytest.mark.parametrize("lang", LANGUAGES)
def test_models_stand_from_small_to_large(lang):
    """The order of the table is by size, but for the models that the help names."""
    help_text = translator(lang)("cost.m_model_help")
    sizes = {preset.id: model_parameters(preset.model).total for preset in presets()}
    pairs = [pair for pair in pairwise(sizes) if sizes[pair[0]] > sizes[pair[1]]]
    assert pairs and all(first in help_text and second in help_text for first, second in pairs)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_formula_leaves_output_out(lang):
    """The first term under the formula is all the work but that of the output layer, where nothing has a window."""
    for preset in presets():
        m, n, a = preset.model, 7, preset.attention
        projections = m.n_layers * a.d_model * (a.H + a.G) * (a.d_k + a.d_v)
        feed_forward = m.n_layers * (3 if m.gated else 2) * a.d_model * m.d_ff
        flops = model_flops(m, n_tokens=n)
        assert 2 * n * (projections + 2 * a.H * a.d_k * n * m.n_layers + feed_forward) == flops.total - flops.output
    t = translator(lang)
    assert t("cost.share_output") in t("cost.models.why")
