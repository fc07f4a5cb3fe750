"""Sentences of the Block page: true for every value of its controls, and of what is shown alone."""

import inspect

import pytest

from pages.block import code_that_ran
from tests.running import bar_charts, sentences_of
from viz.components.unpack import unpack
from viz.core.experts import mixture_of_experts, route
from viz.core.norm import layer_norm, rms_norm
from viz.core.sublayer import output_norm, post_norm, pre_norm, sandwich_norm
from viz.text import LANGUAGES, translator

T = translator("en")
TEXT = "the cat sat"
pytestmark = pytest.mark.usefixtures("without_source_checks")


def texts_of(app):
    assert not app.exception
    return sentences_of(app) + [element.value for kind in ("caption", "text") for element in app.get(kind)]


def code_of(app, section="diagram"):
    """The code below a section, as it is shown."""
    app.session_state[f"_footer_{section}"] = "code"
    app.run()
    assert not app.exception
    return [element.value for element in app.code]


def shows(code, function):
    return inspect.getsource(function).strip() in [block.strip() for block in code]


@pytest.mark.parametrize(("layer", "has_experts"), [(0, False), (1, True)])
def test_code_names_experts_where_present(open_app, small_model, layer, has_experts):
    """The code of experts stands below a block with experts alone."""
    model = small_model("qwen2_moe", num_experts=4, num_experts_per_tok=2, mlp_only_layers=[0])
    code = code_of(open_app("block", model=model, layer=layer, section="diagram"))
    assert [shows(code, function) for function in (mixture_of_experts, route)] == [has_experts] * 2


@pytest.mark.parametrize("kind", ["encoder", "decoder", "both"])
def test_code_has_sides_that_are_drawn(open_app, kind):
    code = code_of(open_app("block", source="words", text=TEXT, block=kind))
    assert shows(code, code_that_ran.encoder_block) == (kind != "decoder")
    assert shows(code, code_that_ran.decoder_block) == (kind != "encoder")
    assert not shows(code, route)


def test_code_compares_where_torch_does(open_app):
    """Torch has no layer without a residual, so that the code of the comparison did not run."""
    link = {"source": "words", "text": TEXT}
    assert shows(code_of(open_app("block", **link)), code_that_ran.torch_layer)
    assert not shows(code_of(open_app("block", **link, residual=0)), code_that_ran.torch_layer)


def test_code_has_norms_that_are_drawn(open_app):
    app = open_app("block", source="words", text=TEXT, block_show="points")
    code = code_of(app, "points")
    assert shows(code, layer_norm) and not shows(code, rms_norm)
    code = code_of(open_app("block", source="words", text=TEXT, block_show="norm_place"), "norm_place")
    assert shows(code, post_norm) and shows(code, pre_norm)
    assert not shows(code, output_norm) and not shows(code, sandwich_norm)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("link", "kinds"),
    [
        ({}, ["attention_add"]),
        ({"normalize": 0}, ["feed_forward_add", "feed_forward_norm"]),
        ({"normalize": 0, "residual": 0}, ["attention", "attention_add", "attention_norm"]),
    ],
)
def test_equal_points_are_all_largest(open_app, lang, link, kinds):
    """A norm or a residual that is switched off hands on what it was given: both points are the largest."""
    t = translator(lang)
    app = open_app("block", source="words", text=TEXT, block_show="points", lang=lang, **link)
    names = {}
    for part in ("attention", "feed_forward"):
        names[part] = t(f"block.name_{part}")
        names |= {
            f"{part}_{step}": t("block.name_of", name=t(f"block.name_{step}"), part=names[part])
            for step in ("add", "norm")
        }
    start = t("block.points_found", first="X", last="X", points="X", most="X").split("X")[0]
    sentence = next(text for text in texts_of(app) if text.startswith(start))
    assert [kind for kind, name in names.items() if f"“{name}”" in sentence] == kinds


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("mask", "kind"), [("own", "source"), ("causal", "causal"), ("padding", "masked")])
def test_only_causal_maps_are_causal(open_app, lang, mask, kind):
    app = open_app("block", source="words", text=TEXT, section="encoder_decoder", mask=mask, lang=lang)
    maps = [view for view in app.get("bidi_component") if view.proto.component_name == "headlight.maps"]
    titles = [panel["title"] for view in maps for panel in unpack(view.proto.bytes)[0]["maps"]]
    t = translator(lang)
    assert [code for code in ("source", "causal", "masked") if t(f"block.three_{code}") in titles] == [kind]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_zero_vectors_have_no_cosine(open_app, lang):
    """A vector of zeros has no direction: without the residual no cosine is left where no word may look anywhere."""
    t = translator(lang)
    app = open_app("block", source="words", text=TEXT, section="switched_off", mask="padding", lang=lang)
    end = t("block.found_alike", built="X", no_residual="–").split("X")[1]
    assert [text for text in texts_of(app) if end in text]
    (alike,) = bar_charts(app)["block_alike"].series.values()
    assert alike.isnan().tolist() == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("link", "end"), [({}, ""), ({"normalize": 0}, "_off"), ({"model": "twin-g2", "source": "model"}, "_rms")]
)
def test_norm_is_described_as_it_is(open_app, link, end):
    box = "enc_attention_norm"
    app = open_app("block", **{"source": "words"} | link, text="dog cat dog", section="diagram", box=box)
    about = T(f"block.about_norm{end}")
    assert [text for text in texts_of(app) if about in text]


def test_experts_parameters_are_counted(open_app, small_model):
    model = small_model("qwen2_moe", num_experts=4, num_experts_per_tok=2)
    app = open_app("block", model=model, section="diagram", box="enc_feed_forward")
    piece = T("block.experts_say", share="|", n="|", active="|").split("|")[2]
    assert [text for text in texts_of(app) if piece in text]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("section", ["switched_off", "norm_place"])
def test_lent_stack_is_not_the_models(open_app, lang, section):
    """Below the curves of a seeded decoder no sentence says that the model's blocks are drawn."""
    t, model = translator(lang), "twin-g2"
    link = {"source": "model", "model": model, "text": "dog cat dog", "target": "dog", "lang": lang, "residual": 0}
    show = {"section": "switched_off"} if section == "switched_off" else {"block_show": "norm_place"}
    app = open_app("block", block="decoder", **link, **show)
    start = t("block.lent_stack", model=model, n="X").split("X")[0]
    assert [text for text in texts_of(app) if text.startswith(start)]
    assert t("block.only_as_built", model=model) not in texts_of(app)
    assert t("block.only_as_built", model=model) in texts_of(open_app("block", **link, **show))
    assert not open_app("block", block="decoder", **link, section="diagram").warning


@pytest.mark.parametrize("show", ["diagram", "points", "norm_place", "switched_off"])
def test_odd_lent_decoder_is_said(open_app, small_model, show):
    """An ELECTRA's own table may be odd in width; the decoder that is lent to it adds sinusoids."""
    model = small_model("electra", embedding_size=21)
    app = open_app("block", model=model, text="The animal", block="both", section="all", block_show=show)
    assert not app.exception
    assert {element.value for element in app.warning} == {T("error.odd_width", width=21)}
