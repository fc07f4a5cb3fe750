"""Scores split into parts: against the models' own eager attention, with faults put in, and what is true of models."""

from dataclasses import replace

import pytest
import torch

from bench.why import measure
from tests import checkpoints
from viz.core.analysis.score_parts import (
    Part,
    contrast_weights,
    split_by_words,
    split_change,
    split_score,
)
from viz.errors import ModelError
from viz.models.capture import capture, capture_tokens
from viz.models.layers.score_parts import explain, scoring_heads
from viz.models.load import load
from viz.models.recount.own_attention import own_heads

FOX = "The quick brown fox jumps over the lazy dog."
TWICE = "the cat saw a red bird and the dog ran home . the cat saw a red"
EXACT = 5e-5


def contrast_of(weights, query, c):
    """The contrast by another route: the logarithms of the model's own weights."""
    keys = c.nonzero().flatten()
    return float(weights[query, keys].double().log() @ c[keys].double())


def relative_error(sides, expected):
    """The largest difference of a sum of parts from what it should be, by the sum of their sizes, or by 0.1."""
    return max(abs(sum(side.values()) - expected) / max(0.1, sum(map(abs, side.values()))) for side in sides)


def count_exact_heads(model, text):
    """Split one drawn edge of every head, and hold it to the logarithms of the model's own eager weights."""
    read, generator, count = capture(model, text), torch.Generator().manual_seed(0), 0
    for layer in range(read.n_layers):
        maps = own_heads(model, read, layer)[0]
        for number, (head, weights) in enumerate(zip(scoring_heads(model, read, layer), maps, strict=True)):
            query = head.plain[-1 - (layer + number) % 4]
            # Below 1e-30 float32 has too few digits left for a logarithm.
            visible = [t for t in head.rivals((query, -1)) if weights[query, t] > 1e-30]
            key = visible.pop(int(torch.randint(len(visible), (), generator=generator)))
            if not visible:
                continue
            c = contrast_weights(len(weights), key, visible)
            assert relative_error(split_score(head, query, c)[:2], contrast_of(weights, query, c)) <= EXACT, (
                layer,
                number,
            )
            count += 1
    return count


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("all-MiniLM-L6-v2", checkpoints.TEXT, 72),
        ("twin-g8", TWICE, 16),
        pytest.param("SmolLM2-135M-Instruct", "Paris is old and Paris is big.", 270, marks=pytest.mark.long),
        pytest.param("multilingual-e5-small", "Paris is the capital of France.", 144, marks=pytest.mark.long),
    ],
)
def test_trained_split_is_exact(name, text, count):
    assert count_exact_heads(load(name), text) == count


@pytest.mark.parametrize("name", ["bert", "roberta", "distilbert", "gpt2", "llama", "mistral", "qwen2"])
def test_random_checkpoint_split_is_exact(load_family, name):
    """Of sizes without common factors: post-norm and pre-norm, with a table of places or RoPE, biases and groups."""
    assert count_exact_heads(load_family(name), checkpoints.TEXT) >= 8


@pytest.mark.parametrize("name", ["gemma2", "qwen3", "t5", "bart", "deepseek_v3", "gpt_oss"])
def test_untried_models_are_refused(load_family, name):
    """Caps, norms of queries and keys, two stacks, latent attention, learned sinks."""
    model = load_family(name)
    with pytest.raises(ModelError) as refusal:
        scoring_heads(model, capture(model, checkpoints.TEXT), 1)
    assert refusal.value.code == "split"


def edge(model, text, layer, number, query, key):
    """A head, an edge, its contrast, and the model's own weights."""
    read = capture(model, text)
    i, j = (read.tokens.labels.index(at) if isinstance(at, str) else at for at in (query, key))
    head, weights = scoring_heads(model, read, layer)[number], own_heads(model, read, layer)[0][number]
    return head, i, j, contrast_weights(len(weights), j, head.rivals((i, j))), weights


def change_steps(head, change):
    """Change steps, or leave out those that the change turns into None."""
    return replace(head, steps=tuple(step for step in map(change, head.steps) if step is not None))


def rename_heads(head):
    """Give heads what their neighbours wrote."""
    return change_steps(head, lambda step: step._replace(parts=step.parts[1:] + step.parts[:1]))


def without(name):
    """Leave out the parts of a kind or a layer."""
    return lambda head: change_steps(head, lambda step: None if any(name in part for part in step.parts) else step)


