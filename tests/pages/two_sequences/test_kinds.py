"""Heads of both kinds in one layer: what the page says when widths differ, and when they may not."""

import pytest
import torch

from pages.two_sequences import kinds
from tests.running import checked, sentences_of
from tests.sections import link_to
from viz.text import LANGUAGES, translator

SMALL = link_to("two_sequences", "kinds") | {"source": "words", "text": "one two three", "target": "six seven"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unequal_widths_show_core_error(open_app, lang):
    app = open_app("two_sequences", same_p_k=1, p_q=5, p_k=3, lang=lang, **SMALL)
    assert not app.exception
    assert not app.error, "nothing went wrong: it is what is to be shown"
    assert "ValueError: a dot product needs equal widths, and here d_q=5, d_k=3" in [
        element.value for element in app.code
    ]
    assert translator(lang)("two_sequences.kinds.refused", p_q=5, p_k=3) in sentences_of(app)
    app.number_input(key="p_k").set_value(5).run()
    assert not app.error and checked(app, "kinds") == (4, 4)
    assert not [element for element in app.code if "ValueError" in element.value]


@pytest.mark.parametrize("mask", kinds.MASKS)
def test_masks_and_widths_pass_checks(open_app, mask):
    app = open_app("two_sequences", kinds_mask=mask, p_q=1, p_k=64, p_v=1, p_o=64, **SMALL)
    assert not app.exception and checked(app, "kinds") == (4, 4)
    app = open_app("two_sequences", kinds_mask=mask, **SMALL | {"text": "one"})
    assert not app.exception and checked(app, "kinds") == (4, 4)


def test_table_shapes_and_counts(open_app):
    app = open_app("two_sequences", **SMALL)
    (table,) = [element.value for element in app.markdown if "| W_K |" in element.value]
    assert "| W_K | 7 × 5 | 7 × 3 |" in table
    # 10 · 5 + 7 · 5 + 8 · 4; and 10 · 5 + 7 · 3 + 8 · 4 with 5 · 16 + 3 · 16 + 16 for the score
    assert "| 117 | 247 |" in table
    assert "W: 5 × 16, U: 3 × 16, w: 16" in table


def test_masks_by_hand():
    assert kinds.allowed_by("none", 2, 3) is None
    assert kinds.allowed_by("padding", 2, 3).tolist() == [[True, False, False]] * 2
    assert kinds.allowed_by("causal", 2, 3).tolist() == [[True, True, False], [True, True, True]]
    assert kinds.rows_apart(torch.tensor([[0.5, 0.5]])) == 0
