"""The section of trained decoders: its numbers are the record's, its sentences follow the rule of ranges."""

import tomllib

import pytest

from pages.attention_today import trained
from tests.running import checked, sentences_of
from viz import ROOT
from viz.models.trained.today import train as today
from viz.models.trained.today.summary import BASELINES, Spread
from viz.text import LANGUAGES, translator


@pytest.mark.parametrize("lang", LANGUAGES)
def test_trained_shows_record(open_app, lang):
    """Mean, lowest and highest of every cell, recomputed from the file; every check holds."""
    t, app = translator(lang), open_app("attention_today", section="trained", lang=lang)
    assert not app.exception
    assert checked(app, "trained") == (4, 4)
    columns = app.dataframe[0].value.to_dict("list")
    for row, variant in enumerate(today.VARIANTS):
        losses = [x.run.loss[-1] for x in today.trainings() if x.variant == variant]
        want = f"{sum(losses) / len(losses):.2f} ({min(losses):.2f} – {max(losses):.2f})"
        assert columns[t("attention_today.trained.t_loss")][row] == want
    assert any(t("attention_today.trained.runs", seeds=5, steps=400) == x.value for x in app.caption)


def test_trained_sentences_follow_ranges(open_app):
    """A side is named exactly where no seed of the one is within the other's range."""
    t, app = translator("en"), open_app("attention_today", section="trained")
    for variant, baseline in BASELINES.items():
        ours, theirs = ([x.run.loss[-1] for x in today.trainings() if x.variant == v] for v in (variant, baseline))
        side = "higher" if min(ours) > max(theirs) else "lower" if max(ours) < min(theirs) else "same"
        numbers = {"now": f"{sum(ours) / len(ours):.2f}", "before": f"{sum(theirs) / len(theirs):.2f}"}
        finding = t(f"attention_today.trained.loss_{side}", **numbers)
        name = t(f"attention_today.trained.with_{variant}")
        assert any(f"**{name}**" in x and x.endswith(f"{finding}.") for x in sentences_of(app))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_describe_says_no_difference(lang):
    """Three overlaps are three times no clear difference; apart, no sentence says so."""
    low, high = Spread(mean=0.2, low=0.1, high=0.3), Spread(mean=0.5, low=0.4, high=0.6)
    word = {"en": "no clear difference", "zh": "没有明显差别"}[lang]
    summaries = [dict.fromkeys(trained.SHOWN, spread) for spread in (low, high)]
    assert trained.describe(translator(lang), "sink", summaries[0], summaries[0]).count(word) == 3
    for ours, theirs in (summaries, summaries[::-1]):
        assert word not in trained.describe(translator(lang), "sink", ours, theirs)


def test_even_share_by_hand():
    """Three words: a half in the second row, a third in the third."""
    assert trained.even_share(3) == pytest.approx((1 / 2 + 1 / 3) / 2)


@pytest.mark.parametrize("variant", today.VARIANTS)
def test_formula_equals_tensors(variant):
    """The formula counts what the decoder has."""
    assert trained.parameters_by_formula(variant) == today.count(today.build(variant, today.RECIPE, seed=0))


def test_trained_names_every_variant():
    """Each variant has a name in both languages."""
    for lang in LANGUAGES:
        texts = tomllib.loads((ROOT / "pages" / "attention_today" / f"{lang}.toml").read_text("utf8"))
        names = {key for key in texts["attention_today"]["trained"] if key.startswith("name_")}
        assert names == {f"name_{variant}" for variant in today.VARIANTS}
