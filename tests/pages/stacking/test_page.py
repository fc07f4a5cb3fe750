"""The Stacking page without a browser: its checks hold, its pictures are the core's, its state is its link."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from pages.stacking import compute as stacking_compute
from pages.stacking import layer_sharing, locality
from tests import checkpoints
from tests.running import all_elements, bar_charts, checked, matrices, sentences_of
from tests.sections import link_to, views_of
from viz.core.analysis.rollout import rollout as core_rollout
from viz.core.analysis.rollout import with_residual
from viz.frame import compute, specs
from viz.frame.compute.block_plan import BlockPlan
from viz.models import capture
from viz.models.load import load
from viz.text import translator
from viz.text.naming import name_token

T = translator("en")
TEXT = "The animal didn't cross the street because it was too tired."
CHINESE = "春天来了，花开了，鸟也回来了。"
HOSTILE = "<b>x</b> ![y](http://example.com) $z$ :red[w] {n} #000001"


def checks(app):
    """Count of passing checks by section that has any; a pair (passing, all) where they differ."""
    result = {name: checked(app, name) for name in views_of("stacking")}
    return {name: n_passed if n_passed == n else (n_passed, n) for name, (n_passed, n) in result.items() if n}


def table(app, key):
    """The table with a column of this name."""
    return next(frame.value for frame in app.dataframe if T(key) in frame.value)


def page_sentences(app):
    return [element.value for kind in ("markdown", "caption", "text", "info") for element in app.get(kind)]


SEEDED = {"gradient": 4, "receptive_field": 3, "oversmoothing": 2, "locality": 3, "layer_sharing": 5}
EVERY = SEEDED | {"gradient": 5, "oversmoothing": 3}
"""A model's own hidden states are compared as well."""


def without(counts, **fewer):
    """The same with fewer checks: none of a picture that cannot be drawn."""
    return {name: n for name, n in (counts | fewer).items() if n}


