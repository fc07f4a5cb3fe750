"""Sentences of the Masks page: true for every mask, with every value of its details, and of every layer."""

import inspect

import pytest
import torch

from pages.masks.layers import PATTERN
from tests.running import sentences_of
from viz.core.masks import chunks, look_back
from viz.core.variants.today.interleaved import full_layers
from viz.frame.mask_code import to_code
from viz.text import LANGUAGES, translator

TEXT = "dog cat dog cat"
UPPER = to_code(torch.ones(4, 4).triu(1).bool())
CASES = ("nothing", "itself", "causal", "window")
pytestmark = pytest.mark.usefixtures("without_source_checks")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("link", "case"),
    [
        ({"mask": "window"}, None),
        ({"mask": "window", "width": 0}, "itself"),
        ({"mask": "window", "width": 32}, "nothing"),
        ({"mask": "dilated", "width": 1}, None),
        ({"mask": "dilated", "width": 1, "gap": 1}, "window"),
        ({"mask": "dilated", "width": 0}, "itself"),
        ({"mask": "prefix"}, None),
        ({"mask": "prefix", "width": 1}, "causal"),
        ({"mask": "prefix", "width": 5}, "nothing"),
        ({"mask": "padding"}, None),
        ({"mask": "padding", "pad": 0}, "nothing"),
        ({"mask": "both"}, None),
        ({"mask": "both", "pad": 0}, "causal"),
        ({"mask": "painted"}, "nothing"),
        ({"mask": "own"}, None),
    ],
)
def test_mask_is_described_as_it_is(open_app, lang, link, case):
    """Beside what a kind of mask is for stands what this one is, with its details and on this text."""
    t = translator(lang)
    app = open_app("masks", source="words", text="the cat sat on it", section="editor", lang=lang, **link)
    assert not app.exception
    (about,) = [text for text in sentences_of(app) if text.startswith(t(f"masks.about_{link['mask']}"))]
    assert [code for code in CASES if t(f"masks.as_{code}") in about] == [case] * (case is not None)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_painted_mask_shares_the_blame(open_app, lang):
    """A mask that opens what the model blocks does not block everything by itself."""
    t = translator(lang)
    link = {"text": TEXT, "mask": "painted", "painted": UPPER, "section": "editor", "lang": lang}
    app = open_app("masks", source="model", model="twin-g2", **link)
    assert [element.value for element in app.warning] == [t("masks.blocks_all_own")]
    nothing = to_code(torch.zeros(4, 4).bool())
    app = open_app("masks", source="model", model="twin-g2", **link | {"painted": nothing})
    assert [element.value for element in app.warning] == [t("masks.blocks_all")]


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
    notes = [element.value for element in app.caption]
    assert (t("masks.costs_note") in notes, t("masks.costs_note_pairs") in notes) == (is_plain, not is_plain)


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
