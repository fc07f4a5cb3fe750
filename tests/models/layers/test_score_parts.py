"""Scores split into parts: against the models' own eager attention, with faults put in, and what is true of models."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from tests import checkpoints
from viz.core.analysis.score_parts import carry_sources, contrast_weights, pair_parts, split_score
from viz.core.analysis.score_parts.exchange import exchange_part
from viz.models.capture import capture, capture_tokens
from viz.models.layers.score_parts import refusal, scoring_heads
from viz.models.load import load
from viz.models.recount.own_attention import own_heads, own_map

FOX = "The quick brown fox jumps over the lazy dog."
TWICE = "the cat saw a red bird and the dog ran home . the cat saw a red"
SMALL = 1e-30
"""Below it float32 has too few digits left for a logarithm."""


def words(read, query):
    """The visible words that scores are held against: no special tokens, not a decoder's first one."""
    first = 1 if "decoder" in read.stacks else 0
    end = query + 1 if first else len(read.tokens.ids)
    return [t for t in range(first, end) if not read.tokens.special[t]]


def contrast_of(weights, query, key, against):
    """The contrast by another route: log A of the key, minus its mean over the same other keys."""
    logs = weights[query].double().log()
    return float(logs[key] - logs[against].mean())


def relative_error(split, expected):
    """The largest difference of a sum of parts from what it should be, by the sum of their sizes."""
    sides = [[part.amount for part in split.side(side)] for side in ("query", "key")]
    return max(abs(sum(side) - expected) / sum(map(abs, side)) for side in sides)


def assert_heads_are_exact(model, text):
    """Split one drawn edge of every head, and hold it to the logarithms of the model's own eager weights."""
    read, generator = capture(model, text), torch.Generator().manual_seed(0)
    count = 0
    for layer in range(read.n_layers):
        assert refusal(model, read, layer) == ""
        maps = own_heads(model, read, layer)[0]
        for number, (head, weights) in enumerate(zip(scoring_heads(model, read, layer), maps, strict=True)):
            query = words(read, len(read.tokens.ids) - 1)[-1 - (layer + number) % 4]
            visible = [t for t in words(read, query) if weights[query, t] > SMALL]
            key = visible[int(torch.randint(len(visible), (), generator=generator))]
            against = [t for t in visible if t != key]
            if not against:
                continue
            split = split_score(head, query, contrast_weights(len(weights), key, against))
            expected = contrast_of(weights, query, key, against)
            assert relative_error(split, expected) <= 5e-5, (layer, number)
            sizes = sum(abs(part.amount) for part in split.parts)
            assert abs(split.contrast - expected) <= 5e-5 * sizes
            by_group = split.grid.sum(1)[[0, 1, 3]], split.grid.sum(0)[[0, 1, 3]]
            for side, groups in zip(("query", "key"), by_group, strict=True):
                # Each group carried forward is the sum of its parts carried back.
                for kind, amount in zip(("word", "place", "feed_forward"), groups.tolist(), strict=True):
                    parts = sum(part.amount for part in split.side(side) if part.kind == kind)
                    assert parts == pytest.approx(amount, abs=5e-5 * sizes)
            count += 1
    return count


def test_minilm_split_is_exact(minilm):
    assert assert_heads_are_exact(minilm, "The animal didn't cross the street because it was too tired.") == 72


def test_twin_split_is_exact():
    assert assert_heads_are_exact(load("twin-g8"), TWICE) == 16


@pytest.mark.long
def test_smollm2_split_is_exact(smollm2):
    assert assert_heads_are_exact(smollm2, "Paris is old and Paris is big.") > 250


@pytest.mark.long
def test_e5_split_is_exact(e5):
    assert assert_heads_are_exact(e5, "Paris is the capital of France.") == 144


@pytest.mark.parametrize("name", ["bert", "roberta", "distilbert", "gpt2", "llama", "mistral", "qwen2"])
def test_random_checkpoint_split_is_exact(load_family, name):
    """Of sizes without common factors: post-norm and pre-norm, with a table of places or RoPE, biases and groups."""
    assert assert_heads_are_exact(load_family(name), checkpoints.TEXT) >= 8


@pytest.mark.parametrize("name", ["gemma2", "qwen3", "t5", "bart", "deepseek_v3"])
def test_untried_models_are_refused(load_family, name):
    model = load_family(name)
    assert refusal(model, capture(model, checkpoints.TEXT), 0).endswith((".",))


