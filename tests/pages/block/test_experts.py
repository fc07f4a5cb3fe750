"""The Block page of a model with experts: its boxes, its formulas, its checks and what it says about a word."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from pages.block.formulas import formula
from tests.running import checked, matrices, sentences_of
from tests.sections import views_of
from viz.core import experts
from viz.core.block import BlockWeights, encoder_block
from viz.core.experts import ExpertsWeights, Router
from viz.core.feed_forward import FeedForwardWeights
from viz.core.spec import AttentionSpec
from viz.frame.compute import blocks
from viz.frame.compute.block_plan import BlockPlan
from viz.frame.examples import examples
from viz.frame.specs import Mask, Source
from viz.text import LANGUAGES, translator

TEXT = examples()[0].text
SIZES = {"num_experts": 7, "num_experts_per_tok": 3, "moe_intermediate_size": 20, "mlp_only_layers": [0]}
pytestmark = pytest.mark.usefixtures("without_source_checks")


@pytest.fixture
def model(small_model):
    """A small Qwen2-MoE, listed by the app: layer 0 has one network, layer 1 seven experts and one that is shared."""
    return small_model("qwen2_moe", **SIZES)


def results_of(app, page="block"):
    """Passing checks and all checks of every section that has any."""
    results = {name: checked(app, name) for name in views_of(page)}
    return {name: counts for name, counts in results.items() if counts[1]}


def routed_piece(t):
    """A piece of the sentence about a word's experts that no other text has."""
    return t("block.routed", word="|", k=3, n=7, listed="|").split("|")[1]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_section_shows_experts(open_app, model, lang):
    t = translator(lang)
    app = open_app("block", model=model, layer=1, box="enc_feed_forward", section="all", query=2, lang=lang)
    assert not app.exception and not app.error and not app.warning
    results = results_of(app)
    assert set(results) == {*views_of("block")}
    assert all(n_passed == n for n_passed, n in results.values())
    (_, trace) = blocks.blocks(Source(kind="model", text=TEXT, model=model), BlockPlan(), Mask())
    steps = trace.feed_forward
    sentence = next(element.value for element in app.text if routed_piece(t) in element.value)
    for number, weight in zip(steps.routing.numbers[2].tolist(), steps.routing.weights[2].tolist(), strict=True):
        assert t("block.one_expert", number=number, weight=f"{weight:.2g}") in sentence
    assert t("block.routed_shared", weight=f"{float(steps.shared_weight[2]):.2g}") in sentence
    assert any(t("block.about_experts") in text for text in sentences_of(app))
    assert_close(matrices(app)["block_tensor"][1], steps.output, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("text", [TEXT, "cat"])
def test_router_box_has_weights(open_app, model, text):
    app = open_app("block", model=model, layer=1, box="enc_router", text=text)
    assert not app.exception and not app.error
    values = matrices(app)["block_tensor"][1]
    assert values.shape[1] == 7
    assert ((values > 0).sum(1) == 3).all()
    words = (values > 0).sum(0)
    sentence = translator("en")("block.router_says", used=int((words > 0).sum()), n=7, words=int(words.max()))
    assert sentence in [caption.value for caption in app.caption]


def test_box_of_other_layer_is_reset(open_app, model):
    """The hidden layer's box does not exist in a layer with experts."""
    app = open_app("block", model=model, layer=1, box="enc_hidden")
    assert not app.exception and not app.error
    assert all(n_passed == n for n_passed, n in results_of(app).values())


WRONG = {
    "the smallest scores": lambda right, x, router: right(x, replace(router, w=-router.w)),
    "no division": lambda right, x, router: right(x, replace(router, renormalize=not router.renormalize)),
    "one expert less": lambda right, x, router: right(x, replace(router, k=router.k - 1)),
    "equal weights": lambda right, x, router: replace(
        steps := right(x, router), weights=torch.full_like(steps.weights, 1 / router.k)
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_router_fails_checks(open_app, model, monkeypatch, name):
    right = experts.route
    monkeypatch.setattr(experts, "route", lambda x, router: WRONG[name](right, x, router))
    app = open_app("block", model=model, layer=1, section="all")
    assert not app.exception
    results = results_of(app)
    for section in ("diagram", "switched_off", "norm_place"):
        assert results[section][0] < results[section][1], section


def test_stack_of_experts_passes_checks(open_app, model):
    """Every section of the Stacking page; the layers are of two kinds, which cannot share their weights."""
    app = open_app("stacking", model=model, section="all")
    assert not app.exception and not app.error
    results = results_of(app, "stacking")
    assert all(n_passed == n for n_passed, n in results.values())
    assert results["layer_sharing"] == (2, 2), "of the decoders trained with it alone"
    unequal = translator("en")("stacking.layer_sharing.unequal", model=model)
    assert unequal in [element.value for element in app.info]


def test_layers_of_experts_share_weights(open_app, small_model):
    """With experts in every layer the work is that of the formula, and shared weights change nothing of it."""
    model = small_model("qwen2_moe", **SIZES | {"mlp_only_layers": []})
    app = open_app("stacking", model=model, section="all")
    assert not app.exception and not app.error
    assert checked(app, "layer_sharing") == (5, 5)


def mixture(**options):
    plain = BlockWeights.random(AttentionSpec(d_model=6, n_heads=3), 7, seed=0)
    gated = FeedForwardWeights(w_in=torch.ones(6, 7), w_gate=torch.ones(6, 7), w_out=torch.ones(7, 6))
    router = Router(w=torch.ones(6, 3), k=2, **options.pop("router", {}))
    weights = ExpertsWeights(router=router, experts=(gated,) * 3, **options)
    return encoder_block(torch.eye(6), replace(plain, feed_forward=weights))


@pytest.mark.parametrize(
    ("router", "present", "absent"),
    [
        ({}, [r"\operatorname{softmax}(u W_R)", r"\text{top-2}(s_i)", r"\sum_{j \in S_i}"], [r"\gamma", "+ c", "+ b"]),
        ({"renormalize": False, "scale": 2.0}, [r"\gamma\, s_{ie} \quad"], [r"\sum"]),
        ({"score": "sigmoid", "correction": torch.ones(3), "b": torch.ones(3)}, [r"\sigma(u W_R + b)", "s_i + c"], []),
    ],
)
def test_router_formula_is_its_rule(router, present, absent):
    latex = formula("router", mixture(router=router))
    assert all(part in latex for part in present) and not any(part in latex for part in absent)


def test_experts_formula_has_shared_network():
    gated = FeedForwardWeights(w_in=torch.ones(6, 5), w_out=torch.ones(5, 6))
    alone, shared, weighted = (
        formula("feed_forward", mixture(**options))
        for options in ({}, {"shared": gated}, {"shared": gated, "w_shared": torch.ones(6, 1)})
    )
    assert "FF}_s" not in alone and "FF}_e" in alone
    assert "FF}_s" in shared and r"\sigma" not in shared
    assert r"\sigma(u_i w_s) \operatorname{FF}_s" in weighted
