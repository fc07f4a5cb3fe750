"""Mixes of layers: the checks of every kind and pattern, and the sentences of the crossings."""

import pytest

from tests.running import sentences_of
from viz.text import LANGUAGES, translator


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("link", "flops", "cache"),
    [
        ({}, "1,025", "1,025"),
        ({"mix_kind": "linear"}, "97", "33"),
        ({"mix_kind": "latent"}, "never", "1"),
        ({"mix_kind": "select"}, "1,373", "never"),
        ({"mix_kind": "window", "near_size": 10}, "11", "11"),
    ],
)
def test_mixes_sentences_name_crossings(open_app, lang, link, flops, cache):
    """Width 512 and eight heads, as the page opens."""
    t, app = translator(lang), open_app("cost", section="mixes", lang=lang, **link)
    for measure, n in (("flops", flops), ("cache", cache)):
        when = "never" if n == "never" else "says"
        assert t(f"cost.mixes.{measure}_{when}", n=n) in sentences_of(app)


def test_mixes_size_only_where_it_counts(open_app):
    """A window and a selection have a size; it is kept for them while another kind is open."""
    app = open_app("cost", section="mixes", near_size=77)
    assert app.number_input(key="near_size").value == 77
    app.button_group(key="mix_kind").set_value("linear").run()
    assert "near_size" not in [element.key for element in app.number_input]
    app.button_group(key="mix_kind").set_value("select").run()
    assert app.number_input(key="near_size").value == 77
