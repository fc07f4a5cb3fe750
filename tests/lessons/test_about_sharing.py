"""The answers about shared keys and values, beside plain counts and numpy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.lessons.samples import D_K, D_MODEL, D_V, SEEDS, H, Sample, cut, hold, sample, softmax
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec
from viz.lessons.about_sharing import ANSWERS
from viz.lessons.key import PremiseError

LLAMA = {"heads": 32, "groups": 8, "width": 128, "layers": 32, "tokens": 8192, "number_bytes": 2}


def layer_size(groups: int) -> int:
    return D_MODEL * H * D_K + D_MODEL * groups * (D_K + D_V) + H * D_V * D_MODEL


def reads_head(_: Sample, groups: int, head: int) -> Any:
    return float(sorted(list(range(groups)) * (H // groups))[head])


def cache_share(_: Sample, groups: int) -> Any:
    return groups / H


def parameters_saved(_: Sample, groups: int) -> Any:
    share_saved = 1 - layer_size(groups) / layer_size(H)
    return "less" if share_saved < 1 - groups / H - 0.01 else "other"


def wrong_order(_: Sample, groups: int) -> Any:
    neighbours, in_turn = np.repeat(np.arange(groups), H // groups), np.tile(np.arange(groups), H // groups)
    return "silent" if neighbours.shape == in_turn.shape and (neighbours != in_turn).any() else "right"


def cache_of(_: Sample, **sizes: int) -> Any:
    values = 2 * sizes["layers"] * sizes["groups"] * sizes["width"] * sizes["tokens"]
    return values * sizes["number_bytes"] / 1024**3


REFERENCES = {work.__name__: work for work in (reads_head, cache_share, parameters_saved, wrong_order, cache_of)}
ARGUMENTS: dict[str, dict[str, int]] = {"reads_head": {"groups": 2, "head": 4}, "cache_of": LLAMA}


def test_every_function_has_a_reference():
    assert {*REFERENCES, "pooled"} == set(ANSWERS)


@pytest.mark.parametrize("name", REFERENCES)
def test_key_equals_count(name):
    hold(ANSWERS[name], REFERENCES[name], ARGUMENTS.get(name, {"groups": 2}), refuses=False)


def test_shared_heads_are_not_pooled_again():
    with pytest.raises(PremiseError, match="shares_already"):
        ANSWERS["pooled"].work(sample(0).subject, groups=2)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_pooled_heads_change_equals_numpy(groups):
    spec = AttentionSpec(d_model=D_MODEL, n_heads=H, d_head=D_K, d_value=D_V)
    for seed in SEEDS:
        weights, subject = HeadWeights.random(spec, seed=seed), sample(seed).subject
        trace = multi_head(subject.trace.x.float(), subject.trace.x.float(), weights)
        key = ANSWERS["pooled"].work(replace(subject, trace=trace), groups=groups)
        x, w_k = trace.x.numpy(), cut(weights.w_k.numpy(), H)
        means = np.repeat(w_k.reshape(groups, H // groups, D_MODEL, D_K).mean(1), H // groups, 0)
        q = cut(x @ weights.w_q.numpy(), H)
        before, after = (softmax(q @ (x @ k).transpose(0, 2, 1) / D_K**0.5) for k in (w_k, means))
        change = float(np.abs(before - after).sum(-1).mean() / 2)
        assert key.values["moved"] == pytest.approx(change, abs=1e-4)
        assert key.right == (("changed",) if change > 0.01 else ("same",))
