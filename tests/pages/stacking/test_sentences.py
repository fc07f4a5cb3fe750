"""Sentences about the receptive field: a mask is named as the cause only where the model has it."""

import pytest

from pages.stacking import locality
from tests.running import sentences_of
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("without_source_checks")


def sentence_about_reach(app):
    assert not app.exception
    return " ".join(sentences_of(app))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_seeded_words_have_no_causal_mask(open_app, lang):
    """A wide step finds no word ahead in a short text, although nothing is closed."""
    decoder = translator(lang)("stacking.receptive_field.decoder")
    link = {"section": "receptive_field", "field": "dilated", "field_gap": 8, "from_token": 3, "lang": lang}
    app = open_app("stacking", source="words", text="a b c d e", **link, origin="rollout")
    assert decoder not in sentence_about_reach(app)
    app = open_app(
        "stacking",
        source="model",
        model="twin-g2",
        text="dog cat dog cat",
        **link | {"from_token": 1},
        origin="rollout",
    )
    assert decoder in sentence_about_reach(app)


@pytest.mark.parametrize("field", ["own", "causal"])
def test_window_of_the_model_is_said(open_app, small_model, field):
    """A layer with a window of its own does not show every word before."""
    t = translator("en")
    model = small_model("mistral", sliding_window=2)
    app = open_app("stacking", model=model, text="The animal did", section="receptive_field", field=field)
    reach = sentence_about_reach(app)
    assert t("stacking.receptive_field.formula_narrow") in reach
    assert t(f"stacking.receptive_field.formula_{field}") not in reach


def test_even_spread_differs_by_layer(open_app, small_model, monkeypatch):
    """Gemma 2's layers with a window leave fewer words to spread the weight over than those without."""
    baselines, draw = [], locality.depth
    monkeypatch.setattr(
        locality, "depth", lambda curves, **titles: baselines.append(curves[-1]) or draw(curves, **titles)
    )
    model = small_model("gemma2", sliding_window=2)
    app = open_app("stacking", model=model, text="The animal did", section="oversmoothing", alike="locality")
    assert not app.exception
    assert len(baselines) == 2, "of entropy and of distance"
    for curve in baselines:
        assert curve.baseline
        narrow, wide = curve.values[:2]
        assert narrow < wide