@pytest.mark.parametrize(
    ("link", "counts"),
    [
        ({}, EVERY),
        ({"source": "embeddings", "n_heads": 4}, SEEDED),
        ({"source": "words", "depth": 12, "field": "dilated", "mask": "causal", "sets": 5}, SEEDED),
        ({"source": "words", "text": "word", "depth": 1},
         without(SEEDED, oversmoothing=0, receptive_field=1, layer_sharing=3)),
        ({"text": CHINESE, "field": "own", "depth": 3}, without(EVERY, receptive_field=1)),
        ({"text": "word other " * 100, "source": "words", "mask": "padding"}, SEEDED),
        ({"text": HOSTILE, "mask": "both", "pad": 2, "pad_left": 1}, EVERY),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("without_source_checks")
def test_every_check_of_the_page_holds(open_app, link, counts):
    app = open_app("stacking", section="all", **link)
    assert not app.exception
    assert not app.error
    assert checks(app) == counts


@pytest.mark.parametrize(
    ("text", "token"), [("", 10), ("no pronoun here!", 5), ("it, and it", 1), ("?!", 2), (CHINESE, -3)]
)
def test_default_token_is_word(open_app, text, token):
    app = open_app("stacking", **({"text": text} if text else {}))
    n = len(app.selectbox(key="from_token").options)
    assert app.session_state["from_token"] == token % n
    assert "from_token" not in app.query_params


def test_the_three_answers_are_shares(open_app):
    app = open_app("stacking", section="gradient", depth=4, from_token=2)
    bars = bar_charts(app)["origin_row"].series
    names = [T("stacking.gradient.name_weights", last=3), "rollout", "gradient"]
    assert list(bars) == names
    assert [round(float(bar.sum()), 4) for bar in bars.values()] == [1.0, 1.0, 1.0]
    # Computed here from the model's captured layers, which know nothing of the blocks.
    observed = capture(load("all-MiniLM-L6-v2"), TEXT)
    weights = torch.stack([observed.layer(i).weights for i in range(4)])
    assert_close(bars[names[0]], weights[3].mean(0)[2], atol=1e-5, rtol=0)
    assert_close(bars["rollout"], core_rollout(with_residual(weights))[-1][2], atol=1e-5, rtol=0)
    (lines,) = [text.value.split("\n") for text in app.text if text.value.startswith("Most by gradient")]
    assert len(lines) == 3, "gradient, weights and rollout"
    reacts = bars["gradient"].argsort(descending=True)[:3].tolist()
    labels = [option.partition(" · ")[2] for option in app.selectbox(key="from_token").options]
    assert lines[0].endswith(": " + ", ".join(f"“{name_token(labels, i)}”" for i in reacts))


def test_a_window_is_a_cone(open_app):
    app = open_app(
        "stacking", source="words", depth=3, field="window", field_width=1, from_token=5, section="receptive_field"
    )
    open_ = matrices(app)["cone"][1].isfinite().tolist()
    assert [sum(row) for row in open_] == [1, 3, 5, 7]
    assert [row.index(True) for row in open_] == [5, 4, 3, 2]
    sentence = T("stacking.receptive_field.counted", back=3, ahead=3)
    assert any("= **3**" in line and sentence in line for line in sentences_of(app))


def test_field_mask_replaces_page_mask(open_app):
    instead = T("stacking.receptive_field.instead")
    for mask, is_said in (("padding", True), ("window", False), ("own", False)):
        app = open_app("stacking", section="receptive_field", source="words", mask=mask)
        assert (instead in [caption.value for caption in app.caption]) == is_said


def test_single_word_or_head_no_verdict(open_app):
    verdict = "from one layer to the next"
    app = open_app("stacking", section="all", source="words", text="word", depth=2)
    cosines = table(app, "stacking.layer_sharing.t_cosine")[T("stacking.layer_sharing.t_cosine")]
    assert set(cosines) == {"–"}
    assert T("stacking.oversmoothing.one_word") in [info.value for info in app.info]
    assert not any(verdict in line for line in page_sentences(app))
    link = link_to("stacking", "locality") | {"source": "words", "text": "one two three", "depth": 2}
    for n_heads, has_verdict in ((1, False), (4, True)):
        lines = sentences_of(open_app("stacking", n_heads=n_heads, **link))
        assert any(verdict in line for line in lines) == has_verdict


@pytest.mark.usefixtures("without_source_checks")
def test_fully_masked_rows_excluded(open_app):
    app = open_app("stacking", text="a b c", depth=2, mask="both", pad=2, pad_left=1)
    assert not any(T("source.model_own") in caption.value for caption in app.caption), "nor are the numbers the model's"
    assert checks(app) == {"gradient": 5}


def test_sharing_saves_parameters_and_no_work(open_app):
    app = open_app("stacking", source="words", depth=6, sets=2, section="layer_sharing")
    rows = table(app, "stacking.layer_sharing.t_flops")
    independent, groups, shared = rows[T("stacking.layer_sharing.t_parameters")]
    assert (independent, groups) == (6 * shared, 2 * shared)
    assert rows[T("stacking.layer_sharing.t_flops")].nunique() == 1
    assert list(rows[T("stacking.layer_sharing.t_layers")]) == ["0 1 2 3 4 5", "0 0 0 3 3 3", "0 0 0 0 0 0"]
    parameters, work = bar_charts(app)["sharing_costs"].series.values()
    assert_close(parameters, torch.tensor([100.0, 100 / 3, 100 / 6]))
    assert_close(work, torch.tensor([100.0] * 3))


def test_sharing_chart_labels(open_app):
    plotted = bar_charts(open_app("stacking", section="layer_sharing"))["sharing_costs"]
    assert plotted.header["labels"] == ["6", "3", "1"]


def test_one_layer_is_one_layer(open_app):
    app = open_app("stacking", section="all", source="words", depth=1)
    every = [
        *page_sentences(app),
        *(chip.proto.popover.label for chip in all_elements(app) if chip.type == "popover"),
    ]
    assert not any("1 layers" in element for element in every)


def test_token_kept_across_sections(open_app):
    app = open_app("stacking", source="words", from_token=3)
    for section in ("oversmoothing", "gradient"):
        app.button_group(key="section").set_value(section).run()
        assert app.session_state["from_token"] == 3
        assert app.query_params["from_token"] == "3"


@pytest.mark.parametrize(("family", "n_states"), [("gpt2", 1), ("llama", 1), ("t5", 1), ("gemma2", 1), ("olmo2", 1)])
@pytest.mark.usefixtures("without_source_checks")
def test_any_family_of_models(open_app, monkeypatch, tmp_path, family, n_states):
    """Pre-norm, RoPE with shared heads, relative biases: the blocks are the model's, autograd goes through all."""
    entry = checkpoints.make_entry(family, tmp_path / "small")
    for module in (specs, compute):
        monkeypatch.setattr(module, "local_entries", lambda: (entry,))
    app = open_app("stacking", section="all", model=entry.id, text="Paris is old and Paris is big.")
    assert not app.exception
    assert not app.error
    result = checks(app)
    assert app.session_state["model"] == entry.id
    assert set(result) == set(EVERY)
    assert all(result[name] == EVERY[name] for name in EVERY if name != "receptive_field"), result
    assert result["receptive_field"] in (1, 3), "a short text may be in reach as a whole"
    assert result["gradient"] == SEEDED["gradient"] + n_states


def upside_down(mixed):
    return core_rollout(mixed.flip(0))


def without_residual(weights):
    return weights.mean(-3)


FAULTS = {
    "layers in the wrong order": ("gradient", stacking_compute, "rollout", upside_down),
    "no residual half": ("gradient", stacking_compute, "with_residual", without_residual),
    "entropy in bits": ("locality", stacking_compute, "head_statistics", None),
    "the gradient of another token": ("gradient", stacking_compute, "sensitivity", None),
    "a field one layer short": ("receptive_field", stacking_compute, "cone", None),
    "cosine with oneself": ("oversmoothing", stacking_compute, "mean_cosine", None),
    "pairs forgotten": ("layer_sharing", layer_sharing, "flops_by_formula", lambda context: 1),
}


def _wrong(what, right):
    """The same function with a fault in it."""
    if what == "entropy in bits":
        return lambda *args: _replaced(right(*args), "entropy", 1 / np.log(2))
    if what == "the gradient of another token":
        return lambda levels, x, query: right(levels, x, query - 1)
    if what == "a field one layer short":
        return lambda steps, query: torch.cat([right(steps[1:], query), right(steps, query)[-1:]])
    return lambda x: right(x) + 1 / x.shape[-2]


def _replaced(head_statistics, name, factor):
    return type(head_statistics)(**(vars(head_statistics) | {name: getattr(head_statistics, name) * factor}))


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_turns_its_section_red(open_app, monkeypatch, what):
    section, module, name, wrong = FAULTS[what]
    monkeypatch.setattr(module, name, wrong or _wrong(what, getattr(module, name)))
    text = f"one two three four five six seven {len(what)} {what}"  # nobody has computed this before
    app = open_app("stacking", **link_to("stacking", section), source="words", text=text, depth=3)
    assert not app.exception
    n_passed, n = checked(app, section)
    assert n_passed < n
    assert T("truth.failed") in [error.value for error in app.error]


def test_gradient_equals_measured_slopes():
    """The slope that the check compares with knows the stack alone."""
    source = specs.Source(kind="words", text="slopes are measured twice", d_model=12, n_heads=3, n_kv_heads=3)
    plan, mask = BlockPlan(layers=(0, 1)), specs.Mask()
    reacts = stacking_compute.gradients(source, plan, mask, 1)[0]
    for word in range(4):
        slopes = stacking_compute.measured_slopes(source, plan, mask, 1, word)
        assert slopes == pytest.approx([float(reacts[word])] * 2, rel=1e-4)


def test_even_spread_differs_by_layer(open_app, small_model, monkeypatch):
    """Gemma 2's layers with a window leave fewer words to spread the weight over than those without."""
    baselines, draw = [], locality.depth
    monkeypatch.setattr(
        locality, "depth", lambda curves, **titles: baselines.append(curves[-1]) or draw(curves, **titles)
    )
    model = small_model("gemma2", sliding_window=2)
    app = open_app("stacking", model=model, text="The animal did", section="oversmoothing", alike="locality")
    assert not app.exception
    assert len(baselines) == 2, "of entropy and of distance"
    for curve in baselines:
        assert curve.baseline
        narrow, wide = curve.values[:2]
        assert narrow < wide
