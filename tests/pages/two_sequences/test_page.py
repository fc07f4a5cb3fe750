"""The page of two sequences without a browser: rectangles are torch's, texts are kept, a model writes."""

import json
from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from pages.two_sequences import differences
from tests.frame.head_grid.test_grid import payloads
from tests.running import checked, matrices, sentences_of
from viz import limits
from viz.frame import compute
from viz.frame.examples import pairs
from viz.models import capture
from viz.models.cross import pair
from viz.models.load import load
from viz.text import translator

PAIR = pairs()[0]
T = translator("en")


N_CHECKS = {"translation": 5, "cross_attention": 11, "differences": 6, "scoring": 5, "kinds": 4, "widths": 2}
"""Number of live checks by section, equal for every source."""


def all_hold(app):
    """Return True if every section has its checks and all pass."""
    return {name: checked(app, name) for name in N_CHECKS} == {name: (n, n) for name, n in N_CHECKS.items()}


def page_sentences(app):
    return sentences_of(app) + [
        element.value for kind in ("caption", "text", "info", "error") for element in app.get(kind)
    ]


def cells(wall, layer, head):
    codes = wall["values"].view(-1, wall["rows"], wall["columns"])[layer * wall["n_heads"] + head]
    return codes.float() / 65535


def minilm():
    return pair(*(capture(load(compute.DEFAULT_MODEL), text) for text in (PAIR.target, PAIR.text)))


@pytest.mark.parametrize(("between", "n"), [("target", 13), ("source", 16)])
def test_single_text_square_with_own_lock(open_app, between, n):
    wall, _, data = payloads(
        open_app("two_sequences", between=between, query=3, cross_query=11, mask="causal", section="cross_attention")
    )
    text = PAIR.text if between == "source" else PAIR.target
    causal = torch.ones(n, n).tril().bool()
    assert_close(
        cells(wall, 3, 1), capture(load(compute.DEFAULT_MODEL), text).layer(3, allowed=causal).weights[1], atol=1e-5,
        rtol=0,
    )  # fmt: skip
    assert data["axes"]["same"]
    assert data["choice"]["query"] == 3


def test_widths_are_free_but_one(open_app):
    widths = {"two_d_model": 11, "two_d_memory": 7, "two_d_value": 3, "two_d_output": 5}
    app = open_app("two_sequences", source="words", section="scoring", score_show="widths", **widths)
    shapes = next(frame.value for frame in app.dataframe if "means" in frame.value)
    result = dict(zip(shapes["name"], shapes["shape"], strict=True))
    assert (
        result["W_Q"] == "11 × 8" and result["W_K"] == "7 × 8" and result["W_V"] == "7 × 6" and result["W_O"] == "6 × 5"
    )
    assert result["A"] == "2 × 11 × 12" and result["Y"] == "11 × 5"
    assert T("two_sequences.bare_no_dot", q=11, k=7) in page_sentences(app)
    views = [json.loads(element.proto.json) for element in app.get("bidi_component")]
    (plotted,) = next(view for view in views if isinstance(view, list) and "products" in view[0])
    boxes = {box["name"]: (box["rows"], box["columns"], box["side_by_side"]) for box in plotted["products"][0]["boxes"]}
    assert boxes == {"X": (11, 11, 1), "W_Q": (11, 8, 1), "Q": (11, 4, 2)}
    boxes = {box["name"]: (box["rows"], box["columns"], box["side_by_side"]) for box in plotted["products"][3]["boxes"]}
    assert boxes == {"Q": (11, 4, 1), "Kᵀ": (4, 12, 1), "A": (11, 12, 1)}
    app.number_input(key="two_d_memory").set_value(11).run()
    assert any(T("two_sequences.bare_dot", shape="11 × 12") == element for element in page_sentences(app))
    assert checked(app, "widths") == (2, 2)