@pytest.mark.parametrize(
    ("option", "sentence"),
    [("bias", "a bias of its own"), ("score_mod", "a cap on its scores"), ("sink", "a learned sink")],
)
def test_untried_options_are_refused(minilm, option, sentence):
    read = capture(minilm, FOX)
    call = replace(read.calls[0], options={**read.calls[0].options, option: torch.zeros(1)})
    assert sentence in refusal(minilm, replace(read, stacks={"encoder": (call, *read.calls[1:])}), 0)


def edge(model, text, layer, number, query, key):
    """A head, the edge's query and key, its weights of all keys, and the other words."""
    read = capture(model, text)
    i, j = (read.tokens.labels.index(at) if isinstance(at, str) else at for at in (query, key))
    against = [t for t in words(read, i) if t != j]
    return scoring_heads(model, read, layer)[number], i, j, own_map(model, read.tokens.ids, layer, number), against


def change_blocks(head, change):
    return replace(head, blocks=tuple(map(change, head.blocks)))


def without_shifts(trace):
    weights = trace.weights
    names = ("attention_norm", "feed_forward_norm")
    return replace(
        trace, weights=replace(weights, **{name: replace(getattr(weights, name), shift=None) for name in names})
    )


def neighbours_scales(trace):
    part = trace.attention_sublayer
    return replace(trace, attention_sublayer=replace(part, added=part.added.roll(1, 0)))


def without_output_bias(trace):
    weights = trace.weights
    return replace(trace, weights=replace(weights, attention=replace(weights.attention, b_o=None)))


def exchange_heads(trace):
    part = trace.attention_sublayer.part
    swapped = replace(part, contributions=part.contributions[[1, 0, *range(2, len(part.contributions))]])
    return replace(trace, attention_sublayer=replace(trace.attention_sublayer, part=swapped))


