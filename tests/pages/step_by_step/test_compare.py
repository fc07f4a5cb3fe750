"""One row of one head on two texts: what either gives is drawn, and a word that only one has is left out."""

import base64
import json

import numpy as np
import pytest

from tests.running import checked
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.text import LANGUAGES, translator

TIRED = examples()[0].text


def drawn(app):
    charts = {chart.proto.id.split("-")[-1]: json.loads(chart.proto.spec)["data"] for chart in app.get("plotly_chart")}
    return {
        name: [np.frombuffer(base64.b64decode(one["y"]["bdata"]), one["y"]["dtype"]) for one in series]
        for name, series in charts.items()
    }


def row(text, what):
    seen = compute.read(specs.Source(kind="model", text=text, model=compute.DEFAULT_MODEL))
    at = seen.tokens.labels.index("it")
    return getattr(seen.layer(3), what)[1, at].numpy()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_looks_at_the_animal_in_both_texts(open_app, lang):
    app, t = open_app("step_by_step", section="compare", text=TIRED, lang=lang), translator(lang)
    wide = TIRED.replace("tired", "wide")
    assert app.text_area(key="text_b").value == wide
    for text, before, after in zip((TIRED, wide), *drawn(app).values(), strict=True):
        np.testing.assert_allclose(before, row(text, "masked"), atol=1e-5)
        np.testing.assert_allclose(after, row(text, "weights"), atol=1e-6)
    said = [one.value for one in app.text]
    start = t("step_by_step.compare_pair", query="it", key="animal", score="|", score_b="", weight="", weight_b="")
    assert [one for one in said if one.startswith(start.split("|")[0])]
    assert any("0.68" in one and "0.28" in one for one in said)
    assert checked(app, "compare") == (3, 3)


def test_a_word_that_only_one_text_has_is_left_out_of_the_others_bars(open_app):
    app = open_app("step_by_step", section="compare", text="it was tired", text_b="it was very tired", query=1, key=3)
    first, second = drawn(app)["compare_after"]
    assert np.isnan(first).tolist() == [False, False, False, True, False, False]
    assert not np.isnan(second).any()
    alone = open_app("step_by_step", section="compare", text="it was very tired", text_b="it was tired", query=3)
    assert translator("en")("step_by_step.compare_alone", query="very") in [one.value for one in alone.text]
    assert checked(alone, "compare") == (2, 2)
