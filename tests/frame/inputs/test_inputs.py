"""The list of models, and the explanation of missing ones."""

import pytest

from tests.packaged import packaged_file
from viz.frame import compute
from viz.models.registry import Entry
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("memory_given_back")

PACKAGED = ("SmolLM2-135M-Instruct", "multilingual-e5-small")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_missing_packages_are_explained(open_app, monkeypatch, lang):
    """Without the packaged models, the list of models explains how to add them."""
    monkeypatch.setattr(Entry, "packaged_file", lambda _: None)
    monkeypatch.setattr(compute.models(), "holds", lambda _: False)  # another test may have loaded them
    app = open_app(lang=lang, heads_view="row")
    sentence = translator(lang)("choice.packaged", models=", ".join(PACKAGED))
    assert [caption.value for caption in app.caption].count(sentence) == 1
    assert not set(PACKAGED) & set(app.selectbox(key="model").options)
    assert app.session_state["model"] == "all-MiniLM-L6-v2"


def test_installed_packages_are_listed(open_app):
    """With their packages the models are in the list, without an explanation."""
    for model_id in PACKAGED:
        packaged_file(model_id)
    app = open_app(heads_view="row")
    assert set(PACKAGED) <= set(app.selectbox(key="model").options)
    assert not any("requirements-models" in caption.value for caption in app.caption)


def test_four_bit_weights_are_mentioned(open_app):
    model_id = "multilingual-e5-small"
    packaged_file(model_id)
    app = open_app(model=model_id, text="The cat sat.", layer=7, head=8, section="all_heads")
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    t = translator("en")
    assert not app.exception and not app.error
    assert any(t("source.model_own_packaged") in caption.value for caption in app.caption)
    assert any(t("export.code_packaged") == caption.value for caption in app.caption)
