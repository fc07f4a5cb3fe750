"""The Sharing page: one G for everything on it, checks that hold and break when they should, counts that are right."""

import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest
import torch

from pages.share_kv.page import PAGE
from tests.packaged import packaged_file
from tests.pages.share_kv.test_pack import unpack
from tests.running import checked, line_charts, sentences_of
from tests.sections import link_to, section_views
from tests.shown.digests import digests_of
from viz.core.cost.attention import kv_cache_bytes
from viz.core.spec import AttentionSpec
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.models.kv_sharing import with_fewer
from viz.models.trained.twins import REPEATING, twin_id
from viz.text import LANGUAGES, translator
from viz.text.sizes import size as size_text

TEXT = examples()[0].text
REAL = specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)
T = translator("en")
SMOLLM2 = "SmolLM2-135M-Instruct"


def view(app, name):
    """View data by view name."""
    result = [
        element.proto for element in app.get("bidi_component") if element.proto.component_name.endswith(f".{name}")
    ]
    return unpack(result[0].bytes)


def lines(app, section):
    """The live checks of a section, opened in its footer."""
    app.session_state[f"_footer_{section}"] = "checks"
    return [element.value for element in app.run().markdown if element.value[:1] in "✓✗"]


def tables(app):
    return [element.value for element in app.dataframe]


