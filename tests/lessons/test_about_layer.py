"""The answers about a layer of heads, beside numpy."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.lessons.samples import D_K, D_MODEL, D_V, H, Sample, hold, sample, scores_of, softmax
from viz.lessons.about_layer import ANSWERS


def head_width(_: Sample) -> Any:
    return float(D_K)


def reads(example: Sample) -> Any:
    head = example.subject.chosen["head"]
    block = example.subject.trace.projections.w_q.numpy()[:, head * D_K : (head + 1) * D_K]
    n = sum(bool(np.any(number @ block)) for number in np.eye(D_MODEL))  # a vector with one number that is not 0
    return {D_MODEL: "all", 1: "one"}.get(n, "part")


def heads_in_output(example: Sample) -> Any:
    weights = example.weights[example.subject.layer]
    parts = [of_head @ message for of_head, message in zip(weights, example.messages, strict=True)]
    n = sum(bool(part[:, 0].any()) for part in parts)
    return {H: "all", 1: "one"}.get(n, "some")


def first_column(_: Sample, head: int) -> Any:
    return float(sum(D_V for _ in range(head)))


def order_of_steps(_: Sample) -> Any:
    return ("q", "scores", "weights", "head_outputs", "concat", "output")


def joined(example: Sample) -> Any:
    outputs = [example.weights[example.subject.layer, head] @ example.values[head] for head in range(H)]
    expected = np.concatenate(outputs, axis=1) @ example.subject.trace.projections.w_o.numpy()
    parts = np.stack(
        [
            weights @ message
            for weights, message in zip(example.weights[example.subject.layer], example.messages, strict=True)
        ]
    )
    assert np.allclose(parts.sum(0), expected)
    return "sum"


def one_head_instead(_: Sample) -> Any:
    def matrices(heads: int, width: int) -> int:
        return sum(D_MODEL * heads * width for _ in ("w_q", "w_k", "w_v", "w_o"))

    return "same" if matrices(H, D_K) == matrices(1, H * D_K) else "less"


def shuffled(example: Sample) -> Any:
    """As the page draws it: without positions, and without a mask that may stand in the link."""
    trace, backwards = example.subject.trace, slice(None, None, -1)
    before, after = (softmax(scores_of(x, trace.projections)) for x in (trace.x.numpy(), trace.x.numpy()[backwards]))
    along = {"words": before[:, backwards, backwards], "places": before}
    return {code for code, expected in along.items() if np.allclose(after, expected, atol=1e-4)}


def heads_for_two_places(_: Sample) -> Any:
    """Two: the sum of two random vectors has half the numbers that both have."""
    x = np.random.default_rng(7).normal(size=(50, 3))
    expected = np.hstack([x[:-2], x[2:]])

    def rest(read: np.ndarray) -> float:
        return float(((expected - read @ np.linalg.pinv(read) @ expected) ** 2).sum() / (expected**2).sum())

    assert rest(x[:-2] + x[2:]) > 0.2 and rest(expected) < 1e-12
    return 2.0


def next_word_head(example: Sample) -> Any:
    n = len(example.subject.labels)
    if n < 4:
        return None
    means = {
        (layer, head): np.mean([example.weights[layer, head, i, i + 1] for i in range(n - 1)])
        for layer in range(example.weights.shape[0])
        for head in range(example.weights.shape[1])
    }
    best = max(means.values())
    return None if best < 0.5 else {place for place, mean in means.items() if mean >= 0.9 * best}


REFERENCES = {work.__name__: work for work in (
    head_width, reads, heads_in_output, first_column, order_of_steps, joined, one_head_instead, shuffled,
    heads_for_two_places, next_word_head,
)}  # fmt: skip


@pytest.mark.parametrize(("heads", "right"), [(range(H), "all"), ([2], "one"), ([0, 4], "some")])
def test_heads_in_output_need_numbers(heads, right):
    """A head whose rows of W_O are empty adds nothing to the output."""
    subject = sample(0).subject
    w_o = torch.zeros_like(subject.trace.projections.w_o).unflatten(0, (H, D_V))
    w_o[[*heads]] = 1
    trace = replace(subject.trace, projections=replace(subject.trace.projections, w_o=w_o.flatten(0, 1)))
    assert ANSWERS["heads_in_output"].work(replace(subject, trace=trace)).right == (right,)


@pytest.mark.parametrize("name", ANSWERS)
def test_key_equals_numpy(name):
    arguments, asks = {"head": 4} if name == "first_column" else {}, 3 if name == "next_word_head" else 10
    hold(ANSWERS[name], REFERENCES[name], arguments, refuses=name == "next_word_head", asks=asks)


def test_one_head_loses_about_half():
    key = ANSWERS["heads_for_two_places"].work(None)
    assert key.values["lost"] == pytest.approx(0.5, abs=0.1)
