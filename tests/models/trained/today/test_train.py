"""Twins with current attention variants: trained, measured, recorded and summarised over seeds."""

import math
from dataclasses import replace

import pytest
import torch

from viz.models.trained import twins
from viz.models.trained.today import train as today

SMALL = replace(
    twins.Recipe(), d_model=24, n_heads=4, d_ff=17, steps=2, measured_every=1, batch=2, measured_on=2, longest=61
)


@pytest.fixture
def temporary_results(tmp_path, monkeypatch):
    twins.words()
    monkeypatch.setattr(twins, "FOLDER", tmp_path)
    today.trainings.cache_clear()
    yield tmp_path
    today.trainings.cache_clear()


def test_training_is_recorded_and_read(temporary_results):
    """A training is read back from the file; a second training with the same seed replaces the first."""
    assert today.trainings() == ()
    trained = [today.train(variant, SMALL, seed=0) for variant in ("sink", "delta_3_1")]
    today.save(trained[1:], SMALL)
    today.save(trained[:1], SMALL)
    assert today.trainings() == (trained[0], trained[1]), "in the order of the variants"
    today.save([replace(trained[0], parameters=7)], SMALL)
    assert [training.parameters for training in today.trainings()] == [7, trained[1].parameters]


def test_heads_are_measured_where_maps_are():
    """Two softmax layers have a row each, three layers with the delta rule an empty one before the full layer's."""
    sink, delta = (today.train(variant, SMALL, seed=0) for variant in ("sink", "delta_3_1"))
    assert [len(row) for row in sink.first_share] == [4, 4]
    assert [len(row) for row in delta.induction] == [0, 0, 0, 4]
    assert all(0 < share < 1 for row in sink.first_share for share in row)


def test_sinks_take_weight_at_once():
    """Untrained, 24 words on the average and one sink share a row: less on the first word than without."""
    standard, sink = (
        today.measure_heads(today.build(variant, SMALL, seed=0).eval(), SMALL, seed=0)
        for variant in ("standard", "sink")
    )
    for without, within in zip(standard["first_share"], sink["first_share"], strict=True):
        assert all(b < a for a, b in zip(without, within, strict=True))


def test_seed_decides():
    """The same seed trains the same twin, another seed another."""
    first, again, second = (today.train("gate", SMALL, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.run.loss != second.run.loss


def test_summary_by_hand():
    """Means and standard deviations over seeds; the best head counts for copying; NaN where there is none."""
    run = twins.Run(n_kv_heads=8, seed=0, steps=(1,), loss=(1.0,), accuracy=(0.5,))
    runs = [
        today.Trained(variant="sink", parameters=1, run=replace(run, seed=seed, loss=(loss,)),
                      first_share=((0.1, 0.3), (0.2, share)), induction=((0.1, best), (0.2, 0.0)))
        for seed, loss, share, best in ((0, 1.0, 0.2, 0.9), (1, 2.0, 0.6, 0.7))
    ]  # fmt: skip
    summary = today.summarise("sink", runs)
    half = 1 / math.sqrt(2)
    assert summary["loss"] == pytest.approx((1.5, half))
    assert summary["accuracy"] == (0.5, 0.0)
    assert summary["first_share"] == pytest.approx((0.25, 0.1 * half))
    assert summary["induction"] == pytest.approx((0.8, 0.2 * half))
    alone = today.summarise("delta_4", [replace(runs[0], variant="delta_4", first_share=((),), induction=((),))])
    assert alone["loss"][0] == 1.0 and math.isnan(alone["loss"][1]) and math.isnan(alone["first_share"][0])


def test_variants_follow_recipe():
    """Two layers, or four; the standard twin is as large as twin-g8, and a sink adds one number a head."""
    recipe = twins.Recipe()
    sizes = {variant: today.count(today.build(variant, recipe, seed=0)) for variant in today.VARIANTS}
    assert sizes["standard"] == 394_112
    assert sizes["sink"] == 394_112 + 2 * 8
    assert sizes["gate"] == 394_112 + 2 * 128 * 128
    assert len(today.build("delta_3_1", recipe, seed=0).model.layers) == 4
    assert torch.equal(
        today.build("sink", recipe, seed=0).model.embed_tokens.weight,
        twins.build(8, recipe, seed=0).model.embed_tokens.weight,
    )
