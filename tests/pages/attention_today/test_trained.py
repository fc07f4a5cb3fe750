"""The view of trained decoders: its numbers are the record's."""

import re

import pytest

from pages.attention_today import trained
from tests.running import checked, sentences_of
from viz.models.trained.today import train as today
from viz.text import LANGUAGES, translator


@pytest.mark.parametrize("lang", LANGUAGES)
def test_trained_shows_record(open_app, lang):
    """Mean, lowest and highest of every cell, recomputed from the file; every check holds."""
    t, app = translator(lang), open_app("attention_today", section="who_uses", view="trained", lang=lang)
    assert not app.exception
    assert checked(app, "trained") == (4, 4)
    html = "".join(element.proto.body for element in app.get("html"))
    cells = re.findall(r"<span[^>]*>(\S+) <small>\((\S+) – (\S+)\)", html)
    bars = [[float(end) for end in re.findall(r": ([\d.]+)", style)] for style in re.findall('style="(.*?)"', html)]
    top = max(x.run.loss[-1] for x in today.trainings())
    for row, variant in enumerate(today.VARIANTS):
        losses = [x.run.loss[-1] for x in today.trainings() if x.variant == variant]
        spread = sum(losses) / len(losses), min(losses), max(losses)
        assert cells[3 * row + 2] == tuple(f"{x:.2f}" for x in spread)
        assert bars[3 * row + 2] == pytest.approx([x / top for x in spread], abs=0.001)
    assert any(t("attention_today.trained.runs", seeds=5, steps=400) == x.value for x in app.caption)


def test_variant_sentence_states_ranges(open_app):
    """Beside the gate stand the lowest and the highest loss of the decoders trained with one, and of the standard."""
    losses = {v: [f"{x.run.loss[-1]:.2f}" for x in today.trainings() if x.variant == v] for v in ("gate", "standard")}
    (sentence,) = (x for x in sentences_of(open_app("attention_today", section="gate")) if "5 seeds" in x)
    assert all(min(values) in sentence and max(values) in sentence for values in losses.values())


def test_even_share_by_hand():
    """Three words: a half in the second row, a third in the third."""
    assert trained.even_share(3) == pytest.approx((1 / 2 + 1 / 3) / 2)


@pytest.mark.parametrize("variant", today.VARIANTS)
def test_formula_equals_tensors(variant):
    """The formula counts what the decoder has."""
    model = today.build(variant, today.RECIPE, seed=0)
    assert trained.parameters_by_formula(variant) == sum(parameter.numel() for parameter in model.parameters())
