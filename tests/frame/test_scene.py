"""Pages on models in which some layers do not attend, or whose layers have a sink or a gate."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from torch.testing import assert_close

from pages.attention_today.context import layer_of
from tests import checkpoints
from tests.running import bar_charts, checked, sentences_of
from tests.sections import link_to
from viz.components.comparison import unpacked
from viz.frame import compute, specs
from viz.frame.checks import attention_checks
from viz.frame.compute import head_grid
from viz.frame.format import number, part
from viz.frame.head_grid import grid
from viz.frame.scene import ranges
from viz.models import capture
from viz.text import LANGUAGES, translator

TEXT = "The animal was too tired."
HEADS = ("all_heads", "compare", "joined", "switched_off", "numbers", "row")


@pytest.fixture
def open_family(open_app, small_model):
    """Open a page on a small model of a family."""

    def open_page(family, page="heads", **link):
        return open_app(page, source="model", model=small_model(family), text=TEXT, **link)

    return open_page


def texts(app):
    return sentences_of(app) + [element.value for kind in ("caption", "text", "error") for element in app.get(kind)]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("family", "kind"), [("qwen3_next", "linear_attention"), ("lfm2", "conv")])
def test_layers_of_hybrid_keep_numbers(open_family, lang, family, kind):
    """Layers 1 and 3 of 4 attend: the link, the chip, the slider and the line of the source have these numbers."""
    t, app = translator(lang), open_family(family, section="all_heads", layer=3, lang=lang)
    assert app.session_state["layer"] == 3 and not app.exception
    assert [list(slider.options) for slider in app.select_slider if slider.key == "layer"] == [["1", "3"]]
    assert t("note.layers", layers="0, 2", n=2, kind=t(f"note.kind_{kind}")) in texts(app)
    line = t("source.model_line", model="M", layer=3, layers=4, kind="GQA", heads="", d_k=10, n=9)
    start = line.partition("M")[2].partition(" · ")[0]
    assert any(start in slider for slider in texts(app))


def test_layer_without_attention_is_refused(open_family):
    """A link that names one opens the nearest default, and its refusal is noted."""
    app = open_family("qwen3_next", section="all_heads", layer=2)
    assert app.session_state["layer"] == 3
    assert translator("en")("note.refused", names="layer") in [info.value for info in app.info]


def test_wall_of_hybrid_has_models_numbers(open_family, monkeypatch):
    """The browser counts the layers that attend, shows the model's numbers, and Python takes a choice over by these."""
    app = open_family("qwen3_next", section="all_heads", layer=1)
    source = specs.Source(kind="model", text=TEXT, model=app.session_state["model"])
    header = unpacked(head_grid.wall(source, specs.Mask(), specs.View()))
    assert header["numbers"] == [1, 3] and header["n_layers"] == 2
    put = dict[str, object]()
    monkeypatch.setattr("viz.params.Parameter.set", lambda parameter, value: put.__setitem__(parameter.name, value))
    grid._choose("grid", (1, 3), {"layer": 1, "head": 2})
    assert put == {"layer": 3, "head": 2}
    default = replace(source, model=compute.DEFAULT_MODEL)
    assert "numbers" not in unpacked(head_grid.wall(default, specs.Mask(), specs.View()))


@pytest.mark.parametrize("family", ["qwen3_next", "gpt_oss", "granite_swa", "laguna", "jamba"])
@pytest.mark.parametrize("name", HEADS)
def test_heads_page_checks_hold(open_family, family, name):
    """Every live check of the page holds, with mask and without."""
    for mask in ("own", "window"):
        app = open_family(family, **link_to("heads", name), layer=3, mask=mask)
        passing, n = checked(app, name)
        assert not app.exception and not app.error
        assert passing == n > 3, (mask, passing, n)


