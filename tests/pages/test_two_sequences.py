"""The page of two sequences without a browser: rectangles are torch's, texts are kept, a model writes."""

import json

import pytest
import torch
from torch.testing import assert_close

from tests import checkpoints
from tests.conftest import walk
from tests.ui.test_grid import sent
from tests.views.test_maps import unpack
from viz.core.attention import row_softmax
from viz.core.scoring import AdditiveWeights, additive
from viz.models import capture, load
from viz.models.cross import pair
from viz.text import LANGUAGES, translator
from viz.ui import compute, controls

PAIR = controls.pairs()[0]
T = translator("en")


def badge(app):
    """The badge: its title, and how many checks it has."""
    box = next(box for box in app.main.get("expander") if box.label[:1] in "✓✗")
    return box.label, len([line for line in walk(box) if getattr(line, "type", "") == "markdown"])


def said(app):
    return [element.value for kind in ("markdown", "caption", "text", "info", "error") for element in app.get(kind)]


def cells(wall, layer, head):
    codes = wall["values"].view(-1, wall["rows"], wall["columns"])[layer * wall["n_heads"] + head]
    return codes.float() / 65535


def minilm():
    return pair(*(capture(load(compute.DEFAULT_MODEL), text) for text in (PAIR.target, PAIR.text)))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("source", controls.SOURCES)
def test_every_source_in_both_languages(open_app, source, lang):
    app, t = open_app("two_sequences", source=source, lang=lang), translator(lang)
    assert not app.exception and not app.error
    assert badge(app) == (t("truth.passed", n=8), 8)
    wall, head, data = sent(app)
    queries, keys = data["axes"]["queries"]["labels"], data["axes"]["keys"]["labels"]
    assert (wall["n_queries"], wall["n_keys"]) == (head["rows"], head["columns"]) == (len(queries), len(keys))
    assert not data["axes"]["same"] and "sleepy" in queries and "animal" in keys
    assert queries[data["choice"]["query"]] == "its"
    assert {"entropy", "same", "first"} <= set(wall["order"]) and "distance" not in wall["order"]
    assert any(t("two_sequences.map_cross", rows=len(queries), columns=len(keys)) == one for one in said(app))
    table = next(one for one in said(app) if one.startswith("| | "))
    assert f"{len(queries)} × {len(keys)}" in table and f"{len(queries)} × {len(queries)}" in table


def test_the_rectangle_is_the_models_and_its_lock_counts_tokens_of_each_text(open_app):
    app = open_app("two_sequences", cross_key=2)
    wall, head, data = sent(app)
    seen = minilm()
    for i in range(6):
        for h in (0, 7):
            assert_close(cells(wall, i, h), seen.layer(i).weights[h], atol=1e-5, rtol=0)
    assert_close(head["scores"].view(13, 16), seen.layer(3).masked[1])
    assert (data["choice"]["query"], data["choice"]["key"]) == (6, 2)
    assert float(seen.layer(3).weights[1, 6, 2]) > 0.7, "its finds animal"


@pytest.mark.parametrize(("between", "n"), [("target", 13), ("source", 16)])
def test_a_text_by_itself_is_a_square_with_a_lock_of_its_own(open_app, between, n):
    wall, _, data = sent(open_app("two_sequences", between=between, query=3, cross_query=11, mask="causal"))
    text = PAIR.text if between == "source" else PAIR.target
    causal = torch.ones(n, n).tril().bool()
    assert_close(
        cells(wall, 3, 1), capture(load(compute.DEFAULT_MODEL), text).layer(3, allowed=causal).weights[1], atol=1e-5,
        rtol=0,
    )  # fmt: skip
    assert data["axes"]["same"]
    assert data["choice"]["query"] == 3


