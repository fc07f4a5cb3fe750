"""Sentences of the Positions page: true for every value of its controls, and of what is shown alone."""

import inspect

import pytest
import torch
from transformers.models.ministral3.modeling_ministral3 import get_llama_4_attn_scale

from tests import checkpoints
from tests.running import sentences_of
from viz.core.positions import sinusoidal
from viz.core.variants.encodings import learned
from viz.core.variants.today.angles import temperatures
from viz.frame import available_models, compute, specs
from viz.text import LANGUAGES, translator

T = translator("en")
pytestmark = pytest.mark.usefixtures("without_source_checks")


def texts_of(app):
    assert not app.exception
    return sentences_of(app) + [element.value for kind in ("caption", "text") for element in app.get(kind)]


def has_sentence(app, t, key, **values):
    """Return True if a text of this name stands on the page, whatever its other numbers are."""
    pieces = [piece for piece in t(key, **values).split("X") if piece]
    return any(all(piece in text for piece in pieces) for text in texts_of(app))


MIRROR = {"source": "words", "text": "dog bites man", "section": "shuffle", "order": "reversed"}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("link", "sentence", "reason"),
    [
        ({"need": "alibi"}, "need_found_none", "need_mirror_alibi"),
        ({"need": "quadratic", "near_delta": 0}, "need_found_none", "need_mirror_quadratic"),
        ({"need": "quadratic", "near_alpha": 0}, "need_found_none", "far_quadratic_zero"),
        ({"need": "quadratic", "near_alpha": 0, "order": "shuffled"}, "need_found_none", "far_quadratic_zero"),
        ({"need": "quadratic"}, "need_found", None),
        ({"need": "t5"}, "need_found", None),
    ],
)
def test_unseen_order_changes_nothing(open_app, lang, link, sentence, reason):
    """A bias that is 0, or the same backwards, changes no weight: then no change is spoken of."""
    t = translator(lang)
    app = open_app("positions", **MIRROR | {"near_alpha": 0.5} | link, lang=lang)
    code = t(f"positions.name_{link['need']}")
    for key in ("need_found", "need_found_none"):
        assert has_sentence(app, t, f"positions.{key}", none="X", code=code, changed="X") == (key == sentence)
    for key in ("need_mirror_alibi", "need_mirror_quadratic", "far_quadratic_zero"):
        assert has_sentence(app, t, f"positions.{key}") == (key == reason)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("alpha", [0, 0.5])
def test_window_of_zero_is_none(open_app, lang, alpha):
    t = translator(lang)
    app = open_app("positions", source="words", section="encodings", encoding="quadratic", near_alpha=alpha, lang=lang)
    assert has_sentence(app, t, "positions.about_quadratic")
    assert has_sentence(app, t, "positions.far_quadratic_zero") == (alpha == 0)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("n_heads", "sentence"), [(8, "two_alike"), (4, "two_models")])
def test_one_pair_has_one_pairing(open_app, lang, n_heads, sentence):
    t, absent = translator(lang), {"two_alike": "two_models", "two_models": "two_alike"}[sentence]
    link = {"source": "words", "d_model": 16, "n_heads": n_heads, "encoding": "rope_halves", "section": "encodings"}
    app = open_app("positions", **link, lang=lang)
    assert has_sentence(app, t, f"positions.{sentence}") and not has_sentence(app, t, f"positions.{absent}")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "key"), [("repeat after me", "own_map"), ("repeat", "own_maps"), ("repeat after me " * 50, None)]
)
def test_own_map_stands_where_promised(open_app, lang, text, key):
    """One token looks the same on every map; of a long text the page reads a part, and no map is the model's."""
    t = translator(lang)
    app = open_app("positions", section="encodings", model="twin-g2", text=text, lang=lang)
    assert has_sentence(app, t, "positions.model_turns")
    assert has_sentence(app, t, "positions.model_turns_which") == (key is not None)
    for name in ("own_map", "own_maps"):
        assert has_sentence(app, t, f"positions.{name}", base="10,000", off="X", name="X", names="X") == (name == key)


@pytest.mark.parametrize(("code", "function"), [("learned", learned), ("sinusoidal", sinusoidal)])
def test_code_made_the_table(open_app, code, function):
    app = open_app("positions", section="sinusoids", pe_show="added", added=code)
    app.session_state["_footer_added"] = "code"
    app.run()
    assert not app.exception
    assert [block.value.strip() for block in app.code] == [inspect.getsource(function).strip()]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("family", "is_fixed"), [("marian", True), ("bert", False)])
def test_fixed_table_is_not_learned(open_app, monkeypatch, tmp_path, lang, family, is_fixed):
    """Marian adds sinusoids: no training made its table, and its rows go by distance."""
    t, entry = translator(lang), checkpoints.make_entry(family, tmp_path / "small")
    for module in (specs, compute):
        monkeypatch.setattr(module, "local_entries", lambda: (entry,))
    available_models._on_this_machine.cache_clear()
    link = {"source": "model", "model": entry.id, "text": "dog bites man", "section": "all", "lang": lang}
    app = open_app("positions", **link, encoding="learned", trained=30)
    keys = {
        "model_table": "model_table_fixed",
        "spread_learned": "spread_fixed",
        "far_learned_cut": "far_learned_fixed",
    }
    for key, fixed in keys.items():
        values = {"model": entry.id, "learned": "X", "known": 61 if is_fixed else 30}
        assert has_sentence(app, t, f"positions.{fixed}", **values) == is_fixed
        assert has_sentence(app, t, f"positions.{key}", **values) != is_fixed
    names = [t(f"positions.name_{name}") for name in ("learned", "own")]
    assert [any(text.startswith(f"**{name}** · ") for text in texts_of(app)) for name in names] == [
        not is_fixed,
        is_fixed,
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_factor_starts_where_sentences_say(lang):
    """Llama 4 leaves the first F - 1 tokens as they are, Ministral 3 the first F, as transformers counts them."""
    t, floor, places = translator(lang), 16, torch.arange(40)
    assert int((temperatures(places, floor=floor) == 1).sum()) == floor - 1
    assert int((get_llama_4_attn_scale(places[None], 0.1, floor) == 1).sum()) == floor
    assert {"en": "its τ is 1 for the first F tokens", "zh": "前 F 个词元的 τ 是 1"}[lang] in t(
        "positions.no_positions.users"
    )
    llama = {"en": "in Llama 4 τ is 1 for the first F − 1 tokens", "zh": "在 Llama 4 里前 F − 1 个词元的 τ 是 1"}[lang]
    assert llama in t("positions.no_positions.why")
