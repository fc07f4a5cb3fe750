"""The Stacking page without a browser: its checks hold, its pictures are the core's, its state is its link."""

import json

import pytest
import torch
from torch.testing import assert_close

from tests import checkpoints
from tests.pages.test_positions import checks
from tests.views.test_maps import unpack
from viz.core.rollout import flow, rollout, with_residual
from viz.models import capture, load
from viz.text import translator
from viz.ui import compute

T = translator("en")
TEXT = "The animal didn't cross the street because it was too tired."


def strip(app):
    """The maps by title."""
    (component,) = [one for one in app.get("bidi_component") if one.proto.bytes]
    header, blocks = unpack(component.proto.bytes)
    maps = torch.tensor(blocks["values"]).reshape(-1, header["n"], header["n"])
    return {panel["title"]: each for panel, each in zip(header["maps"], maps, strict=True)}


def figure(app, title):
    """The figure whose axis has this title."""
    for chart in app.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        axes = [spec["layout"][axis].get("title", {}).get("text") for axis in ("xaxis", "yaxis")]
        if title in axes:
            return spec
    raise AssertionError(title)


@pytest.mark.parametrize(
    ("link", "n_checks"),
    [
        ({}, 6),
        ({"source": "embeddings", "lang": "zh", "n_heads": 4}, 5),
        ({"source": "words", "depth": 12, "field": "dilated", "mask": "causal", "sets": 5}, 5),
        ({"source": "words", "text": "word", "depth": 1}, 2),
        ({"text": "春天来了，花开了，鸟也回来了。", "lang": "zh", "field": "own", "depth": 3}, 4),
        ({"text": "word other " * 100, "source": "words", "mask": "padding"}, 4),
    ],
)
def test_every_check_of_the_page_holds(open_app, link, n_checks):
    app = open_app("stacking", **link)
    assert not app.exception
    assert not app.error
    label, lines = checks(app)
    assert label.startswith("✓")
    assert len(lines) == n_checks
    assert all(line.startswith("✓") for line in lines)


def test_the_maps_are_those_of_the_models_own_heads(open_app):
    """Computed here from the model's captured layers, which know nothing of the blocks."""
    app = open_app("stacking", depth=4, from_token=2)
    seen = capture(load("all-MiniLM-L6-v2"), TEXT)
    weights = torch.stack([seen.layer(i).weights for i in range(4)])
    mixed = with_residual(weights)
    maps = strip(app)
    assert_close(maps[T("stacking.map_weights", last=3)], weights[3].mean(0), atol=1e-5, rtol=0)
    assert_close(maps[T("stacking.map_rollout", n=4)], rollout(mixed)[-1], atol=1e-5, rtol=0)
    assert_close(maps[T("stacking.map_flow", n=4)][2], flow(mixed, 2), atol=1e-5, rtol=0)
    row = figure(app, T("stacking.share"))["data"]
    assert [bar["name"] for bar in row][:3] == list(maps)
    assert len(row) == 4


def test_a_window_is_a_cone(open_app):
    app = open_app("stacking", source="words", depth=3, field="window", field_width=1, from_token=5)
    (cone,) = figure(app, T("stacking.levels"))["data"]
    sentences = cone["customdata"]
    open_ = [
        [T("stacking.cell_closed", token="", level="").split(": ")[1] not in one for one in row] for row in sentences
    ]
    assert [sum(row) for row in open_] == [1, 3, 5, 7]
    assert [row.index(True) for row in open_] == [5, 4, 3, 2]
    assert any("= **3** to each side" in line.value and "3 back, 3 ahead" in line.value for line in app.markdown)


def test_where_words_follow_that_a_mask_of_the_models_hides_the_page_says_so(open_app):
    text = "the cat saw a dog and the cat saw a bird"
    link = {"model": "twin-g8", "text": text, "field_width": 4}
    for token, said in ((8, True), (10, False)):
        app = open_app("stacking", from_token=token, **link)
        assert any(T("stacking.formula_decoder") in line.value for line in app.markdown) == said