FAULTS = {
    "b_q": lambda head: replace(head, b_q=torch.zeros_like(head.b_q)),
    "scale": lambda head: replace(head, scale=1.0),
    "shifts": lambda head: change_blocks(head, without_shifts),
    "neighbour's scale": lambda head: change_blocks(head, neighbours_scales),
    "W_O's bias": lambda head: change_blocks(head, without_output_bias),
    "token types": lambda head: replace(head, constant=torch.zeros_like(head.constant)),
    "embedding's norm": lambda head: replace(head, embedding_norm=None),
    "a block": lambda head: replace(head, blocks=head.blocks[:-1]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_in_encoder_is_noticed(minilm, fault):
    head, i, j, weights, against = edge(minilm, checkpoints.TEXT, 3, 1, "it", "animal")
    c, expected = contrast_weights(len(weights), j, against), contrast_of(weights, i, j, against)
    assert relative_error(split_score(head, i, c), expected) <= 5e-5
    assert relative_error(split_score(FAULTS[fault](head), i, c), expected) > 5e-5


def test_fault_in_decoder_is_noticed(load_family):
    """No RoPE, another group's keys, b_k left out, masked keys in the mean, and the two ends exchanged."""
    model = load_family("qwen2")
    head, i, j, weights, against = edge(model, checkpoints.TEXT, 1, 1, 6, 2)
    neighbour = scoring_heads(model, capture(model, checkpoints.TEXT), 1)[3]
    n, expected = len(weights), contrast_of(weights, i, j, against)
    c = contrast_weights(n, j, against)
    later = contrast_weights(n, j, [t for t in range(1, n) if t != j])
    faults = (
        split_score(replace(head, turns=None), i, c),
        split_score(replace(head, w_k=neighbour.w_k, b_k=neighbour.b_k), i, c),
        split_score(replace(head, b_k=torch.zeros_like(head.b_k)), i, c),
        split_score(head, i, later),
        split_score(head, j, contrast_weights(n, i, [t for t in against if t != i])),
    )
    assert relative_error(split_score(head, i, c), expected) <= 5e-5
    assert all(relative_error(fault, expected) > 5e-5 for fault in faults)


def forward(minilm, read, layer, number, head, i, c):
    """The part of a head of ``layer`` at the query of ``head``, two layers above, from W_O's own rows on."""
    norms = {}

    def note(module, args):
        norms[module] = args[0][0]

    blocks = minilm.model.base_model.encoder.layer
    behind = [blocks[layer].attention.output.LayerNorm, blocks[layer].output.LayerNorm]
    behind += [norm for b in blocks[layer + 1 : 3] for norm in (b.attention.output.LayerNorm, b.output.LayerNorm)]
    hooks = [norm.register_forward_pre_hook(note) for norm in behind]
    with torch.inference_mode():
        minilm.model(input_ids=torch.tensor([read.tokens.ids]))
    for hook in hooks:
        hook.remove()
    z = own_heads(minilm, read, layer)[1][i, number].double()
    width = len(z)
    part = blocks[layer].attention.output.dense.weight.detach().double()[:, number * width : (number + 1) * width] @ z
    for norm in behind:
        x = norms[norm][i].double()
        part = norm.weight.detach().double() * (part - part.mean()) / (x.var(correction=0) + norm.eps).sqrt()
    k = head.queries_and_keys()[1]
    return float(part @ head.w_q.double() @ (c @ k)) * head.scale


def test_exchanged_heads_are_noticed(minilm):
    """Each head's part carried forward from its own rows of W_O; the sum cannot tell two exchanged heads."""
    read = capture(minilm, checkpoints.TEXT)
    head, i, j, weights, against = edge(minilm, checkpoints.TEXT, 3, 1, "it", "animal")
    c = contrast_weights(len(weights), j, against)
    fault = change_blocks(head, exchange_heads)
    for layer in range(3):
        expected = [forward(minilm, read, layer, number, head, i, c) for number in range(2)]
        for variant, is_right in ((head, True), (fault, False)):
            parts = {(p.layer, p.head): p.amount for p in split_score(variant, i, c).side("query")}
            values = [parts[layer, number] for number in range(2)]
            assert (values == pytest.approx(expected, abs=1e-4)) is is_right
    assert relative_error(split_score(fault, i, c), contrast_of(weights, i, j, against)) <= 5e-5


def test_fox_looks_by_place(minilm):
    """Layer 0 head 2 looks at the word before, by the place at both ends; another place there ends it."""
    head, i, j, weights, against = edge(minilm, FOX, 0, 2, "fox", "brown")
    split = split_score(head, i, contrast_weights(len(weights), j, against))
    part = split.main_part()
    assert part is not None and part.kind == "place"
    assert (float(split.grid[1, 1]), split.contrast) == pytest.approx((17.1, 19.2), abs=0.05)
    donors = torch.tensor([t for t in against if t != i])
    assert exchange_part(head, i, j, part, torch.tensor([i])).item() == pytest.approx(float(weights[i, j]), abs=1e-5)
    assert exchange_part(head, i, j, part, donors).mean() < 0.05


def test_exchanged_place_equals_models_own(minilm):
    """The query of a pass in which the model itself gave the word another place."""
    read = capture(minilm, FOX)
    head, i, j, weights, against = edge(minilm, FOX, 0, 2, "fox", "brown")
    split = split_score(head, i, contrast_weights(len(weights), j, against))
    part, donor = next(p for p in split.side("query") if p.kind == "place"), 8
    vectors, rows = minilm.embeddings(list(read.tokens.ids)), minilm.positions()
    vectors = vectors.index_add(0, torch.tensor([i]), (rows[donor] - rows[i])[None])
    altered, call = capture_tokens(minilm, read.tokens, vectors=vectors).calls[0], read.calls[0]
    expected = (altered.q[2, i] @ call.k[2].T * call.q.shape[-1] ** -0.5).softmax(-1)[j]
    assert_close(exchange_part(head, i, j, part, torch.tensor([donor])).float()[0], expected, atol=1e-6, rtol=1e-4)


def test_it_looks_by_no_single_part(minilm):
    head, i, j, weights, against = edge(minilm, checkpoints.TEXT, 3, 1, "it", "animal")
    split = split_score(head, i, contrast_weights(len(weights), j, against))
    assert split.main_part() is None
    assert float(split.grid[1, 1]) == pytest.approx(0.04, abs=0.01)


def test_induction_is_by_word_before():
    """The word behind an earlier *red* is looked at since head 0.0 wrote there that *red* stood before it."""
    head, i, j, weights, against = edge(load("twin-g8"), TWICE, 1, 7, 16, 5)
    c = contrast_weights(len(weights), j, against)
    split = split_score(head, i, c)
    part = split.main_part()
    assert part is not None and (part.side, part.kind, part.layer, part.head) == ("key", "head", 0, 0)
    assert (part.amount, split.contrast) == pytest.approx((13.15, 17.36), abs=0.05)
    by_word = pair_parts(head, i, c, carry_sources)
    assert float(by_word.sum()) == pytest.approx(split.contrast, abs=1e-3)
    # The red that looks and the red before bird, and the a before each.
    assert (float(by_word[16, 4]), float(by_word[15, 3])) == pytest.approx((12.91, 5.77), abs=0.05)
    donors, allowed = torch.tensor([t for t in against if t != j]), torch.arange(len(weights)) <= i
    after = exchange_part(head, i, j, part, donors, allowed)
    rivals = [p for p in split.side("key") if p.kind == "head" and p != part]
    assert after.mean() < 0.1
    assert min(exchange_part(head, i, j, p, donors, allowed).mean() for p in rivals) > 0.6
