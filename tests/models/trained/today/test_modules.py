"""Modules in place of a Llama layer's attention: the standard one is Llama's, each other one is it at its switch."""

import pytest
import torch
from torch.testing import assert_close

from viz.models.trained import twins
from viz.models.trained.today.modules import DeltaAttention
from viz.models.trained.today.train import VARIANTS, build

RECIPE = twins.Recipe(d_model=24, n_heads=4, d_ff=17, longest=31, length=11)
IDS = torch.arange(22).view(2, 11)


def logits(model):
    with torch.inference_mode():
        return model.eval()(input_ids=IDS).logits


def test_standard_module_equals_llama():
    """The twin with the standard module is the twin itself."""
    assert_close(logits(build("standard", RECIPE, seed=3)), logits(twins.build(4, RECIPE, seed=3)))


@pytest.mark.parametrize("variant", ["sink", "gate"])
def test_module_at_its_switch(variant):
    """Sinks of -inf and gates of 1 leave the standard twin; as they start they do not."""
    standard, model = logits(build("standard", RECIPE, seed=3)), build(variant, RECIPE, seed=3)
    assert (logits(model) - standard).abs().max() > 1e-4
    for layer in model.model.layers:
        if variant == "sink":
            layer.self_attn.sinks.data.fill_(-torch.inf)
        # A sigmoid of 0 halves every head, and W_O compensates.
        else:
            layer.self_attn.gate.data.zero_()
            layer.self_attn.o_proj.weight.data.mul_(2)
    assert_close(logits(model), standard, atol=1e-6, rtol=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_later_words_change_nothing(variant):
    """Every variant is causal: what it says of a text does not change as the text goes on."""
    model = build(variant, RECIPE, seed=3)
    with torch.inference_mode():
        short = model.eval()(input_ids=IDS[:, :7]).logits
    assert_close(logits(model)[:, :7], short, atol=1e-6, rtol=0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_weight_learns(variant):
    """Each tensor of a variant gets a gradient, so nothing of it stands idle."""
    model = build(variant, RECIPE, seed=3).train()
    losses, _ = twins.losses(model, IDS)
    losses.mean().backward()
    idle = [name for name, weights in model.named_parameters() if weights.grad is None or not weights.grad.any()]
    assert idle == []


def test_delta_module_keeps_its_map():
    """Outside training: a map for each of its heads, half as many, with cells below 0."""
    model = build("delta_3_1", RECIPE, seed=3)
    logits(model)
    maps = model.model.layers[0].self_attn
    assert isinstance(maps, DeltaAttention)
    assert maps.weights.shape == (2, 2, 11, 11)
    assert maps.weights.min() < 0 and not maps.weights.triu(1).any()
