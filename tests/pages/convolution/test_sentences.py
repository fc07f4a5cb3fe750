"""Sentences of the Convolution page: true for every value of its controls."""

import inspect
import re

import pytest
import torch

from pages.convolution.slips import choice, comparison, sharpness
from tests.components.test_maps import unpack
from tests.running import line_charts, sentences_of
from tests.sections import link_to
from viz.core.analysis.map_statistics import count_largest
from viz.frame.format import number
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("without_source_checks")


def open_view(open_app, view, lang, text="a b c", **link):
    app = open_app("convolution", **link_to("convolution", view), source="words", text=text, lang=lang, **link)
    assert not app.exception
    return app


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("alpha", sharpness.ALPHAS)
@pytest.mark.parametrize("k", [1, 3])
def test_sharp_head_has_no_window(open_app, lang, alpha, k):
    """A head that looks at one pixel blurs nothing, and one head has one number."""
    t, app = translator(lang), open_view(open_app, "sharpness", lang, spread_alpha=alpha, reach_k=k)
    n = sharpness.pixels_for(sharpness._windows(torch.zeros(1, 2), alpha)[0], sharpness.MOST)
    sentences = " ".join(sentences_of(app))
    wide, sharp = (
        t(f"convolution.sharpness.shows_{name}", alpha=number(alpha), n=n) in sentences for name in ("wide", "sharp")
    )
    assert (wide, sharp) == (n > 1, n == 1)
    many, single = (t(f"convolution.sharpness.shows_{name}", H=k * k) in sentences for name in ("heads", "head"))
    assert (many, single) == (k > 1, k == 1)
    assert t(f"convolution.sharpness.many{'_one' * (k == 1)}", H=k * k, k=k) in sentences


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("row", [1, 3])
def test_centre_without_shift_hides_slip(open_app, lang, row):
    """A head that looks for its own pixel looks the same way with both signs."""
    link = {"slip_d_row": 0, "slip_d_column": 0, "slip_k_row": row, "slip_k_column": 4}
    app = open_view(open_app, "slips", lang, slip="example", **link)
    assert translator(lang)("convolution.slips.example_centred", delta="(0, 0)") in sentences_of(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("n", "k", "is_near"), [(1, 3, True), (2, 3, True), (3, 3, False), (4, 7, True), (5, 7, False)]
)
def test_short_text_is_not_far(open_app, lang, n, k, is_near):
    """A text that one layer crosses is not said to be out of its reach."""
    t = translator(lang)
    app = open_view(open_app, "comparison", lang, text=" ".join("abcde"[:n]), compare_k=k)
    table = next(element.value for element in app.markdown if t("convolution.comparison.far_says") in element.value)
    layers = comparison.layers_to_cross(n, k)
    assert (t("convolution.comparison.far_conv_near", half=k // 2, n=n) in table) == is_near
    assert (t("convolution.comparison.far_conv", layers=layers, n=n) in table) == (not is_near)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_flat_scores_are_no_hill(open_app, lang, alpha):
    t, app = translator(lang), open_view(open_app, "slips", lang, slip="farthest", slip_alpha=alpha)
    chart = line_charts(app)["slip_scores"]
    names = [series["name"] for series in chart["lines"]]
    assert names == [t(f"convolution.slips.score_{side}{'' if alpha else '_even'}") for side in ("right", "wrong")]
    assert (t("convolution.slips.farthest_even") in str(chart)) == (alpha == 0)


@pytest.mark.parametrize("slip", choice.SLIPS)
def test_code_is_that_of_the_slip(open_app, slip):
    app = open_view(open_app, "slips", "en", slip=slip)
    app.session_state["_footer_slips"] = "code"
    app.run()
    assert not app.exception
    expected = [inspect.getsource(function).strip() for function in choice.SLIPS[slip].CODE]
    assert [element.value.strip() for element in app.code] == expected
    assert len({module.CODE for module in choice.SLIPS.values()}) == len(choice.SLIPS)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("link", "is_tied"),
    [
        ({"source": "model", "model": "twin-g1", "text": "dog cat dog"}, True),
        ({"source": "words", "text": "a b c", "mask": "causal"}, False),
    ],
)
def test_no_first_head_among_equals(open_app, lang, link, is_tied):
    """In a short text several heads may be windows, as far as numbers tell."""
    app = open_app("convolution", section="likeness", lang=lang, **link)
    assert not app.exception
    rows = app.dataframe[0].value
    shares = rows["share"][rows["inside"] >= 0.5].to_numpy()
    alike = count_largest(torch.tensor(shares))
    assert (alike > 1) == is_tied
    best = {"n": len(rows), "many": int((shares > 0.5).sum()), "alike": alike, "layer": "|"}
    start = translator(lang)(
        f"convolution.likeness_{'alike' if is_tied else 'found'}", **best, head="", offset="", alpha="", share=""
    ).split("|")[0]
    assert [sentence for sentence in sentences_of(app) if sentence.startswith(start)]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("m", [1, 2])
def test_one_head_is_no_range(open_app, lang, m):
    t, app = translator(lang), open_view(open_app, "slips", lang, slip="tap", slip_heads=m)
    (view,) = [view for view in app.get("bidi_component") if view.proto.component_name.endswith(".maps")]
    title = unpack(view.proto.bytes)[0]["maps"][2]["title"]
    assert title == t("convolution.slips.tap_sum" if m > 1 else "convolution.slips.tap_sum_one", head=m - 1)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("mask", "closes"), [("causal", True), ("padding", True), ("painted", False)])
def test_mask_without_effect_is_none(open_app, lang, mask, closes):
    app = open_view(open_app, "reach", lang, mask=mask, pad=1)
    captions = [element.value for element in app.caption]
    assert (translator(lang)("convolution.field_masked") in captions) == closes


@pytest.mark.parametrize("lang", LANGUAGES)
def test_even_spread_has_no_centre(open_app, lang):
    """Of a head that no window explains no centre is read out."""
    t, app = translator(lang), open_view(open_app, "vision", lang, digit="draw")
    (view,) = [view for view in app.get("bidi_component") if view.proto.component_name.endswith(".patch_heads")]
    cards = [card["alt"] for card in unpack(view.proto.bytes)[0]["heads"]]
    names = ("layer", "head", "row", "column", "weight", "down", "right", "alpha", "share")
    centre, even = (
        t(f"convolution.vision.{name}", **dict.fromkeys(names, "|")).split("|") for name in ("card", "card_even")
    )
    assert {even[-1] in card for card in cards} == {True, False}
    assert all((even[-1] in card) != (centre[5] in card) for card in cards)
    assert not [card for card in cards if re.search(r"α = 0[^.\d]", card)]
