"""Sentences of the Masks page: true for every mask, with every value of its details, and of every layer."""

import inspect

import pytest

from pages.masks.layers import PATTERN
from viz.core.masks import chunks, look_back
from viz.core.variants.today.interleaved import full_layers
from viz.text import LANGUAGES, translator

TEXT = "dog cat dog cat"
pytestmark = pytest.mark.usefixtures("without_source_checks")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("family", "is_plain"), [("mistral", True), ("deepseek_v3", False), ("qwen3_next", False)])
def test_share_of_plain_layers_is_counted(open_app, small_model, lang, family, is_plain):
    """A layer with a gate, or with keys made of short vectors, has other projections than the four that are counted."""
    t = translator(lang)
    app = open_app(
        "masks", model=small_model(family), text="The animal did", costs=1, section="editor", lang=lang, mask="own"
    )
    assert not app.exception
    assert (t("masks.t_layer") in app.dataframe[0].value) == is_plain


@pytest.mark.parametrize(("lang", "window"), [("en", "window"), ("zh", "窗口")])
def test_chunks_are_no_windows(open_app, lang, window):
    """The names of the patterns hold for both kinds of layers that look back a little."""
    t = translator(lang)
    assert not [code for code in PATTERN.options() if window in t(f"masks.layers.{code}")]
    assert window not in t("masks.layers.pattern")


@pytest.mark.parametrize(("near", "function"), [("window", look_back), ("chunks", chunks)])
@pytest.mark.parametrize("pattern", ["one", "none"])
def test_code_makes_the_masks_drawn(open_app, near, function, pattern):
    app = open_app("masks", source="words", text=TEXT, section="layers", near=near, pattern=pattern, mask="own")
    app.session_state["_footer_layers"] = "code"
    app.run()
    assert not app.exception
    code = [element.value.strip() for element in app.code]
    assert [rule for rule in (look_back, chunks) if inspect.getsource(rule).strip() in code] == [function]
    assert (inspect.getsource(full_layers).strip() in code) == (pattern == "one")
