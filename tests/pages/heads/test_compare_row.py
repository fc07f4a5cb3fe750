"""One row of one head on two texts: what either gives is drawn, and a word that only one has is left out."""

import numpy as np
import pytest
import torch

from tests.running import bar_charts, checked
from viz.frame import compute, specs
from viz.frame.format import part
from viz.text import LANGUAGES, paragraph, translator


def bars_by_chart(app):
    return {name: [row.numpy() for row in chart.series.values()] for name, chart in bar_charts(app).items()}


def row(text, what):
    capture = compute.read(specs.Source(kind="model", text=text, model=compute.DEFAULT_MODEL))
    at = capture.tokens.labels.index("it")
    return getattr(capture.layer(3), what)[1, at].numpy()


@pytest.mark.usefixtures("without_source_checks")
def test_unmatched_word_has_no_bar(open_app):
    app = open_app(
        "heads",
        section="compare",
        compare_view="one_row",
        text="it was tired",
        text_b="it was very tired",
        query=1,
        key=3,
    )
    first, second = bars_by_chart(app)["compare_after"]
    assert np.isnan(first).tolist() == [False, False, False, True, False, False]
    assert not np.isnan(second).any()
    alone = open_app(
        "heads", section="compare", compare_view="one_row", text="it was very tired", text_b="it was tired", query=3
    )
    assert translator("en")("heads.compare_alone", query="very") in [element.value for element in alone.text]
    assert checked(alone, "one_row") == (2, 2)


def test_other_models_row_beside_first(open_app):
    text, link = "red blue red", {"model": "twin-g1", "model_b": "twin-g8", "layer": 1, "head": 2, "query": 2, "key": 1}
    app = open_app("heads", section="compare", compare_view="one_row", text=text, layer_b=1, head_b=5, **link)
    a, b = (compute.read(specs.Source(kind="model", text=text, model=name)).layer(1) for name in ("twin-g1", "twin-g8"))
    for result, name in zip(bars_by_chart(app).values(), ("masked", "weights"), strict=True):
        np.testing.assert_allclose(result[0], getattr(a, name)[2, 2].numpy(), atol=1e-5)
        np.testing.assert_allclose(result[1], getattr(b, name)[5, 2].numpy(), atol=1e-5)
    *_, sentence = (element.value for element in app.text if "twin-g1" in element.value)
    assert all(part(float(weights[2, 1])) in sentence for weights in (a.weights[2], b.weights[5]))
    assert checked(app, "one_row") == (6, 6)
    most = open_app("heads", section="compare", compare_view="one_row", text=text, **link)
    apart = [(a.weights[2] - item).abs().sum(-1).mean() for item in torch.cat([layer_of_g8(text, i) for i in (0, 1)])]
    layer, head = divmod(int(torch.stack(apart).argmin()), 8)
    assert [most.number_input(key=name).value for name in ("layer_b", "head_b")] == [layer, head]
    assert "layer_b" not in most.query_params
    for name, second in (("layer_b", 1 - layer), ("head_b", 7 - head)):
        most.number_input(key=name).set_value(second).run()
    assert [most.query_params[name] for name in ("layer_b", "head_b")] == [str(1 - layer), str(7 - head)]


def layer_of_g8(text, layer):
    return compute.read(specs.Source(kind="model", text=text, model="twin-g8")).layer(layer).weights


@pytest.mark.parametrize("lang", LANGUAGES)
def test_other_tokenizer_row_compares_words(open_app, lang):
    """One knows no word of it but its full stop; the other cuts it into more pieces than words."""
    text, t = "the biochemist misunderstood", translator(lang)
    app = open_app(
        "heads", section="compare", compare_view="one_row", text=text, model_b="twin-g8", query=2, key=1, lang=lang
    )
    assert paragraph(t("second.by_words"), t("second.scores_do_not_add_up")) in [
        element.value for element in app.caption
    ]
    ((first, second),) = bars_by_chart(app).values()
    capture = compute.read(specs.Source(kind="model", text=text, model=compute.DEFAULT_MODEL))
    words = torch.tensor(capture.tokens.words)
    row = capture.layer(3).weights[1][words == words[2]].mean(0)
    added = [float(row[words == word].sum()) for word in words.unique()]
    np.testing.assert_allclose(first[~np.isnan(first)], added, atol=1e-5)
    assert np.isnan(second).sum() == 2, "[CLS] and [SEP] are the first model's alone"
    np.testing.assert_allclose(np.nansum(second), 1, atol=1e-5)
    assert checked(app, "one_row") == (5, 5)
