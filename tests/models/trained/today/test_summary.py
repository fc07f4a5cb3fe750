"""Summaries over the seeds of a variant."""

import pytest

from viz.models.trained import twins
from viz.models.trained.today import train as today
from viz.models.trained.today.summary import BASELINES, Spread, compared_layers, measure, summarise


def training(variant, *, loss=1.0, shares=((0.1, 0.3), (0.2, 0.2)), copies=((0.1, 0.7), (0.2, 0.0))):
    run = twins.Run(n_kv_heads=2, seed=0, steps=(1, 2), loss=(9.0, loss), accuracy=(0.1, 0.5))
    heads = today.Heads(first_share=shares, induction=copies)
    return today.Trained(variant=variant, parameters=1, run=run, before=heads, after=heads)


def test_summary_by_hand():
    """The last loss, the mean over heads, the best head; mean, lowest and highest over seeds."""
    runs = [training("sink"), training("sink", loss=2.0, shares=((0.1, 0.3), (0.2, 0.6)), copies=((0.9, 0.1), ()))]
    summary = summarise(runs)
    assert summary["loss"] == Spread(mean=1.5, low=1.0, high=2.0)
    assert summary["accuracy"] == Spread(mean=0.5, low=0.5, high=0.5)
    assert vars(summary["first_share"]) == pytest.approx({"mean": 0.25, "low": 0.2, "high": 0.3})
    assert vars(summary["induction"]) == pytest.approx({"mean": 0.8, "low": 0.7, "high": 0.9})


def test_four_layers_compare_last_alone():
    """Shares of layers with the delta rule in one of two neighbours are left out of both."""
    assert compared_layers("delta_3_1") == compared_layers("standard_4") == (3,)
    shares, copies = ((0.9, 0.9),) * 3 + ((0.1, 0.2),), ((1.0, 1.0),) * 3 + ((0.3, 0.4),)
    standard = training("standard_4", shares=shares, copies=copies)
    delta = training("delta_3_1", shares=((), (), (), shares[3]), copies=((), (), (), copies[3]))
    for name, want in (("first_share", 0.15), ("induction", 0.4)):
        assert measure(standard, name) == measure(delta, name) == pytest.approx(want)


def test_baseline_has_same_depth():
    """Every variant but the standard ones is compared with a standard twin of as many layers."""
    assert BASELINES.keys() == today.VARIANTS.keys() - {"standard", "standard_4"}
    for variant, baseline in BASELINES.items():
        assert len(today.VARIANTS[variant]) == len(today.VARIANTS[baseline])
        assert set(today.VARIANTS[baseline]) == {today.StandardAttention}
