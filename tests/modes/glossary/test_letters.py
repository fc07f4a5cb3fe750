"""The switch below a formula that translates its letters."""

import pytest

from viz.modes.glossary import letters
from viz.text import LANGUAGES, translator

SMALL = {"source": "words", "text": "one two"}


def tables(app, t):
    return [element.value for element in app.markdown if element.value.startswith(f"| {t('footer.letters_ours')} |")]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_letters_are_translated_on_request(open_app, monkeypatch, lang):
    """Letters are translated on request, and nothing is looked up before."""
    t, lookups, right = translator(lang), [], letters.letters_in
    monkeypatch.setattr(letters, "letters_in", lambda *args: lookups.append(args) or right(*args))
    app = open_app("share_kv", section="growing_cache", lang=lang, **SMALL, view="savings")
    assert not lookups and not any(toggle.key == "_letters_savings" for toggle in app.toggle)
    app.session_state["_footer_savings"] = "why"
    app.run()
    assert len(lookups) == 1 and not tables(app, t)
    app.toggle(key="_letters_savings").set_value(True).run()
    (table,) = tables(app, t)
    assert len(table.splitlines()) == 2 + 3
    lines = {line.split(" · ")[0]: line for line in table.splitlines()}
    assert lines["| $d_k$"].endswith("| $p_q = p_k$ | $d_k$ |") and lines["| $H$"].endswith("| $h$ | $h$ |")
    assert "W_Q" not in table, "a letter that is not in this formula"
    assert t("footer.letters_columns") in [caption.value for caption in app.caption]
    assert "_letters_savings" not in app.query_params


def test_self_drawn_formula_has_letters(open_app):
    app = open_app("two_sequences", section="scoring", target="three", **SMALL)
    app.session_state["_footer_scoring"], app.session_state["_letters_scoring"] = "why", True
    app.run()
    (table,) = tables(app, translator("en"))
    assert "| $s_{ij}$ · " in table and r"\mathbf w_v$" in table


def test_formula_without_letters_has_no_switch(open_app):
    app = open_app("cost", section="growth")
    app.session_state["_footer_growth"] = "why"
    assert not any(toggle.key == "_letters_growth" for toggle in app.run().toggle)
