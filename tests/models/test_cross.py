"""Cross-attention from every source: queries of one text, keys and values of the other; one text is self-attention."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, TEXT, TWO_SEQUENCES
from viz.core.analysis.map_statistics import entropy
from viz.core.attention import attend
from viz.core.heads import HeadWeights, multi_head, share_kv
from viz.core.spec import AttentionSpec
from viz.frame.compute.head_grid import measures
from viz.models import capture
from viz.models.capture import Capture, seeded
from viz.models.cross import has_cross, pair, self_error, trained_cross
from viz.models.layout import linear as weights_of
from viz.models.tokens import seeded_embeddings, split_words

ASKS = "Paris is old."
ONE_TEXT = [name for name in FAMILIES if name not in TWO_SEQUENCES]


def capture_pair(model) -> tuple[Capture, Capture, Capture]:
    asks, answers = capture(model, ASKS), capture(model, TEXT)
    return asks, answers, pair(asks, answers)


@pytest.mark.parametrize("name", ONE_TEXT)
def test_cross_maps_equal_models_projections(name, load_family):
    """Against the model's own modules: W_Q on one text's vectors, W_K and W_V on the other's, torch's attention."""
    model = load_family(name)
    asks, answers, cross_capture = capture_pair(model)
    Q, K = len(asks.tokens.ids), len(answers.tokens.ids)
    assert Q != K
    assert (cross_capture.queries, cross_capture.tokens) == (asks.tokens, answers.tokens)
    assert cross_capture.n_layers == asks.n_layers
    for i, layer in enumerate(model.layers):
        trace, call = cross_capture.multi_head(i), asks.calls[i]
        assert trace.weights.shape == (cross_capture.n_heads, Q, K)
        assert_close(trace.weights.sum(-1), torch.ones(cross_capture.n_heads, Q))
        assert torch.equal(trace.x, asks.calls[i].x) and torch.equal(trace.memory, answers.calls[i].x)
        mixed = scaled_dot_product_attention(
            call.q, answers.calls[i].k, answers.calls[i].v, scale=call.options["scale"], enable_gqa=True
        )  # fmt: skip
        w_o, b_o = weights_of(layer.output)
        reference = linear(mixed.transpose(0, 1).flatten(1), w_o.T, b_o)
        # There is no soft cap in torch.
        if "score_mod" not in call.options:
            assert_close(trace.output, reference, atol=1e-5 * float(reference.abs().max()), rtol=0)
        if not call.rotary:
            expected = multi_head(call.x, answers.calls[i].x, call.projections, **cross_capture.calls[i].options)
            assert_close(expected.weights, trace.weights, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", FAMILIES)
def test_same_text_equals_self_attention(name, load_family):
    text_capture = capture(load_family(name), TEXT)
    met = pair(text_capture, text_capture)
    for i, call in enumerate(text_capture.calls):
        again = attend(
            call.q, *(share_kv(tensor, len(call.q)) for tensor in (met.calls[i].k, met.calls[i].v)), **call.options
        )
        assert_close(again.weights, text_capture.layer(i).weights)
        if not call.rotary:
            assert self_error(text_capture, i) < 1e-5
            wrong = replace(call, projections=replace(call.projections, w_k=call.projections.w_k.flip(1)))
            assert self_error(replace(text_capture, stacks={"encoder": (wrong,) * text_capture.n_layers}), i) > 1e-4, (
                "it can fail"
            )
    changed_capture = replace(
        text_capture, stacks={"encoder": tuple(replace(c, k=c.k.flip(1)) for c in text_capture.calls)}
    )
    assert (
        pair(text_capture, changed_capture).layer(0).weights - pair(text_capture, text_capture).layer(0).weights
    ).abs().max() > 0.01


@pytest.mark.parametrize("name", ["gpt2", "mistral", "gemma2"])
def test_cross_map_ignores_self_attention_mask(name, load_family):
    asks, _, cross_capture = capture_pair(load_family(name))
    assert asks.layer(0).weights.triu(1).eq(0).all()
    for i in range(cross_capture.n_layers):
        assert cross_capture.layer(i).allowed is None
        assert cross_capture.layer(i).weights.gt(0).all()


def test_a_soft_cap_stays(load_family):
    assert capture_pair(load_family("gemma2"))[2].layer(1).masked.abs().max() <= 3


@pytest.mark.parametrize("name", TWO_SEQUENCES)
def test_encoder_decoder_has_trained_cross_attention(name, load_family):
    model = load_family(name)
    together = capture(model, TEXT, target=ASKS)
    assert has_cross(capture(model, TEXT))
    cross_capture = trained_cross(together)
    assert next(iter(cross_capture.stacks)) == "cross"
    assert cross_capture.queries is cross_capture.target and cross_capture.queries.labels == together.target.labels
    # These are the decoder's layers; the encoder has 2.
    assert cross_capture.n_layers == 3
    for i in range(3):
        assert_close(cross_capture.layer(i).weights, together.layer(i, stack="cross").weights)
        # The encoder's output is the memory.
        assert_close(cross_capture.calls[i].memory, together.final)
    assert cross_capture.multi_head(0).projections.w_k is not together.multi_head(0, stack="encoder").projections.w_k


def test_seeded_heads_equal_multi_head():
    weights = HeadWeights.random(AttentionSpec(d_model=6, n_heads=3), seed=1)
    texts = [split_words(text, 99) for text in (ASKS, TEXT)]
    x, memory = (seeded_embeddings(tokens.ids, 6, 0) for tokens in texts)
    cross_capture = pair(
        *(seeded(tokens, vectors, weights) for tokens, vectors in zip(texts, (x, memory), strict=True))
    )
    want = multi_head(x, memory, weights)
    assert_close(cross_capture.multi_head(0).output, want.output)
    assert_close(cross_capture.final, want.output)
    assert cross_capture.multi_head(0).weights.shape == (3, 4, 12)
    assert cross_capture.queries.labels == ("Paris", "is", "old", ".")


def test_cross_description_omits_self_attention_statistics(load_family):
    """A map between two texts has no statistics that need the same tokens on both sides."""
    asks = capture(load_family("bert"), "the old fox.")
    _, answers, _ = capture_pair(load_family("bert"))
    cross_capture = pair(asks, answers)
    weights = cross_capture.layer(1).weights
    description = measures(cross_capture)(weights)
    assert set(description) == {"entropy", "same", "first", "separators"}
    assert_close(description["entropy"], entropy(weights).mean(-1))
    assert_close(description["first"], weights[:, :, 0].mean(-1))
    keys, queries = answers.tokens, asks.tokens
    rows = [(i, [j for j, key in enumerate(keys.ids) if key == token_id and not keys.special[j]])
            for i, token_id in enumerate(queries.ids)]  # fmt: skip
    rows = [(i, places) for i, places in rows if places]
    assert 1 < len(rows) < len(queries.ids)
    by_hand = torch.stack([sum(weights[:, i, j] for j in places) for i, places in rows]).mean(0)
    assert_close(description["same"], by_hand)
    assert_close(description["separators"], weights[:, :, -1].mean(-1))
    assert "distance" in measures(answers)(answers.layer(0).weights)


def test_the_examples_of_the_page(minilm):
    its = pair(*(capture(minilm, text) for text in ("A sleepy dog stayed on its side of the road.", TEXT)))
    row = its.layer(3).weights[1, its.queries.labels.index("its")]
    assert its.tokens.labels[int(row.argmax())] == "animal"
    kids = pair(
        *(capture(minilm, text)
          for text in ("Where do the kids meet?", "After school the children play football in the park."))
    )  # fmt: skip
    row = kids.layer(0).weights[1, kids.queries.labels.index("kids")]
    assert kids.tokens.labels[int(row.argmax())] == "school"
