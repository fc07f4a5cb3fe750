"""Which models may be chosen, and what is said of those that are not there."""

import pytest

from tests.packaged import packaged_file
from viz.frame import compute
from viz.models.registry import Entry
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("memory_given_back")

CARRIED = ("SmolLM2-135M-Instruct", "multilingual-e5-small")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_how_to_add_the_packaged_models_is_said_where_models_are_chosen(open_app, monkeypatch, lang):
    monkeypatch.setattr(Entry, "packaged_file", lambda _: None)
    monkeypatch.setattr(compute.models(), "holds", lambda _: False)  # another test may have loaded them
    app = open_app(lang=lang, heads_view="row")
    said = translator(lang)("choice.packaged", models=", ".join(CARRIED))
    assert [caption.value for caption in app.caption].count(said) == 1
    assert not set(CARRIED) & set(app.selectbox(key="model").options)
    assert app.session_state["model"] == "all-MiniLM-L6-v2"


def test_with_their_packages_they_are_in_the_list_and_nothing_is_said(open_app):
    for model_id in CARRIED:
        packaged_file(model_id)
    app = open_app(heads_view="row")
    assert set(CARRIED) <= set(app.selectbox(key="model").options)
    assert not any("requirements-models" in caption.value for caption in app.caption)


@pytest.mark.parametrize("model_id", CARRIED)
def test_it_is_said_that_the_weights_have_4_bits(open_app, model_id):
    packaged_file(model_id)
    app = open_app(model=model_id, text="The cat sat.", layer=7, head=8, section="all_heads")
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    t = translator("en")
    assert not app.exception and not app.error
    assert any(t("source.model_own_packaged") in caption.value for caption in app.caption)
    assert any(t("export.code_packaged") == caption.value for caption in app.caption)
