"""The Convolution page without a browser: its checks hold, its numbers are the core's, its state is its link."""

import re

import pytest
import torch
from torch.testing import assert_close

from pages.convolution import windows
from pages.convolution.images import kernels, picture
from tests.running import checked, sentences_of
from tests.sections import link_to
from viz.components.unpack import unpack
from viz.core.analysis.window_fit import fit_windows, window_weights
from viz.core.variants import relative
from viz.core.variants.learn_convolution import Lesson, learn, teacher
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.frame.format import SUPERSCRIPTS, number, part
from viz.text import translator

T = translator("en")
FLAT = {superscript: digit for digit, superscript in SUPERSCRIPTS.items()}
"""Raised digits as plain ones."""


def views(app):
    """View data of this page by kind."""
    result = {}
    for component in app.get("bidi_component"):
        if component.proto.component_name.endswith(".quadratic_heads"):
            header, blocks = unpack(component.proto.bytes)
            result[header["kind"]] = (header, blocks)
    return result


def page_sentences(app):
    return " ".join(sentences_of(app))


WRONG_SIDE = {
    "shifts": lambda right: lambda *grid: -right(*grid),
    "quadratic_scores": lambda right: lambda offset, *rest: right(-offset, *rest),
}


@pytest.mark.parametrize("name", WRONG_SIDE)
def test_query_minus_key_fails_training_check(open_app, monkeypatch, name):
    """A training is kept in the session: the mistake stands before it begins."""
    monkeypatch.setattr(relative, name, WRONG_SIDE[name](getattr(relative, name)))
    app = open_app("convolution", section="training", source="words", text="one two three four five")
    assert not app.exception
    n_passed, n = checked(app, "training")
    assert n_passed < n == 1
    assert T("truth.failed") in [box.value for box in app.error]


def test_sequence_view_data_follows_link(open_app):
    app = open_app("convolution", w_alpha="7_0_1.5", w_delta="-2_3.5_0", mix=0.25, window=2, asks=1)
    header, _ = views(app)["sequence"]
    assert header["choice"] == {
        "alphas": [7.0, 0.0, 1.5], "deltas": [-2.0, 3.5, 0.0], "mix": 0.25, "head": 2, "query": 1,
    }  # fmt: skip
    assert app.query_params["w_alpha"] == "7_0_1.5"


def test_invalid_link_falls_back_to_defaults(open_app):
    link = {"w_alpha": "nan_1_1", "w_delta": "1_2", "mix": 7, "centres9": "x", "alphas9": "1_2", "learned": -3}
    app = open_app("convolution", section="all", **link)
    assert not app.exception
    header, _ = views(app)["sequence"]
    assert header["choice"]["alphas"] == list(windows.ALPHAS)
    assert header["choice"]["deltas"] == list(windows.DELTAS)


def test_picture_view_data_holds_kernel(open_app):
    header, blocks = views(open_app("convolution", kernel="sobel", picture="texture", section="picture"))["picture"]
    assert (header["rows"], header["columns"]) == tuple(picture("texture").shape[1:])
    assert_close(torch.tensor(blocks["kernel"]), kernels()["sobel"][0].flatten())
    assert header["cells"] == relative.heads_from_kernel(torch.zeros(1, 1, 3, 3), alpha=1.0).offset.tolist()


def test_dragged_centres_are_what_is_compared(open_app):
    app = open_app(
        "convolution", kernel="identity", centres9="_".join(["0"] * 18), alphas9="_".join(["46"] * 9), section="picture"
    )
    assert _difference(app) < 1e-6  # all look at the query, and the middle cell is the identity
    difference = open_app(
        "convolution", kernel="identity", centres9="_".join(["1"] * 18), alphas9="_".join(["46"] * 9), section="picture"
    )
    assert _difference(difference) > 0.1


def _difference(app):
    pattern = re.escape(T("convolution.compare_found", error="NUMBER", n=3, k=3)).replace("NUMBER", "(.+?)")
    mantissa, _, power = re.search(pattern, page_sentences(app))[1].partition("·10")
    return float(mantissa) * 10.0 ** int(power.translate(FLAT) or 0)


def test_training_in_link_runs(open_app):
    app = open_app("convolution", source="words", lesson_seed=3, learned=60, lesson_heads=4, section="training")
    assert not app.exception
    *_, last = _first(Lesson(seed=3, n_heads=4), 60)
    assert f"Step 60: loss **{number(last.loss)}**" in page_sentences(app)
    variance = float(teacher(Lesson(seed=3)).target.var(correction=0))
    assert f"**{number(last.loss / variance)}** × the target's variance {number(variance)}" in page_sentences(app)
    assert checked(app, "training") == (1, 1)
    assert app.query_params["learned"] == "60"


def _first(lesson, steps):
    for shot in learn(lesson, every=20):
        yield shot
        if shot.step == steps:
            return


def test_training_stops_resumes_and_restarts(open_app):
    app = open_app("convolution", source="words", learned=40, section="training")
    assert app.button(key="learn").label == T("convolution.go_on")
    app.session_state["learned"] = 80
    app.run()
    assert "Step 80:" in page_sentences(app)
    app.button(key="stop").click().run()
    assert "Step 80:" in page_sentences(app)
    app.button(key="again").click().run()
    assert "Step 0:" in page_sentences(app)
    assert not app.exception


def test_likeness_finds_the_previous_token_head(open_app):
    app = open_app("convolution", layer=0, head=2, section="likeness")
    result = re.search(r"layer 0 head 2, with Δ = (−?[\d.]+), α = [\d.]+, share \*\*([\d.]+)\*\*", page_sentences(app))
    assert result
    assert result[1] == "−1"
    assert float(result[2]) > 0.99


def test_a_head_stands_beside_its_window(open_app):
    app = open_app("convolution", section="likeness", layer=1, head=8)
    (maps,) = (element.proto.bytes for element in app.get("bidi_component") if element.proto.bytes)
    visible = torch.tensor(unpack(maps)[1]["values"]).view(2, 16, 16)
    source = specs.Source(kind="model", text=examples()[0].text, model=compute.DEFAULT_MODEL)
    weights = compute.read(source).layer(1).weights[8]
    assert_close(visible[0], weights, rtol=0, atol=1e-6)
    fit, delta = fit_windows(weights[None]), torch.arange(16.0) - torch.arange(16.0)[:, None]
    window = window_weights(fit.offset[0], fit.alpha[0], delta, torch.ones(16, 16).bool())
    assert_close(visible[1], window, rtol=0, atol=1e-4)
    assert f"explains **{part(float(fit.explained_share[0]))}**" in page_sentences(app)


def test_best_head_button_selects_head(open_app):
    app = open_app("convolution", section="likeness")
    app.button(key="show_best").click().run()
    assert (app.session_state["layer"], app.session_state["head"]) == (0, 2)
    assert not [button for button in app.button if button.key == "show_best"]


def test_shared_controls_render_once(open_app):
    for section in ("picture", "difference", "kernel_in_w_o", "all"):
        app = open_app("convolution", **link_to("convolution", section), source="words", kernel="sobel", channel=4)
        assert not app.exception
        keys = [group.key for group in app.button_group]
        assert [keys.count(name) for name in ("picture", "kernel")] == [1, 1]
        assert len([box for box in app.selectbox if box.key == "channel"]) == 1


def test_seeded_heads_name_no_window(open_app):
    app = open_app("convolution", section="likeness", source="words")
    assert "more than half of 0 of 4 heads" in page_sentences(app)