def test_the_scoring_functions_are_the_cores(open_app):
    app = open_app("two_sequences", hidden=4, score_seed=3, head=5)
    header, blocks = next(
        unpack(one.proto.bytes) for one in app.get("bidi_component") if one.proto.component_name == "headlight.maps"
    )
    maps = torch.tensor(blocks["values"]).view(3, header["rows"], header["n"])
    trace = minilm().layer(3)
    q, k = trace.q[5], trace.k[5]
    drawn = additive(q, k, AdditiveWeights.random(32, 32, 4, seed=3))
    for found, want in zip(maps, (q @ k.T, q @ k.T / 32**0.5, drawn), strict=True):
        assert_close(found, row_softmax(want), atol=1e-5, rtol=0)
    table = next(frame.value for frame in app.dataframe if "tanhs" in frame.value)
    assert table["parameters"].tolist() == [0, 0, (32 + 32 + 1) * 4]
    assert table["flops"].tolist() == [2 * 13 * 16 * 32] * 2 + [2 * (13 * 32 + 16 * 32 + 13 * 16) * 4]
    assert table["held"].tolist() == [0, 0, 13 * 16 * 4]


def test_widths_are_free_but_one(open_app):
    app = open_app("two_sequences", source="words", two_d_model=11, two_d_memory=7, two_d_value=3, two_d_output=5)
    shapes = next(frame.value for frame in app.dataframe if "means" in frame.value)
    found = dict(zip(shapes["name"], shapes["shape"], strict=True))
    assert found["W_Q"] == "11 × 8" and found["W_K"] == "7 × 8" and found["W_V"] == "7 × 6" and found["W_O"] == "6 × 5"
    assert found["A"] == "2 × 11 × 12" and found["Y"] == "11 × 5"
    assert T("two_sequences.bare_no_dot", q=11, k=7) in said(app)
    app.number_input(key="two_d_memory").set_value(11).run()
    assert any(T("two_sequences.bare_dot", shape="11 × 12") == one for one in said(app))
    assert badge(app)[0].startswith("✓")


@pytest.mark.parametrize(
    ("link", "shape"),
    [
        ({"target": "why", "text": "word " * 600}, (3, 512)),
        ({"target": "word " * 600, "text": "why", "merge": 1, "hide": 1, "what": "scores"}, (510, 1)),
        ({"target": "<b>x</b> ![a](http://e.com/a.png) $y$ #000001", "source": "words"}, None),
        ({"target": PAIR.text, "text": PAIR.text}, (16, 16)),
    ],
)
def test_lengths_that_differ_wildly_and_hostile_words(open_app, link, shape):
    app = open_app("two_sequences", **link)
    assert not app.exception and not app.error
    assert badge(app)[0].startswith("✓")
    wall, _, data = sent(app)
    assert shape is None or (wall["n_queries"], wall["n_keys"]) == shape
    assert not any("e.com" in one.value for one in app.markdown)
    if shape == (16, 16):  # the same text twice is still two texts
        assert not data["axes"]["same"]
        assert_close(
            cells(wall, 3, 1), capture(load(compute.DEFAULT_MODEL), PAIR.text).layer(3).weights[1], atol=1e-5, rtol=0
        )


def test_an_empty_text_says_what_to_do_and_keeps_the_other(open_app):
    app = open_app("two_sequences", target="  ", lang="zh")
    assert [error.value for error in app.error] == [translator("zh")("two_sequences.empty")]
    assert app.text_area(key="target").value == "  "
    app.text_area(key="target").set_value("狗").run()
    assert not app.error and badge(app)[0].startswith("✓")
    app.text_area(key="text").set_value("").run()
    assert [error.value for error in app.error] == [translator("zh")("error.empty")]
    app.text_area(key="text").set_value("cat").run()
    assert app.text_area(key="target").value == "狗"


def test_a_pair_fills_both_boxes_and_the_link_holds_them(open_app):
    app = open_app("two_sequences", source="words")
    app.selectbox(key="_pair").set_value("mixed").run()
    mixed = next(one for one in controls.pairs() if one.code == "mixed")
    assert (app.text_area(key="text").value, app.text_area(key="target").value) == (mixed.text, mixed.target)
    wall, _, data = sent(app)
    assert data["axes"]["queries"]["labels"][data["choice"]["query"]] == "猫"
    assert app.query_params["target"] == mixed.target
    app.button[0].click().run()
    assert (app.text_area(key="text").value, app.text_area(key="target").value) == (mixed.target, mixed.text)
    assert sent(app)[0]["n_queries"] == wall["n_keys"]


