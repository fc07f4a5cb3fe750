"""Sentences of the page of long texts: true of one head, of short texts and of hybrids."""

from unittest.mock import Mock

import pytest

from pages.long_text import wall
from tests.checkpoints import make_entry
from tests.running import sentences_of
from viz.components.unpack import unpack
from viz.core.long.shapes import SHORTEST
from viz.frame import available_models, compute, specs
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("without_source_checks")
WORDS = {"source": "words", "d_model": 8}


def texts_of(app):
    assert not app.exception
    return sentences_of(app) + [element.value for kind in ("caption", "text") for element in app.get(kind)]


def wall_of(app):
    """The header of the wall's message."""
    (view,) = [view for view in app.get("bidi_component") if view.proto.component_name == "headlight.long_wall"]
    return unpack(view.proto.bytes)[0]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("n_heads", [1, 2])
def test_one_head_is_singular(open_app, lang, n_heads):
    app = open_app("long_text", **WORDS, text="one two three", n_heads=n_heads, lang=lang)
    line = translator(lang)("long_text.words_line", H=n_heads, seed=0, d_k=8 // n_heads)
    assert line in texts_of(app)
    assert lang == "zh" or ("1 untrained head (" in line) == (n_heads == 1)


@pytest.mark.parametrize(("n", "name"), [(SHORTEST - 1, "short"), (SHORTEST, "none")])
def test_short_text_names_no_shape(open_app, n, name):
    """No head is said to have none of the shapes, as none is named."""
    app = open_app("long_text", **WORDS, text=" ".join(["one"] * n), n_heads=2, section="wall")
    assert not app.exception
    assert wall_of(app)["shapes"][-1] == name


def test_wall_has_models_own_layers(open_app, monkeypatch, tmp_path):
    """In a hybrid the browser's first layer is not layer 0, and a click opens the one that was clicked."""
    entry = make_entry("lfm2", tmp_path / "small")
    for module in (specs, compute):
        monkeypatch.setattr(module, "local_entries", lambda: (entry,))
    available_models._on_this_machine.cache_clear()
    app = open_app("long_text", source="model", model=entry.id, text="the cat sat", section="wall")
    assert not app.exception
    assert wall_of(app)["numbers"] == [1, 3]
    for name in ("LAYER", "HEAD", "SECTION"):
        monkeypatch.setattr(wall, name, Mock())
    wall.open_head([1, 3], [1, 2])
    assert [parameter.choose.call_args.args for parameter in (wall.LAYER, wall.HEAD)] == [(3,), (2,)]