FAULTS = {
    "b_q": lambda head: replace(head, b_q=torch.zeros_like(head.b_q)),
    "scale": lambda head: replace(head, scale=1.0),
    "shift": lambda head: replace(head, steps=(*head.steps[:4], *head.steps[5:])),
    "neighbour's scale": lambda head: change_steps(
        head, lambda step: step._replace(x=step.x.roll(int(step.norm is not None), 0))
    ),
    "constants": without("constant"),
    "first norm": lambda head: replace(head, steps=(*head.steps[:3], *head.steps[4:])),
    "a block": without(2),
    "places": without("place"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_in_encoder_is_noticed(minilm, fault):
    head, i, _, c, weights = edge(minilm, checkpoints.TEXT, 3, 1, "it", "animal")
    expected = contrast_of(weights, i, c)
    assert relative_error(split_score(head, i, c)[:2], expected) <= EXACT
    assert relative_error(split_score(FAULTS[fault](head), i, c)[:2], expected) > EXACT


def test_fault_in_decoder_is_noticed(load_family):
    """No RoPE, another group's keys, b_k left out, masked keys in the mean, and the two ends exchanged."""
    model = load_family("qwen2")
    head, i, j, c, weights = edge(model, checkpoints.TEXT, 1, 1, 6, 2)
    neighbour = scoring_heads(model, capture(model, checkpoints.TEXT), 1)[3]
    n, expected = len(weights), contrast_of(weights, i, c)
    faults = (
        (replace(head, turns=None), i, c),
        (replace(head, w_k=neighbour.w_k, b_k=neighbour.b_k), i, c),
        (replace(head, b_k=torch.zeros_like(head.b_k)), i, c),
        (head, i, contrast_weights(n, j, [t for t in range(1, n) if t != j])),
        (head, j, contrast_weights(n, i, [t for t in range(1, i) if t != j])),
    )
    assert relative_error(split_score(head, i, c)[:2], expected) <= EXACT
    assert all(relative_error(split_score(*fault)[:2], expected) > EXACT for fault in faults)


def test_induction_is_by_word_before():
    """The word behind an earlier *red* is looked at since head 0.0 wrote there that *red* stood before it."""
    head, i, j, c, _ = edge(load("twin-g8"), TWICE, 1, 7, 16, 5)
    reason, part = explain(head, (i, j)), Part("head", 0, 0)
    assert (reason.side, reason.part, reason.is_cause) == (1, part, True)
    assert (reason.sides[1][part], reason.total) == pytest.approx((13.15, 17.36), abs=0.05)
    by_word = split_by_words(head, i, c)
    assert float(by_word.sum()) == pytest.approx(reason.total, abs=1e-3)
    # The red that looks and the red before bird, and the a before each.
    assert (float(by_word[16, 4]), float(by_word[15, 3])) == pytest.approx((12.91, 5.77), abs=0.05)
    rivals = [head.exchange_own((i, j), 1, Part("head", 0, number)) for number in range(1, 8)]
    assert reason.after < 0.1 and min(rivals) > 0.6


def test_exchanged_place_equals_models_own(minilm):
    """The query of a pass in which the model itself gave the word another place."""
    head, i, j, *_ = edge(minilm, FOX, 0, 2, "fox", "brown")
    read, donor = capture(minilm, FOX), 8
    vectors, rows = minilm.embeddings(list(read.tokens.ids)), minilm.positions()
    vectors = vectors.index_add(0, torch.tensor([i]), (rows[donor] - rows[i])[None])
    moved_place, call = capture_tokens(minilm, read.tokens, vectors=vectors).calls[0], read.calls[0]
    expected = (moved_place.q[2, i] @ call.k[2].T * call.q.shape[-1] ** -0.5).softmax(-1)[j]
    assert head.exchange((i, j), 0, Part("place"), rows[[donor]]) == pytest.approx(float(expected), abs=1e-6)


def test_change_is_split_exactly(minilm):
    """From tired to wide: three heads of layer 2 at *it* carry it, and exchanged heads are noticed by their names."""
    edges = [edge(minilm, checkpoints.TEXT.replace("tired", word), 3, 1, "it", "animal") for word in ("tired", "wide")]
    heads, c = [head for head, *_ in edges], contrast_weights(len(edges[0][0].q), 2, [8])
    at_query, at_key = split_change(heads, (10, 10), (c, c))
    change = contrast_of(edges[1][4], 10, c) - contrast_of(edges[0][4], 10, c)
    assert sum(at_query.values()) + sum(at_key.values()) == pytest.approx(change, abs=1e-5)
    assert change == pytest.approx(-1.76, abs=0.01)
    largest = sorted((part for part in at_query if part.kind == "head"), key=at_query.get)[:3]
    assert {(part.layer, part.head) for part in largest} == {(2, 1), (2, 3), (2, 8)}
    wrong = split_change((heads[0], rename_heads(heads[1])), (10, 10), (c, c))[0]
    assert sorted((part for part in wrong if part.kind == "head"), key=wrong.get)[:3] != largest


@pytest.mark.long
@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "twin-g8"])
def test_named_parts_are_causes(name):
    """At least nine of ten halve the weight with another text's parts, and do more than four others of their side."""
    counts = measure(name, 40)
    assert counts.kinds.total() >= 10
    assert min(counts.n_halves, counts.n_firsts) >= 0.9 * counts.kinds.total()
