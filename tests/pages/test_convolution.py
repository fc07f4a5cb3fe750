"""The Convolution page without a browser: its checks hold, its numbers are the core's, its state is its link."""

import json
import re
from base64 import b64decode

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from tests.conftest import walk
from tests.views.test_maps import unpack
from viz.core.learn_conv import Lesson, learn, teacher
from viz.core.relative import heads_from_kernel
from viz.models.images import kernels, picture
from viz.text import translator
from viz.ui import convolution, limits
from viz.ui.picture import KERNELS

T = translator("en")
HOSTILE = "<b>x</b> ![a](http://example.com/a.png) $x^2$ #000001 {query} ](("


def badge(app):
    return next(box for box in app.main.get("expander") if box.label[:1] in "✓✗")


def views(app):
    found = {}
    for component in app.get("bidi_component"):
        header, blocks = unpack(component.proto.bytes)
        found[header["kind"]] = (header, blocks)
    return found


def said(app):
    return " ".join(each.value for each in app.markdown)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("source", ["model", "embeddings", "words"])
def test_every_source_in_both_languages_passes_its_checks(open_app, source: str, lang: str):
    app = open_app("convolution", source=source, lang=lang)
    assert not app.exception
    assert not app.error
    assert badge(app).label == translator(lang)("truth.passed", n=5)
    lines = [line.value for line in walk(badge(app)) if getattr(line, "type", "") == "markdown"]
    assert len(lines) == 5
    assert all(line.startswith("✓") for line in lines)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_on_a_colour_picture_passes_its_checks(open_app, kernel: str):
    app = open_app("convolution", picture="scene", kernel=kernel, channel=2, source="words", text="one two three")
    assert not app.exception
    assert badge(app).label[0] == "✓"


@pytest.mark.parametrize("text", ["word", "so " * 200, "这只动物没过马路，因为它太累了。", HOSTILE])
def test_any_text_is_shown(open_app, text: str):
    app = open_app("convolution", text=text)
    assert not app.exception
    assert badge(app).label[0] == "✓"
    header, blocks = views(app)["sequence"]
    assert header["n"] <= limits.WINDOW_TOKENS
    assert len(blocks["scores"]) == 3 * header["n"] ** 2


def test_the_first_view_gets_the_layers_own_scores_and_the_links_windows(open_app):
    app = open_app("convolution", w_alpha="7_0_1.5", w_delta="-2_3.5_0", mix=0.25, window=2, asks=1)
    header, _ = views(app)["sequence"]
    assert header["choice"] == {
        "alphas": [7.0, 0.0, 1.5], "deltas": [-2.0, 3.5, 0.0], "mix": 0.25, "head": 2, "query": 1,
    }  # fmt: skip
    assert app.query_params["w_alpha"] == "7_0_1.5"


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ({"w_alpha": "0_0.3_0.05"}, ("window_alike", {"query": "d", "n": 6, "value": "0.1667"})),
        ({"w_alpha": "50_1_1", "w_delta": "-1.5_0_0"}, ("window_alike", {"query": "d", "n": 2, "value": "0.5000"})),
        ({"mask": "both", "pad_left": 1, "asks": 0}, ("window_nowhere", {"query": "a"})),
        ({"w_alpha": "50_1_1"}, ("window_found", {"query": "d", "key": "c", "shift": -1, "value": "1.0000"})),
    ],
)
def test_ties_and_empty_rows_name_no_single_word(open_app, link, sentence):
    app = open_app("convolution", source="words", text="a b c d e f", **link)
    key, values = sentence
    assert T(f"convolution.{key}", **values) in [one.value for one in app.get("text")]


def test_links_that_ask_for_the_impossible_get_the_usual_values(open_app):
    app = open_app("convolution", w_alpha="nan_1_1", w_delta="1_2", mix=7, centres9="x", alphas9="1_2", learned=-3)
    assert not app.exception
    header, _ = views(app)["sequence"]
    assert header["choice"]["alphas"] == list(convolution.ALPHAS)
    assert header["choice"]["deltas"] == list(convolution.DELTAS)


def test_the_second_view_gets_the_kernel_and_its_cells(open_app):
    header, blocks = views(open_app("convolution", kernel="sobel", picture="texture"))["picture"]
    assert (header["rows"], header["columns"]) == tuple(picture("texture").shape[1:])
    assert_close(torch.tensor(blocks["kernel"]), kernels()["sobel"][0].flatten())
    assert header["cells"] == heads_from_kernel(torch.zeros(1, 1, 3, 3), alpha=1.0).offset.tolist()