@pytest.mark.parametrize(
    ("family", "code", "page", "section"),
    [
        ("gpt_oss", "sink", "step_by_step", "steps"),
        ("gpt_oss", "sink", "masks", "editor"),
        ("gpt_oss", "sink", "share_kv", "growing_cache"),
        ("gpt_oss", "sink", "attention_today", "tamed"),
        ("gpt_oss", "sink", "attention_today", "gate"),
        ("qwen3_next", "gate", "attention_today", "nobody"),
        ("qwen3_next", "gate", "share_kv", "in_code"),
        ("qwen3_next", "gate", "heads", "arrivals"),
        ("jamba", "first_layer", "positions", "shuffle"),
        ("jamba", "first_layer", "positions", "encodings"),
    ],
)
def test_missing_sink_or_gate_is_refused(open_family, family, code, page, section):
    """A section that computes without a model's sink or gate says so, and draws nothing."""
    app = open_family(family, page, section=section)
    name = app.session_state["model"].replace("_", r"\_").replace("-", r"\-")
    sentence = translator("en")(f"error.{code}", model=name, layer=1)
    assert not app.exception and sentence in [error.value for error in app.error]
    assert checked(app, section) == (0, 0)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_row_says_share_of_no_word(open_family, lang):
    """The sentence of a row names the share, and the weights sum to the rest."""
    app = open_family("gpt_oss", heads_view="row", layer=1, query=4, head=2, lang=lang)
    source = specs.Source(kind="model", text=TEXT, model=app.session_state["model"])
    row = compute.read(source).layer(1).weights[2, 4]
    sentence = translator(lang)(
        "heads.row_nowhere", query=compute.read(source).tokens.labels[4], value=part(1 - float(row.sum()))
    )
    assert sentence in texts(app)
    assert translator(lang)("note.sink") in texts(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("family", ["gpt_oss", "flint", "granite_swa"])
def test_nobody_shows_models_sinks(open_family, lang, family):
    """Each head's share of nobody is what its row of the model's own weights lacks; σ is the model's; no slider."""
    t, app = translator(lang), open_family(family, "attention_today", section="nobody", layer=1, head=2, lang=lang)
    capture = compute.read(specs.Source(kind="model", text=TEXT, model=app.session_state["model"]))
    weights, sinks = capture.layer(1).weights, capture.calls[1].options["sink"]
    assert checked(app, "nobody")[0] == checked(app, "nobody")[1] > 5 and not app.exception and not app.error
    bars = bar_charts(app)["nobody_bars"].series
    assert_close(bars[t("attention_today.nobody.to_nobody")], 1 - weights.sum(-1)[:, 1:].mean(-1), atol=1e-5, rtol=0)
    assert_close(bars[t("attention_today.nobody.after")], weights[:, 1:, 0].mean(-1), atol=1e-5, rtol=0)
    values = {"sigma": sinks[2], "low": min(sinks), "high": max(sinks)}
    sentence = t("attention_today.nobody.own_says", head=2, **{name: number(float(x)) for name, x in values.items()})
    assert sentence in texts(app)
    assert "sigma" not in [slider.key for slider in app.slider]


def test_nobody_check_sees_wrong_sinks(open_family, monkeypatch):
    """Sinks of half the score are not the model's: its weights differ."""
    right = layer_of
    monkeypatch.setattr(
        import_module("pages.attention_today.context"),
        "layer_of",
        lambda scene, n: replace(right(scene, n), sink=right(scene, n).sink / 2),
    )
    app = open_family("gpt_oss", "attention_today", section="nobody", layer=1, head=2)
    passing, n = checked(app, "nobody")
    assert not app.exception and passing == n - 1


@pytest.mark.parametrize("kind", ["by_one", "off"])
def test_nobody_replaces_models_sinks(open_family, kind):
    """Off by one, or none, in place of the model's own: from the scores alone, in numpy."""
    app = open_family("gpt_oss", "attention_today", section="nobody", layer=1, head=2, nobody=kind)
    call = compute.read(specs.Source(kind="model", text=TEXT, model=app.session_state["model"])).calls[1]
    scores = call.q.numpy()[2] @ call.k.numpy()[2 // (len(call.q) // len(call.k))].T * call.options["scale"]
    e = np.tril(np.exp(scores))
    bars, name = bar_charts(app)["nobody_bars"].series, translator("en")("attention_today.nobody.to_nobody")
    if kind == "by_one":
        nobody = (1 / (1 + e.sum(-1)))[1:].mean()
        assert float(bars[name][2]) == pytest.approx(nobody, abs=1e-5)
    else:
        assert name not in bars, "without a sink nothing goes to nobody"
    assert checked(app, "nobody")[0] == checked(app, "nobody")[1] > 5


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("section", ["attribution", "switch_off"])
@pytest.mark.parametrize(("family", "has_sink"), [("gpt_oss", True), ("llama", False)])
def test_next_word_says_sink_place(open_family, lang, section, family, has_sink):
    """Parts of a logit have the sink in them, and the section and the chip of the source say so."""
    app, t = open_family(family, "next_word", section=section, lang=lang), translator(lang)
    assert not app.exception and not app.error
    assert [t(key) in texts(app) for key in ("next_word.sink", "note.sink")] == [has_sink, has_sink]
    passing, n = checked(app, section)
    assert passing == n > 0


def test_shared_layers_have_models_numbers(open_family):
    """Layers 1 and 3 of 4 attend: with both in a group, layer 3 reads the keys of layer 1."""
    app = open_family("lfm2", "share_kv", section="across_layers", reading_layer=3)
    assert app.session_state["reading_layer"] == 3 and not app.exception
    assert [list(slider.options) for slider in app.select_slider if slider.key == "reading_layer"] == [["1", "3"]]
    passing, n = checked(app, "across_layers")
    assert passing == n > 3


@pytest.mark.parametrize("family", ["gpt_oss", "flint", "granite_swa"])
def test_checks_see_missing_sink(tmp_path, family):
    """A trace without the sink that was asked for fails the checks of its rows and of its outputs."""
    trace = capture(checkpoints.open_folder(checkpoints.save(family, tmp_path / family)), TEXT)
    options = trace.calls[0].options
    without = replace(trace.calls[0], options={name: value for name, value in options.items() if name != "sink"})
    wrong = replace(trace, stacks={"decoder": (without, *trace.calls[1:])}).multi_head(0)
    results = {check.key: check.passed for check in attention_checks(wrong, **options)}
    right = {check.key: check.passed for check in attention_checks(trace.multi_head(0), **options)}
    assert not results["truth.rows_sink"] and not results["truth.sdpa"]
    assert all(right.values())


@pytest.mark.parametrize("family", ["qwen3_next", "afmoe", "laguna", "lfm3"])
def test_row_check_sees_missing_gate(open_family, monkeypatch, family):
    """Without its gate a layer hands on something else than the model's own layer, and the check of a row says so."""
    app = open_family(family, section="all_heads", layer=1)
    source = specs.Source(kind="model", text=TEXT, model=app.session_state["model"])
    assert compute.recount.scene_row_error(source, 0, specs.Mask())[2] < 1e-4
    monkeypatch.setattr(import_module("viz.models.capture"), "read_gate", lambda *_: None)
    changed_source = replace(source, text=f"{TEXT} {TEXT}")
    assert compute.recount.scene_row_error(changed_source, 0, specs.Mask())[2] > 1e-2


def test_ranges_are_written_short():
    """Runs of three and more are ranges."""
    assert ranges((0, 1, 2, 4, 6, 7)) == "0-2, 4, 6, 7" and ranges(()) == ""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unread_layers_are_noted(open_family, monkeypatch, lang):
    """Fewer layers than the files hold are shown with a word on it; a whole model without one."""
    app = open_family("llama", heads_view="row", lang=lang)
    sentence = translator(lang)("note.layers_unread", n=3)
    assert sentence not in texts(app)
    monkeypatch.setattr("viz.models.layout.LoadedModel.n_unread_layers", 3)
    assert sentence in texts(app.run())