@pytest.fixture
def family(monkeypatch, tmp_path):
    """A small checkpoint named on the command line."""

    def save(name):
        entry = checkpoints.offered(name, tmp_path / name)
        monkeypatch.setattr(compute, "local_entries", lambda: (entry,))
        return entry

    return save


def test_without_an_encoder_decoder_the_page_says_what_to_do(open_app):
    app = open_app("two_sequences")
    assert any(T("two_sequences.no_model", model="t5-small") == one for one in said(app))
    assert T("two_sequences.changes_lead") in said(app)
    assert "X is the target, as before" in " ".join(said(app))
    assert any("--model" in code.value for code in app.code)
    next(one for one in app.button if one.label == T("two_sequences.take_model")).click().run()
    assert not app.exception and not app.error
    sentence = controls.pairs()[-1]
    assert sentence.target in [one.value for one in app.text], "it writes the Chinese"
    assert badge(app) == (T("truth.passed", n=10), 10)
    wall, _, data = sent(app)
    asked, answers = data["choice"]["query"], data["axes"]["keys"]["labels"]
    assert data["axes"]["queries"]["labels"][asked] == "黑"
    assert answers[int(cells(wall, 1, 0)[asked].argmax())] == "cat"


def test_an_encoder_decoder_whose_heads_are_not_shown_is_one_all_the_same(open_app):
    app = open_app("two_sequences", source="embeddings", model="animals-en-zh")
    assert T("two_sequences.own_heads", model="animals-en-zh") in said(app)
    assert T("two_sequences.no_model", model="t5-small") not in said(app) and not app.code[0].value.startswith("stream")
    assert T("two_sequences.changes_lead_seeded") in said(app), "seeded heads have no layer to choose"


def test_a_translator_that_does_not_know_the_words_says_so(open_app):
    """The default text in the small translator: "the" twice, the end, and twelve words it has never seen."""
    app = open_app("two_sequences", model="animals-en-zh", write=1)
    assert T("two_sequences.unknown", n=12, all=15, token="<unk>") in [one.value for one in app.warning]
    table = next(one for one in said(app) if one.startswith("| | "))
    assert "X holds the decoder's states" in table and "as before" not in table
    known = controls.pairs()[-1]
    app = open_app("two_sequences", model="animals-en-zh", write=1, text=known.text, target=known.target)
    assert not app.warning


def test_texts_that_are_cut_for_the_scores_are_said_to_be(open_app):
    cut = T("two_sequences.first", n=128)
    app = open_app("two_sequences", source="words", text="word " * 129, target="why")
    assert [one.value for one in app.caption].count(cut) == 2
    app = open_app("two_sequences", source="words", text="word " * 128, target="why")
    assert cut not in [one.value for one in app.caption]


def test_a_real_encoder_decoder_asks_with_heads_of_its_own_and_writes(open_app, family):
    entry = family("bart")
    link = {"model": entry.id, "layer": 1, "head": 2, "text": "the fox was tired.", "target": "Paris is old."}
    app = open_app("two_sequences", **link, write=1, step=3)
    assert not app.exception and not app.error
    assert badge(app) == (T("truth.passed", n=10), 10)
    model = load(entry.id, extra=(entry,))
    together = capture(model, link["text"], target=link["target"])
    wall, _, data = sent(app)
    assert wall["n_layers"] == 3
    assert_close(cells(wall, 2, 4), together.layer(2, stack="cross").weights[4], atol=1e-5, rtol=0)
    assert data["axes"]["queries"]["labels"] == list(together.target.labels)
    assert any("trained for exactly this" in one for one in said(app))
    drawn = json.loads(app.get("plotly_chart")[-1].proto.spec)["data"][0]
    assert len(drawn["customdata"][0]) == len(together.tokens.ids)
    app.segmented_control(key="write_stack").set_value("decoder").run()
    assert badge(app) == (T("truth.passed", n=10), 10)


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_a_model_that_turns_by_position_says_what_that_means(open_app, family, name):
    app = open_app("two_sequences", model=family(name).id, layer=1)
    assert not app.exception and badge(app)[0].startswith("✓")
    assert any(T("two_sequences.rotary") in one for one in said(app))
