"""Sentences of the Convolution page: true for every value of its controls."""

import inspect
import re
from dataclasses import replace

import pytest
import torch

from pages.convolution.slips import choice
from pages.convolution.vision import compute
from tests.sections import link_to
from viz.components.unpack import unpack
from viz.text import LANGUAGES, translator

pytestmark = pytest.mark.usefixtures("without_source_checks")


def open_view(open_app, view, lang, text="a b c", **link):
    app = open_app("convolution", **link_to("convolution", view), source="words", text=text, lang=lang, **link)
    assert not app.exception
    return app


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
def test_even_spread_has_no_centre(open_app, monkeypatch, lang):
    """Of a head that no window explains no centre is read out: head 0 of each layer here."""
    fits = compute.fits

    def without_first(*picture):
        return tuple(replace(fit, alpha=torch.cat([torch.zeros(1), fit.alpha[1:]])) for fit in fits(*picture))

    monkeypatch.setattr(compute, "fits", without_first)
    t, app = translator(lang), open_view(open_app, "vision", lang)
    (view,) = [view for view in app.get("bidi_component") if view.proto.component_name.endswith(".patch_heads")]
    cards = [card["alt"] for card in unpack(view.proto.bytes)[0]["heads"]]
    names = ("layer", "head", "row", "column", "weight", "down", "right", "alpha", "share")
    centre, even = (
        t(f"convolution.vision.{name}", **dict.fromkeys(names, "|")).split("|") for name in ("card", "card_even")
    )
    assert {even[-1] in card for card in cards} == {True, False}
    assert all((even[-1] in card) != (centre[5] in card) for card in cards)
    assert not [card for card in cards if re.search(r"α = 0[^.\d]", card)]
