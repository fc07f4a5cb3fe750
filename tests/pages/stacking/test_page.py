"""The Stacking page without a browser: its checks hold, its tables are counted, its state is its link."""

import pytest
import torch

from pages.stacking import layer_sharing, locality
from tests.running import all_elements, checked, line_charts, sentences_of
from tests.sections import link_to
from viz.core import stack
from viz.text import translator

T = translator("en")


CHINESE = "春天来了，花开了，鸟也回来了。"


def page_sentences(app):
    return [element.value for kind in ("markdown", "caption", "text", "info") for element in app.get(kind)]


@pytest.mark.parametrize(
    ("text", "token"), [("", 10), ("no pronoun here!", 5), ("it, and it", 1), ("?!", 2), (CHINESE, -3)]
)
def test_default_token_is_word(open_app, text, token):
    app = open_app("stacking", **({"text": text} if text else {}))
    n = len(app.selectbox(key="from_token").options)
    assert app.session_state["from_token"] == token % n
    assert "from_token" not in app.query_params


def test_field_mask_replaces_page_mask(open_app):
    instead = T("stacking.receptive_field.instead")
    for mask, is_said in (("padding", True), ("window", False), ("own", False)):
        app = open_app("stacking", section="receptive_field", source="words", mask=mask)
        assert (instead in [caption.value for caption in app.caption]) == is_said


def test_single_word_or_head_no_verdict(open_app):
    verdict = "from one layer to the next"
    app = open_app("stacking", section="all", source="words", text="word", depth=2)
    assert {"sharing_length"} == {key for key in line_charts(app) if key.startswith("sharing_")}
    assert T("stacking.oversmoothing.one_word") in [info.value for info in app.info]
    assert not any(verdict in line for line in page_sentences(app))
    link = link_to("stacking", "locality") | {"source": "words", "text": "one two three", "depth": 2}
    for n_heads, has_verdict in ((1, False), (4, True)):
        lines = sentences_of(open_app("stacking", n_heads=n_heads, **link))
        assert any(verdict in line for line in lines) == has_verdict


@pytest.mark.usefixtures("without_source_checks")
def test_fully_masked_rows_excluded(open_app):
    app = open_app("stacking", text="a b c", depth=2, mask="both", pad=2, pad_left=1)
    assert not any(T("source.model_own") in caption.value for caption in app.caption), "nor are the numbers the model's"
    assert checked(app, "gradient") == (5, 5)


def test_one_layer_is_one_layer(open_app):
    app = open_app("stacking", section="all", source="words", depth=1)
    every = [
        *page_sentences(app),
        *(chip.proto.popover.label for chip in all_elements(app) if chip.type == "popover"),
    ]
    assert not any("1 layers" in element for element in every)


def test_token_kept_across_sections(open_app):
    app = open_app("stacking", source="words", from_token=3)
    for section in ("oversmoothing", "gradient"):
        app.button_group(key="section").set_value(section).run()
        assert app.session_state["from_token"] == 3
        assert app.query_params["from_token"] == "3"


def test_blocks_that_new_text_runs(open_app, monkeypatch):
    """The words as they are and once for their gradient; for the slope two versions of them, which share a layer."""
    runs, run = [], stack.encoder_block
    monkeypatch.setattr(stack, "encoder_block", lambda x, weights, **o: runs.append(weights) or run(x, weights, **o))
    assert checked(open_app("stacking", text="a new text", depth=3), "gradient")[1]
    exact = [weights for weights in runs if weights.attention.w_q.dtype == torch.float64]
    assert (len(runs), len(exact), len({*map(id, exact)})) == (3 * 4, 3 * 2, 3)


def test_miscounted_work_turns_section_red(open_app, monkeypatch):
    """The formula of the work without its pairs of tokens."""
    monkeypatch.setattr(layer_sharing, "flops_by_formula", lambda context: 1)
    app = open_app("stacking", section="layer_sharing", source="words", text="one two three", depth=3)
    n_passed, n = checked(app, "layer_sharing")
    assert n_passed < n and not app.exception


def test_even_spread_differs_by_layer(open_app, small_model, monkeypatch):
    """Gemma 2's layers with a window leave fewer words to spread the weight over than those without."""
    baselines, draw = [], locality.depth
    monkeypatch.setattr(
        locality, "depth", lambda curves, **titles: baselines.append(curves[-1]) or draw(curves, **titles)
    )
    model = small_model("gemma2", sliding_window=2)
    app = open_app("stacking", model=model, text="The animal did", section="oversmoothing", alike="locality")
    assert not app.exception
    assert len(baselines) == 2, "of entropy and of distance"
    for curve in baselines:
        assert curve.baseline
        narrow, wide = curve.values[:2]
        assert narrow < wide