@pytest.mark.parametrize("G", [1, 2, 3, 4, 6, 12])
def test_every_g_of_a_real_layer(open_app, G):
    app = open_app("share_kv", n_kv_heads=G, section="all")
    assert checked(app, "who_shares") == ((8, 8) if G in (1, 12) else (7, 7))
    assert checked(app, "savings") == (3, 3)
    payload = view(app, "sharing")
    assert (payload["n_kv_heads"], payload["n_heads"]) == (G, 12)
    assert payload["reads"] == [i * G // 12 for i in range(12)]
    pooled = with_fewer(compute.read(REAL), G).multi_head(3)
    torch.testing.assert_close(torch.tensor(payload["k"].reshape(G, 16, 32)), pooled.k)
    weights = torch.tensor(payload["weights"].reshape(12, 16, 16) / 65535, dtype=torch.float32)
    torch.testing.assert_close(weights, pooled.weights, atol=1e-5, rtol=0)
    cache = view(app, "kv_cache")
    assert cache["token_bytes"] == 6 * G * 64 * 2
    assert cache["mha_token_bytes"] == 6 * 12 * 64 * 2


@pytest.mark.parametrize(("link", "is_own"), [({}, False), ({"n_kv_heads": 12}, True),
                                           ({"n_kv_heads": 12, "mask": "causal"}, False)])  # fmt: skip
def test_pooled_numbers_not_models_own(open_app, link, is_own):
    for section in ("who_shares", "growing_cache"):
        sentences = [element.value for element in open_app("share_kv", **link_to("share_kv", section), **link).caption]
        assert any(T("source.model_own") in element for element in sentences) == is_own


@pytest.mark.parametrize("source", ["words", "embeddings"])
def test_seeded_heads_follow_the_same_control(open_app, source):
    app = open_app("share_kv", source=source, n_kv_heads=1)
    assert view(app, "sharing")["n_kv_heads"] == 1
    assert checked(app, "who_shares") == (8, 8)
    app = app.select_slider(key="n_kv_heads").set_value(4).run()
    assert not app.exception
    assert view(app, "sharing")["n_kv_heads"] == 4
    assert any(T("share_kv.check_mha") in element for element in lines(app, "who_shares"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_mistake_fails_check_with_warning(open_app, lang, caplog):
    app, t = open_app("share_kv", lang=lang, mistake=1, n_kv_heads=4), translator(lang)
    assert "share_kv, who_shares: truth.sdpa" in caplog.text, "whoever looks after the server can see which it was"
    assert checked(app, "who_shares") == (6, 7)
    assert t("truth.failed") in [element.value for element in app.error]
    failed = [element for element in lines(app, "who_shares") if element.startswith("✗")]
    assert len(failed) == 1
    assert t("truth.sdpa") in failed[0]
    assert view(app, "sharing")["reads"] == [0, 1, 2, 3] * 3
    assert len(app.warning) == 1
    app = app.select_slider(key="n_kv_heads").set_value(1).run()  # nothing to mix up
    assert checked(app, "who_shares") == (8, 8)
    assert [element.value for element in app.warning] == [t("share_kv.mistake_found", wrong=0, H=12, off="0")]
    assert not app.error


@pytest.mark.parametrize(("model", "both_ways"), [("all-MiniLM-L6-v2", True), ("twin-g8", False)])
def test_windows_note_heads_that_look_ahead(open_app, model, both_ways):
    app = open_app("share_kv", **link_to("share_kv", "windows"), model=model)
    assert (T("share_kv.not_causal") in [element.value for element in app.caption]) == both_ways


@pytest.mark.parametrize(
    ("link", "both_ways", "all_columns"),
    [({}, True, True), ({"mask": "padding", "pad": 2}, True, False), ({"mask": "window", "width": 1}, True, False),
     ({"mask": "causal"}, False, True), ({"mask": "both", "pad": 2}, False, False),
     ({"model": "twin-g8"}, False, True)],
)  # fmt: skip
def test_differences_from_decoder_noted(open_app, link, both_ways, all_columns):
    sentences = [element.value for element in open_app("share_kv", section="growing_cache", **link).caption]
    assert (T("share_kv.not_causal") in sentences) == both_ways
    assert (T("share_kv.not_all") not in sentences) == all_columns


class TestPublished:
    def test_llama3_8b_cache_is_one_gib(self, open_app):
        app = open_app("share_kv", section="published")
        assert [element.value for element in app.metric] == ["1 GiB", "4 GiB", "1 GiB"]
        app.session_state["_footer_published"] = "why"
        assert any("1{,}073{,}741{,}824" in element.value for element in app.run().latex)

    def test_every_size_multiplies(self, open_app):
        app = open_app("share_kv", preset="Mistral-7B-v0.1", n=1_000_000, batch=3, number="int8", section="published")
        assert checked(app, "published") == (1, 1)
        size = kv_cache_bytes(
            AttentionSpec(d_model=4096, n_heads=32, n_kv_heads=8), n_tokens=1_000_000, n_layers=32, batch=3,
            bytes_per_value=1,
        )  # fmt: skip
        assert app.metric[0].value == size_text(size)
        assert T("share_kv.window", window="4,096", w=32, L=32) in [element.value for element in app.caption]
        app = open_app("share_kv", preset="Gemma-2-2B", section="published")
        assert T("share_kv.window", window="4,096", w=13, L=26) in [element.value for element in app.caption]

    @pytest.mark.parametrize("name", ["bert-base-uncased", "all-MiniLM-L6-v2"])
    def test_encoder_shows_no_read_metric(self, open_app, name):
        app = open_app("share_kv", preset=name, section="published")
        assert T("share_kv.m_read") not in [element.label for element in app.metric]
        assert T("share_kv.encoder") in [element.value for element in app.caption]

    def test_curves(self, open_app):
        curves = line_charts(open_app("share_kv", preset="Llama-2-70B", n_kv_heads=1, section="published"))["growth"][
            "lines"
        ]
        own_value = T("share_kv.as_published", name="G = 8 · GQA")
        assert [element["name"] for element in curves] == ["G = 64 · MHA", own_value, "G = 1 · MQA"]
        assert curves[1]["y"][-1] == pytest.approx(327.68e9)  # bytes, at a million tokens

    @pytest.mark.parametrize(("G", "has_curve"), [(4, True), (3, False)])
    def test_dividing_g_has_curve(self, open_app, G, has_curve):
        curves = line_charts(open_app("share_kv", preset="Llama-2-70B", n_kv_heads=G, section="published"))["growth"][
            "lines"
        ]
        assert (f"G = {G} · GQA" in [element["name"] for element in curves]) == has_curve


class TestTwins:
    def test_without_second_layer_prediction_fails(self, open_app):
        table = tables(open_app("share_kv", off="8-9-10-11-12-13-14-15", section="converted", view="copying"))[0]
        assert list(table[T("share_kv.x_next")]) == ["bird"] * 3
        assert "bird" not in list(table[T("share_kv.x_next_off")])

    def test_link_compares_training_checkpoints(self, open_app):
        app = open_app("share_kv", section="converted", view="copying")
        (html,) = [element.proto.body for element in app.get("html") if element.proto.body.startswith('<a class="see"')]
        link = re.findall('href="([^"]*)"', html)[0]
        place, requests = urlsplit(unescape(link)), dict(parse_qsl(urlsplit(unescape(link)).query))
        assert (place.path, requests["section"], requests["text"]) == ("heads", "compare", REPEATING)
        assert (requests["model"], requests["model_b"]) == ("twin-g8-step-200", "twin-g8")
        assert T("share_kv.see_it_learn", G=8, n=200) in unescape(html)

    @pytest.mark.parametrize("words", ["", "   ", "cat", "cat " * 400])
    def test_any_words(self, open_app, words):
        app = open_app("share_kv", words=words, section="converted", view="copying")
        assert not app.exception
        assert bool(app.error) == (not words.strip())

    @pytest.mark.parametrize(("words", "maps"), [("the", 0), ("the cat", 1), ("the cat the", 2)])
    def test_no_head_is_best_at_nothing(self, open_app, words, maps):
        app = open_app("share_kv", words=words, section="converted", view="copying")
        table = tables(app)[0]
        assert [set(table[T(f"share_kv.x_{name}")]) == {"—"} for name in ("previous", "induction")] == [
            maps < 1, maps < 2,
        ]  # fmt: skip
        map_views = [
            element.proto.bytes
            for element in app.get("bidi_component")
            if element.proto.component_name.endswith(".maps")
        ]
        assert len(map_views) == (maps > 0)
        assert checked(app, "copying") == (2 * maps + 1, 2 * maps + 1)

    def test_single_kv_head_twin_not_poolable(self, open_app):
        sentences = [element.value for element in open_app("share_kv", model=twin_id(1)).caption]
        assert T("share_kv.own_one", H=8) in sentences
        assert T("share_kv.own", own=1, H=8) not in sentences

    def test_twin_shows_its_own_g(self, open_app):
        app = open_app("share_kv", model=twin_id(2))
        assert view(app, "sharing")["n_kv_heads"] == 2
        assert T("share_kv.own", own=2, H=8) in [element.value for element in app.caption]
        assert checked(app, "who_shares") == (6, 6)  # RoPE turns k after its projection: no check of it
        assert checked(open_app("share_kv", model=twin_id(2), section="growing_cache", view="savings"), "savings") == (
            3,
            3,
        )


NAMES = [view.name for section in PAGE.sections for view in section_views(section)]
WITHOUT_G = "copying"
"""The view whose decoders have a G of their own: its control would do nothing there."""
ALWAYS = {"growing_cache": 5, "latent": 12, "across_layers": 7, "windows": 4, "savings": 3, "published": 1}
ALWAYS |= {"copying": 5}
"""Live checks that a section has whatever the source."""


def test_link_turns_mistake_on(open_app):
    app = open_app("share_kv", mistake=1, head=3, n_kv_heads=4)
    assert app.session_state["section"] == "who_shares"
    assert app.toggle(key="mistake").value


@pytest.mark.parametrize("section", [name for name in NAMES if name != WITHOUT_G])
def test_g_control_shown_where_used(open_app, section):
    app = open_app("share_kv", **link_to("share_kv", section), n_kv_heads=6)
    assert app.select_slider(key="n_kv_heads").value == 6
    assert T("share_kv.says_shared", H=12, each=2) in sentences_of(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_model_with_shared_heads_opens(open_app, memory_given_back, lang):
    """9 query heads on 3, with keys and values of their own: 2 x 30 x 3 x 64 x 2 bytes a token, times 8,192."""
    packaged_file(SMOLLM2)
    app, t = open_app("share_kv", lang=lang, section="growing_cache", n_kv_heads=2), translator(lang)
    app.button(key="_real_sharing").click().run()
    assert not app.exception and (app.session_state["model"], app.session_state["n_kv_heads"]) == (SMOLLM2, 3)
    sentences = [element.value for element in app.caption]
    retained, unshared = size_text(2 * 30 * 3 * 64 * 2 * 8192), size_text(2 * 30 * 9 * 64 * 2 * 8192)
    assert t("share_kv.real_cache", n="8,192", L=30, kept=retained, unshared=unshared) in sentences
    assert t("source.model_own_packaged") in sentences, "nothing is pooled"
    assert t("share_kv.not_causal") not in sentences
    visible = view(app, "kv_cache")
    assert (visible["token_bytes"], visible["mha_token_bytes"], visible["n_kv_heads"]) == (23_040, 69_120, 3)
    own_value = compute.read(specs.Source(kind="model", text=TEXT, model=SMOLLM2)).calls[3].k
    torch.testing.assert_close(torch.tensor(visible["k"]).reshape(own_value.shape), own_value, atol=0, rtol=0)
    assert checked(app, "growing_cache") == (5, 5)
    assert not any(button.key == "_real_sharing" for button in app.button)


def test_no_shared_model_no_button(open_app, monkeypatch):
    monkeypatch.setattr("pages.share_kv.context.models_here", dict)
    assert not any(button.key == "_real_sharing" for button in open_app("share_kv").button)


def test_g_control_hidden_but_kept(open_app):
    small = {"source": "words", "text": "a b c"} | link_to("share_kv", WITHOUT_G)
    app = open_app("share_kv", **small, n_kv_heads=4)
    assert digests_of(app) == digests_of(open_app("share_kv", **small, n_kv_heads=1))
    assert all(element.key != "n_kv_heads" for element in app.select_slider)
    assert app.query_params["n_kv_heads"] == "4"
    app.button_group(key="section").set_value("who_shares").run()
    assert app.select_slider(key="n_kv_heads").value == 4