@pytest.mark.parametrize(
    ("link", "shape"),
    [
        ({"target": "why", "text": "word " * 600}, (3, 512)),
        ({"target": "word " * 600, "text": "why", "merge": 1, "hide": 1, "what": "scores"}, (510, 1)),
        ({"target": "<b>x</b> ![a](http://e.com/a.png) $y$ #000001", "source": "words"}, None),
        ({"target": PAIR.text, "text": PAIR.text}, (16, 16)),
    ],
)
def test_extreme_lengths_and_hostile_words(open_app, link, shape):
    app = open_app("two_sequences", section="all", **link)
    assert not app.exception and not app.error
    counts = N_CHECKS | ({"cross_attention": 9} if "merge" in link else {})  # a word's keys are added up in the map
    assert {name: checked(app, name) for name in N_CHECKS} == {name: (n, n) for name, n in counts.items()}
    wall, _, data = payloads(app)
    assert shape is None or (wall["n_queries"], wall["n_keys"]) == shape
    assert not any("e.com" in element.value for element in app.markdown)
    if shape == (16, 16):  # the same text twice is still two texts
        assert not data["axes"]["same"]
        assert_close(
            cells(wall, 3, 1), capture(load(compute.DEFAULT_MODEL), PAIR.text).layer(3).weights[1], atol=1e-5, rtol=0
        )


def test_empty_text_error_keeps_other(open_app):
    app = open_app("two_sequences", target="  ", lang="zh", section="cross_attention")
    assert [error.value for error in app.error] == [translator("zh")("error.empty")]
    assert app.text_area(key="target").value == "  "
    app.text_area(key="target").set_value("狗").run()
    assert not app.error and checked(app, "cross_attention") == (11, 11)
    app.text_area(key="text").set_value("").run()
    assert [error.value for error in app.error] == [translator("zh")("error.empty")]
    app.text_area(key="text").set_value("cat").run()
    assert app.text_area(key="target").value == "狗"


def test_pair_fills_boxes_and_link(open_app):
    app = open_app("two_sequences", source="words", section="cross_attention")
    app.selectbox(key="_pair").set_value("mixed").run()
    mixed = next(element for element in pairs() if element.code == "mixed")
    assert (app.text_area(key="text").value, app.text_area(key="target").value) == (mixed.text, mixed.target)
    wall, _, data = payloads(app)
    assert data["axes"]["queries"]["labels"][data["choice"]["query"]] == "猫"
    assert app.query_params["target"] == mixed.target
    app.button[0].click().run()
    assert (app.text_area(key="text").value, app.text_area(key="target").value) == (mixed.target, mixed.text)
    assert payloads(app)[0]["n_queries"] == wall["n_keys"]


def test_translator_reads_no_second_text(open_app, monkeypatch):
    """It writes the target itself: the default one, of which nothing is shown, is not read."""
    targets, run = [], compute.capture
    monkeypatch.setattr(compute, "capture", lambda *a, **o: targets.append(o["target"]) or run(*a, **o))
    app = open_app("two_sequences", model="animals-en-zh", text="the red cat", section="translation")
    assert targets == [None] and checked(app, "translation") == (5, 5)


def test_opening_shows_translator(open_app):
    """Default view: the translator's sentence, no second text box, and the aligning head."""
    app, sentence = open_app("two_sequences"), pairs()[-1]
    assert not app.warning and not app.info and not app.error
    assert app.session_state["section"] == "translation"
    assert {sentence.text, sentence.target} <= {element.value for element in app.text}
    assert [element.key for element in app.text_area] == ["text"]
    assert (app.session_state["model"], app.session_state["head"]) == ("animals-en-zh", 0)
    assert not app.query_params


def test_target_beside_chinese_is_chinese(open_app):
    app = open_app("two_sequences", section="cross_attention", source="words", text="这只动物没有过马路。")
    assert app.text_area(key="target").value == "那只小狗困得不想走到街对面。"


def test_translator_offered_without_encoder_decoder(open_app):
    app = open_app("two_sequences", section="translation", model=compute.DEFAULT_MODEL)
    sentence = pairs()[-1]
    assert T("two_sequences.no_model", model="t5-small") in page_sentences(app) and T(
        "two_sequences.example"
    ) in page_sentences(app)
    assert any("--model" in code.value for code in app.code)
    assert {sentence.text, sentence.target} <= {element.value for element in app.text}, "it writes the Chinese"
    assert checked(app, "translation") == (5, 5)
    app.button_group(key="_footer_translation").set_value("checks").run()
    assert any(T("two_sequences.check_decoder", layers=2) in element for element in page_sentences(app))
    next(element for element in app.button if element.label == T("two_sequences.take_model")).click().run()
    assert not app.exception and not app.error
    assert {sentence.text, sentence.target} <= {element.value for element in app.text}
    assert checked(app, "translation") == (5, 5)
    assert T("two_sequences.example") not in page_sentences(app)
    assert T("two_sequences.no_model", model="t5-small") not in page_sentences(app)
    assert (app.session_state["layer"], app.session_state["head"]) == (1, 0)
    next(element for element in app.button if element.label == T("two_sequences.use")).click().run()
    assert app.session_state["section"] == "cross_attention"
    wall, _, data = payloads(app)
    looking, keys = data["choice"]["query"], data["axes"]["keys"]["labels"]
    assert data["axes"]["queries"]["labels"][looking] == "黑"
    assert keys[int(cells(wall, 1, 0)[looking].argmax())] == "cat"


