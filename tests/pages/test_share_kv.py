"""The Sharing page: one G for everything on it, checks that hold and break when they should, counts that are right."""

import pytest
import torch

from tests.pages.test_heads import charts, numbers
from tests.views.test_sharing import unpack
from viz.core.cost import kv_cache_bytes, parameters
from viz.core.measures import total_variation
from viz.core.spec import AttentionSpec
from viz.models.presets import presets
from viz.models.sharing import with_fewer
from viz.models.twins import GROUPS, twin_id
from viz.text import LANGUAGES, translator
from viz.ui import compute, controls, kv_saves

TEXT = controls.examples()[0].text
REAL = compute.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)
T = translator("en")


def view(app, name):
    """What a view in the browser is sent."""
    found = [one.proto for one in app.get("bidi_component") if one.proto.component_name.endswith(f".{name}")]
    return unpack(found[0].bytes)


def badge(app):
    return app.expander[0]


def tables(app):
    return [one.value for one in app.dataframe]


def markdown(app):
    return [one.value for one in app.markdown]


@pytest.mark.parametrize("G", [1, 2, 3, 4, 6, 12])
def test_every_g_of_a_real_layer(open_app, G):
    app = open_app("share_kv", n_kv_heads=G)
    assert badge(app).label == T("truth.passed", n=6 if G in (1, 12) else 5)
    sent = view(app, "sharing")
    assert (sent["n_kv_heads"], sent["n_heads"]) == (G, 12)
    assert sent["reads"] == [i * G // 12 for i in range(12)]
    pooled = with_fewer(compute.read(REAL), G).multi_head(3)
    torch.testing.assert_close(torch.tensor(sent["k"].reshape(G, 16, 32)), pooled.k)
    weights = torch.tensor(sent["weights"].reshape(12, 16, 16) / 65535, dtype=torch.float32)
    torch.testing.assert_close(weights, pooled.weights, atol=1e-5, rtol=0)
    cache = view(app, "kv_cache")
    assert cache["token_bytes"] == 6 * G * 64 * 2
    assert cache["mha_token_bytes"] == 6 * 12 * 64 * 2


def test_how_far_the_converted_layer_is(open_app):
    app, before = open_app("share_kv", n_kv_heads=2), compute.read(REAL).layer(3).weights
    far = {g: total_variation(with_fewer(compute.read(REAL), g).layer(3).weights, before) for g in (1, 2, 3, 4, 6, 12)}
    shown = numbers(charts(app)["far_g"]["data"][0]["y"])
    torch.testing.assert_close(torch.tensor(shown), torch.stack([one.mean() for one in far.values()]))
    torch.testing.assert_close(torch.tensor(numbers(charts(app)["far_head"]["data"][0]["y"])), far[2].mean(-1))
    assert T("share_kv.convert_found", G=2, own=12, far=f"{float(far[2].mean()):.2f}") in markdown(app)


@pytest.mark.parametrize("link", [{"model": "twin-g8", "text": "the"}, {"mask": "padding", "pad": 32}])
def test_where_no_weight_can_move_nothing_is_compared(open_app, link):
    app = open_app("share_kv", n_kv_heads=2, **link)
    assert T("share_kv.convert_nothing") in [one.value for one in app.caption]
    assert "far_g" not in charts(app)


def test_the_layers_own_g_pools_nothing(open_app):
    app = open_app("share_kv", n_kv_heads=12)
    assert T("share_kv.convert_own", own=12) in markdown(app)


@pytest.mark.parametrize(("link", "own"), [({}, False), ({"n_kv_heads": 12}, True),
                                           ({"n_kv_heads": 12, "mask": "causal"}, False)])  # fmt: skip
def test_pooled_or_masked_numbers_are_not_called_the_models_own(open_app, link, own):
    said = [one.value for one in open_app("share_kv", **link).caption]
    assert any(T("source.model_own") in one for one in said) == own


@pytest.mark.parametrize("source", ["words", "embeddings"])
def test_seeded_heads_follow_the_same_control(open_app, source):
    app = open_app("share_kv", source=source, n_kv_heads=1)
    assert view(app, "sharing")["n_kv_heads"] == 1
    assert badge(app).label == T("truth.passed", n=6)
    app = app.select_slider(key="n_kv_heads").set_value(4).run()
    assert not app.exception
    assert view(app, "sharing")["n_kv_heads"] == 4
    assert any(T("share_kv.check_mha") in one for one in markdown(app))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_mistake_breaks_the_check_and_says_so(open_app, lang):
    app, t = open_app("share_kv", lang=lang, mistake=1, n_kv_heads=4), translator(lang)
    assert badge(app).label == t("truth.failed", n=5)
    assert view(app, "sharing")["reads"] == [0, 1, 2, 3] * 3
    assert len(app.warning) == 1
    app = app.select_slider(key="n_kv_heads").set_value(1).run()  # nothing to mix up
    assert badge(app).label == t("truth.passed", n=6)
    assert t("share_kv.mistake_none") in [one.value for one in app.caption]
    assert not app.warning and not app.info


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_mistake_that_no_check_sees_is_not_said_to_be_seen(open_app, lang):
    app, t = open_app("share_kv", lang=lang, mistake=1, n_kv_heads=4, mask="padding", pad=32), translator(lang)
    assert badge(app).label == t("truth.passed", n=5)
    assert not app.warning
    assert [one.value for one in app.info] == [t("share_kv.mistake_quiet", wrong=8, H=12)]


def test_the_table_counts_every_g(open_app):
    table = tables(open_app("share_kv", n_kv_heads=4))[0]
    assert [row.split("G = ")[1].split()[0] for row in table.iloc[:, 0]] == ["12", "6", "4", "3", "2", "1"]
    assert table.iloc[:, 0][2].startswith("→")
    expected = [parameters(AttentionSpec(d_model=384, n_heads=12, n_kv_heads=g)).total for g in (12, 6, 4, 3, 2, 1)]
    assert list(table.iloc[:, 3]) == expected
    assert expected[0] == 589_824


@pytest.mark.parametrize(
    ("link", "both_ways", "all_columns"),
    [({}, True, True), ({"mask": "padding", "pad": 2}, True, False), ({"mask": "window", "width": 1}, True, False),
     ({"mask": "causal"}, False, True), ({"mask": "both", "pad": 2}, False, False),
     ({"model": "twin-g8"}, False, True)],
)  # fmt: skip
def test_what_differs_from_a_decoder_is_said(open_app, link, both_ways, all_columns):
    said = [one.value for one in open_app("share_kv", **link).caption]
    assert (T("share_kv.not_causal") in said) == both_ways
    assert (T("share_kv.not_all") not in said) == all_columns


class TestPublished:
    def test_llama_3_8b_at_8192_tokens_is_exactly_one_gib(self, open_app):
        app = open_app("share_kv")
        assert [one.value for one in app.metric] == ["1 GiB", "4 GiB", "1 GiB"]
        assert any("1,073,741,824" in one.value for one in app.latex)

    @pytest.mark.parametrize(
        ("name", "per_token", "mha"),
        [
            ("Llama-2-7B", 524_288, 524_288), ("Llama-2-70B", 327_680, 8 * 327_680), ("Falcon-7B", 8192, 71 * 8192),
            ("Qwen2.5-0.5B", 12_288, 7 * 12_288), ("gpt2", 36_864, 36_864), ("StarCoder", 20_480, 48 * 20_480),
        ],
    )  # fmt: skip
    def test_one_token(self, open_app, name, per_token, mha):
        app = open_app("share_kv", preset=name, n=1)
        ours, theirs, _ = (one.value for one in app.metric)
        assert (ours, theirs) == (kv_saves.bytes_text(per_token), kv_saves.bytes_text(mha))

    def test_every_size_multiplies(self, open_app):
        app = open_app("share_kv", preset="Mistral-7B-v0.1", n=1_000_000, batch=3, layers=5, number="int8")
        size = kv_cache_bytes(
            AttentionSpec(d_model=4096, n_heads=32, n_kv_heads=8), n_tokens=1_000_000, n_layers=5, batch=3,
            bytes_per_value=1,
        )  # fmt: skip
        assert app.metric[0].value == kv_saves.bytes_text(size)
        assert T("share_kv.window", window=4096, w=32, L=32) in [one.value for one in app.caption]
        app = open_app("share_kv", preset="Gemma-2-2B", layers=1)
        assert T("share_kv.window", window=4096, w=13, L=26) in [one.value for one in app.caption]
        across = T("share_kv.across").partition("{")[0]
        assert not any(one.startswith(across) for one in markdown(app)), "one layer has none to share with"
        assert any(one.startswith(across) for one in markdown(open_app("share_kv", layers=2)))

    @pytest.mark.parametrize("name", ["bert-base-uncased", "all-MiniLM-L6-v2"])
    def test_an_encoder_has_no_new_token_to_read_for(self, open_app, name):
        app = open_app("share_kv", preset=name)
        assert T("share_kv.m_read") not in [one.label for one in app.metric]
        assert T("share_kv.encoder") in [one.value for one in app.caption]

    def test_curves(self, open_app):
        curves = charts(open_app("share_kv", preset="Llama-2-70B"))["growth"]["data"]
        assert [one["name"] for one in curves] == ["G = 64 · MHA", "G = 8 · GQA", "G = 1 · MQA"]
        assert curves[1]["y"][-1] == pytest.approx(327.68)  # GB, at a million tokens

    def test_a_model_brings_its_own_layers(self, open_app):
        app = open_app("share_kv").selectbox(key="preset").select("Llama-2-70B").run()
        assert app.number_input(key="layers").value == 80

    @pytest.mark.parametrize(
        ("name", "bad"), [("n", "0"), ("n", "99999999999999"), ("batch", "-1"), ("n_kv_heads", "5")]
    )
    def test_what_cannot_be_asked_for(self, open_app, name, bad):
        app = open_app("share_kv", **{name: bad})
        assert not app.exception
        assert any(name in one.value for one in app.info)

    def test_presets_and_bytes(self):
        assert {"gpt2", "bert-base-uncased", "Llama-2-7B", "Llama-2-70B", "Llama-3-8B", "Mistral-7B-v0.1", "Falcon-7B",
                "Qwen2.5-0.5B", "all-MiniLM-L6-v2", "StarCoder"} <= {one.id for one in presets()}  # fmt: skip
        assert kv_saves.bytes_text(1023) == "1023 B"
        assert kv_saves.bytes_text(3 * 2**40) == "3 TiB"


class TestTwins:
    def test_all_expect_the_word_that_came_next(self, open_app):
        table = tables(open_app("share_kv"))[2]
        assert list(table["G"]) == list(GROUPS)
        assert list(table[T("share_kv.x_next")]) == ["bird"] * 3

    def test_without_the_second_layer_they_do_not(self, open_app):
        table = tables(open_app("share_kv", twin_off="8-9-10-11-12-13-14-15"))[2]
        assert list(table[T("share_kv.x_next")]) == ["bird"] * 3
        assert "bird" not in list(table[T("share_kv.x_next_off")])

    def test_unknown_words_are_said_to_be_unknown_as_text(self, open_app):
        app = open_app("share_kv", words="a zebra ![x](http://e.com/a.png) <b>a</b>")
        said = [one.value for one in app.text if "zebra" in one.value]
        assert len(said) == 1
        assert not app.exception

    @pytest.mark.parametrize("words", ["", "   ", "cat", "cat " * 400])
    def test_any_words(self, open_app, words):
        app = open_app("share_kv", words=words)
        assert not app.exception
        assert bool(app.error) == (not words.strip())

    @pytest.mark.parametrize(("words", "maps"), [("the", 0), ("the cat", 1), ("the cat the", 2)])
    def test_no_head_is_best_at_nothing(self, open_app, words, maps):
        app = open_app("share_kv", words=words)
        table = tables(app)[2]
        assert [set(table[T(f"share_kv.x_{name}")]) == {"—"} for name in ("previous", "induction")] == [
            maps < 1, maps < 2,
        ]  # fmt: skip
        drawn = [one.proto.bytes for one in app.get("bidi_component") if one.proto.component_name.endswith(".maps")]
        assert len(drawn) == 1 + (maps > 0)  # the converted layer's, and the twins'

    def test_a_twin_with_one_key_value_head_cannot_be_pooled(self, open_app):
        said = [one.value for one in open_app("share_kv", model=twin_id(1)).caption]
        assert T("share_kv.own_one", H=8) in said
        assert T("share_kv.own", own=1, H=8) not in said

    def test_a_twin_as_the_models_own_heads(self, open_app):
        app = open_app("share_kv", model=twin_id(2))
        assert view(app, "sharing")["n_kv_heads"] == 2
        assert T("share_kv.own", own=2, H=8) in [one.value for one in app.caption]
        assert badge(app).label == T("truth.passed", n=4)


def test_measured_here(open_app, monkeypatch):
    app = open_app("share_kv")
    monkeypatch.setattr(compute, "decode_seconds", lambda plan, g: 0.001 * g + 0.001)
    compute.decode_time.clear()
    app = app.button(key="measure_decode").click().run()
    assert not app.exception
    took, foretold = (numbers(one["y"]) for one in charts(app)["decode"]["data"])
    assert list(took) == pytest.approx([33, 17, 9, 5, 3, 2])
    assert list(foretold) == pytest.approx([33 * g / 32 for g in (32, 16, 8, 4, 2, 1)])
    compute.decode_time.clear()