def test_one_word_and_one_head_get_no_verdict(open_app):
    verdict = T("stacking.depth_says_seeded")
    app = open_app("stacking", source="words", text="word", depth=2)
    table = next(frame.value for frame in app.dataframe if T("stacking.t_cosine") in frame.value)
    assert set(table[T("stacking.t_cosine")]) == {"–"}
    assert verdict not in [line.value for line in app.markdown]
    app = open_app("stacking", source="words", text="one two three", depth=2, n_heads=1)
    assert verdict not in [line.value for line in app.markdown]
    app = open_app("stacking", source="words", text="one two three", depth=2)
    assert verdict in [line.value for line in app.markdown]


def test_rows_that_may_look_nowhere_are_excepted(open_app):
    app = open_app("stacking", text="a b c", depth=2, mask="both", pad=2, pad_left=1)
    assert not any(T("source.model_own") in caption.value for caption in app.caption), "nor are the numbers the model's"
    assert T("stacking.blind", n=2) in [caption.value for caption in app.caption]


def test_sharing_saves_parameters_and_no_work(open_app):
    app = open_app("stacking", source="words", depth=6, sets=2)
    table = next(frame.value for frame in app.dataframe if T("stacking.t_flops") in frame.value)
    own, groups, one = table[T("stacking.t_parameters")]
    assert (own, groups) == (6 * one, 2 * one)
    assert table[T("stacking.t_flops")].nunique() == 1
    assert list(table[T("stacking.t_layers")]) == ["0 1 2 3 4 5", "0 0 0 3 3 3", "0 0 0 0 0 0"]


def test_a_long_text_has_no_flow_and_says_so(open_app):
    app = open_app("stacking", source="words", text="a b c d e f g h " * 5, depth=2)
    assert len(strip(app)) == 2
    assert any("up to 32 tokens; this text has 40" in info.value for info in app.info)


def test_the_link_holds_the_state(open_app):
    wanted = {
        "source": "words", "depth": 9, "from_token": 3, "field": "dilated", "field_width": 3, "field_gap": 4, "sets": 2,
    }  # fmt: skip
    app = open_app("stacking", **wanted)
    assert {name: app.session_state[name] for name in wanted} == wanted
    assert {name: app.query_params[name] for name in wanted} == {name: str(value) for name, value in wanted.items()}


def test_what_a_link_cannot_have_is_said(open_app):
    app = open_app("stacking", depth=99, field="x", text="")
    assert not app.exception
    assert any("no word" in error.value or "empty" in error.value.lower() for error in app.error), app.error
    app = open_app("stacking", source="words", depth=99, field="x")
    assert any("depth" in info.value and "field" in info.value for info in app.info)


def test_hostile_words_arrive_as_text(open_app):
    hostile = "<b>x</b> ![y](http://example.com) $z$ :red[w] {n} #000001"
    app = open_app("stacking", source="words", text=hostile, depth=2, from_token=1)
    assert not app.exception
    assert any("“b”" in one.value for one in app.get("text")), "the chosen token"
    said = [*app.markdown, *app.caption, *app.info]
    assert not any("example" in one.value or "<b>" in one.value for one in said)
    assert any("example" in label for label in app.selectbox(key="from_token").options)


@pytest.mark.parametrize(("family", "n_checks"), [("gpt2", 6), ("llama", 6), ("t5", 5)])
def test_any_family_of_models(open_app, monkeypatch, tmp_path, family, n_checks):
    """Pre-norm, RoPE with shared heads, relative biases: the blocks are the model's, autograd goes through all."""
    entry = checkpoints.offered(family, tmp_path / "small")
    monkeypatch.setattr(compute, "local_entries", lambda: (entry,))
    app = open_app("stacking", model=entry.id, text="Paris is old and Paris is big.")
    assert not app.exception
    assert not app.error
    label, lines = checks(app)
    assert label.startswith("✓"), lines
    assert len(lines) >= n_checks