def test_translator_excluded_by_operator(open_app, monkeypatch):
    monkeypatch.setattr(limits, "MODELS", (compute.DEFAULT_MODEL,))
    app = open_app("two_sequences", section="translation")
    assert not app.exception and not app.error and not app.get("plotly_chart")
    assert T("two_sequences.no_model", model="t5-small") in page_sentences(app)


def test_encoder_decoder_with_seeded_heads(open_app):
    app = open_app("two_sequences", source="embeddings", model="animals-en-zh", section="translation")
    assert T("two_sequences.own_heads", model="animals-en-zh") in page_sentences(app)
    assert T("two_sequences.no_model", model="t5-small") not in page_sentences(app) and not app.code


def test_differences_name_source_states(open_app):
    head = f"| {T('two_sequences.row_what')} | "

    def table(**link):
        return next(
            element
            for element in page_sentences(open_app("two_sequences", section="differences", **link))
            if head in element
        )

    assert "X is the target" in table()
    visible = table(model="animals-en-zh")
    assert "X holds the decoder's states" in visible and "X is the target" not in visible


def test_head_control_without_grid(open_app):
    app = open_app("two_sequences", section="scoring")
    app.slider(key="head").set_value(5).run()
    app.slider(key="layer").set_value(2).run()
    assert any(element.startswith("Layer 2, head 5:") for element in page_sentences(app))
    app.button_group(key="section").set_value("cross_attention").run()
    assert (payloads(app)[2]["choice"]["layer"], payloads(app)[2]["choice"]["head"]) == (2, 5)
    app.selectbox(key="model").set_value("animals-en-zh").run()  # it has fewer heads
    assert not app.exception and app.session_state["head"] < 5


@pytest.mark.usefixtures("without_source_checks")
def test_wrong_count_fails_check(open_app, monkeypatch):
    """A count of what is to be learned that forgets W_V."""
    count = differences.parameters
    monkeypatch.setattr(differences, "parameters", lambda spec: replace(count(spec), w_v=0))
    assert checked(open_app("two_sequences", section="differences"), "differences") == (2, 3)


def test_truncated_texts_noted(open_app):
    cut = T("two_sequences.first", n=128)
    app = open_app("two_sequences", source="words", text="word " * 129, target="why", section="all")
    assert [element.value for element in app.caption].count(
        cut
    ) == 4  # what changes, scoring functions, both kinds, widths
    app = open_app("two_sequences", source="words", text="word " * 128, target="why", section="all")
    assert cut not in [element.value for element in app.caption]


def test_encoder_decoder_family_cross_attention(open_app, small_model):
    link = {
        "model": small_model("bart"),
        "layer": 1,
        "head": 2,
        "text": "the fox was tired.",
        "target": "Paris is old.",
    }
    app = open_app("two_sequences", **link, step=3, section="all")
    assert not app.exception and not app.error
    assert all_hold(app)
    together = capture(compute.model(link["model"]), link["text"], target=link["target"])
    wall, _, data = payloads(app)
    assert wall["n_layers"] == 3
    assert_close(cells(wall, 2, 4), together.layer(2, stack="cross").weights[4], atol=1e-5, rtol=0)
    assert data["axes"]["queries"]["labels"] == list(together.target.labels)
    assert any("trained for exactly this" in element for element in page_sentences(app))
    plotted, _ = matrices(app)["written"]
    assert plotted["columns"]["labels"] == list(together.tokens.labels)
    app.segmented_control(key="write_stack").set_value("decoder").run()
    assert all_hold(app)


@pytest.mark.parametrize("name", ["llama", "gemma2"])
def test_rotary_model_note(open_app, small_model, name):
    link = {"model": small_model(name), "layer": 1}
    app = open_app("two_sequences", **link, section="cross_attention")
    assert not app.exception and checked(app, "cross_attention") == (11, 11)
    assert any(T("two_sequences.rotary") in element for element in page_sentences(app))
    app = open_app("two_sequences", **link, section="differences")
    assert checked(app, "differences") == (5, 5), "queries turned by position are not X W_Q"