def test_dragged_centres_are_what_is_compared(open_app):
    app = open_app("convolution", kernel="identity", centres9="_".join(["0"] * 18), alphas9="_".join(["46"] * 9))
    assert _difference(app) < 1e-6  # all look at the query, and the middle cell is the identity
    moved = open_app("convolution", kernel="identity", centres9="_".join(["1"] * 18), alphas9="_".join(["46"] * 9))
    assert _difference(moved) > 0.1


def _difference(app):
    pattern = re.escape(T("convolution.compare_found", error="NUMBER", n=3, k=3)).replace("NUMBER", "([-+.e0-9]+)")
    return float(re.search(pattern, said(app))[1])


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ({"picture": "digit"}, "border_black"),
        ({"kernel": "identity"}, "border_inside"),
        ({"picture": "texture"}, None),
        ({"picture": "digit", "kernel": "own", "w300": -1, "w322": 1}, "border_black"),
    ],
)
def test_where_the_two_paddings_are_the_same_the_page_says_why(open_app, link, why):
    infos = {info.value for info in open_app("convolution", source="words", **link).info}
    said_here = infos & {T(f"convolution.{key}") for key in ("border_black", "border_inside")}
    assert said_here == ({T(f"convolution.{why}")} if why else set())


def test_a_lesson_in_a_link_plays_itself(open_app):
    app = open_app("convolution", source="words", lesson_seed=3, learned=60, lesson_heads=4)
    assert not app.exception
    *_, last = _first(Lesson(seed=3, n_heads=4), 60)
    assert f"Step 60: loss **{last.loss:.1e}**" in said(app)
    variance = float(teacher(Lesson(seed=3)).target.var(correction=0))
    assert f"variance, {variance:.2f}, it is the share still missed: {last.loss / variance:.1e}." in said(app)
    assert T("convolution.lesson_free") in said(app)
    assert app.query_params["learned"] == "60"


def test_with_a_fixed_alpha_the_lesson_says_what_that_costs(open_app):
    app = open_app("convolution", source="words", lesson_heads=5, free_alpha=0)
    assert T("convolution.lesson_fixed") in said(app) and T("convolution.lesson_free") not in said(app)


def _first(lesson, steps):
    for shot in learn(lesson, every=20):
        yield shot
        if shot.step == steps:
            return


def test_a_lesson_can_be_stopped_taken_up_and_started_again(open_app):
    app = open_app("convolution", source="words", learned=40)
    assert app.button(key="learn").label == T("convolution.go_on")
    app.session_state["learned"] = 80
    app.run()
    assert "Step 80:" in said(app)
    app.button(key="stop").click().run()
    assert "Step 80:" in said(app)
    app.button(key="again").click().run()
    assert "Step 0:" in said(app)
    assert not app.exception


def test_likeness_finds_the_previous_token_head(open_app):
    app = open_app("convolution", layer=0, head=2)
    found = re.search(r"layer 0 head 2, with Δ = (-?[\d.]+), α = [\d.]+, share \*\*([\d.]+)\*\*", said(app))
    assert found
    assert float(found[1]) == -1
    assert float(found[2]) > 0.99


@pytest.mark.parametrize("mask", ["own", "window"])
def test_the_chart_of_the_stack_shows_what_its_sentence_says(open_app, mask):
    app = open_app("convolution", source="words", text="a b c d e f g h i", k_stack=3, mask=mask)
    assert T("convolution.field_found", n=9, k=3, layers=8) in said(app)
    specs = (json.loads(chart.proto.spec) for chart in app.get("plotly_chart"))
    (stack,) = [line for spec in specs for line in spec["data"] if line.get("name") == T("convolution.stack")]
    reached = numbers(stack["y"])
    assert reached[:8] == [2, 3, 4, 5, 6, 7, 8, 9]
    masked = T("convolution.field_masked") in [caption.value for caption in app.caption]
    assert masked == (mask == "window")


def test_one_token_has_nowhere_to_carry_anything(open_app):
    assert T("convolution.field_one") in said(open_app("convolution", source="words", text="word"))


def numbers(values):
    """A line's numbers, as plotly sends them: a list, or packed."""
    if isinstance(values, list):
        return values
    return np.frombuffer(b64decode(values["bdata"]), values["dtype"]).tolist()


def test_where_no_head_is_like_a_window_none_is_named(open_app):
    app = open_app("convolution", source="words")
    heads = app.dataframe[0].value
    assert heads["share"].max() < 0.5
    assert T("convolution.likeness_none", n=len(heads)) in said(app)
    assert "Of these" not in said(app)


@pytest.mark.parametrize("sent", [None, 3, {}, {"alphas": ["x"], "head": True}, {"alphas": "1_2", "query": 1.5}])
def test_nonsense_from_the_browser_is_left_out(sent):
    assert convolution.read_choice(sent, {"alphas": "a"}, {"head": "h", "query": "q"}) == {}
