"""Queries and keys of a long text, against the ordinary capture of the same text with every matrix."""

import pytest
import torch
from torch.testing import assert_close

from tests.checkpoints import TEXT, eager, open_folder, save
from viz.cancellation import checked_by
from viz.core.attention import attend
from viz.core.heads import HeadWeights
from viz.core.long.rows import weights_of_rows
from viz.core.long.streamed import long_map
from viz.core.spec import AttentionSpec
from viz.core.variants.today.bounded_scores import soft_cap
from viz.errors import ModelError
from viz.models import attention_interface
from viz.models.attention_interface import RowMask
from viz.models.capture import capture_tokens, seeded
from viz.models.long import masks
from viz.models.long.capture import long_capture, long_seeded
from viz.models.long.packed import pack
from viz.models.tokens import read_text, split_words

EXACT = 2e-6
"""Of q and k, as a share of the largest number."""
ROW_OFF = 4e-6
"""Of a weight: both ways to it round its scores, and the exponential makes that larger."""

PLAIN = ("llama", "qwen2", "gpt2", "gpt_bigcode", "bert", "roberta", "splinter", "markuplm")


def tokens_of(model):
    return read_text(model.tokenizer, TEXT, 23)


@pytest.mark.parametrize("name", PLAIN)
def test_long_capture_equals_ordinary_capture(load_family, name):
    """The page says that every row of every head is exact: it is the row that float32 gives with nothing stored."""
    model = load_family(name)
    tokens = tokens_of(model)
    every, progress = torch.arange(len(tokens.ids)), []
    long, ordinary = long_capture(model, tokens, progress.append), capture_tokens(model, tokens)
    assert progress == [1, 2]
    assert long.n_heads == ordinary.n_heads
    assert long.causal is (model.layers[0].layout.stack == "decoder")
    for i, (layer, call) in enumerate(zip(long.layers, ordinary.calls, strict=True)):
        assert layer.scale == call.options["scale"]
        assert_close(layer.q, call.q, rtol=0, atol=EXACT * float(call.q.abs().max()))
        assert_close(layer.k, call.k, rtol=0, atol=EXACT * float(call.k.abs().max()))
        weights = ordinary.layer(i).weights
        assert_close(layer.witness, weights[:, long.witness_at], rtol=1e-4, atol=1e-6)
        rows = torch.stack([long.rows_of(i, head, every) for head in range(long.n_heads)])
        assert_close(rows, weights, rtol=0, atol=ROW_OFF)


def test_smollm2_long_rows_are_exact(smollm2):
    """Large queries and keys, as trained models have them: in half precision these weights were off by 1.7e-3."""
    tokens = read_text(smollm2.tokenizer, "The cat sat on the mat because it was tired. " * 12, 120)
    long, ordinary, every = long_capture(smollm2, tokens), capture_tokens(smollm2, tokens), torch.arange(120)
    for layer, head in ((0, 0), (9, 4), (18, 6), (29, 8)):
        weights = ordinary.layer(layer).weights[head]
        assert_close(long.rows_of(layer, head, every), weights, rtol=0, atol=10 * EXACT)


@pytest.mark.parametrize("largest", [1e-30, 1.0, 3e5, 1e30])
def test_pack_rounds_no_further_than_float32(largest):
    """A number moves by at most 2^-23 of its vector's largest, however large or small that is; zeros stay."""
    values = torch.randn(3, 5, 7, generator=torch.Generator().manual_seed(0))
    values *= largest
    values[1, 2] = 0
    packed = pack(values)
    assert (packed.high.dtype, packed.low.dtype) == (torch.int16, torch.uint8), "three bytes a number"
    off = (packed.unpack().double() - values.double()).abs()
    assert (off <= 2.0**-23 * values.double().abs().amax(-1, keepdim=True)).all()
    assert_close(packed[1], packed.unpack()[1], rtol=0, atol=0)


@pytest.mark.parametrize(("name", "code"), [("t5", "streamed_pair"), ("glm_moe_dsa", "streamed_chosen")])
def test_attention_beyond_qk_is_refused(load_family, name, code):
    """A layer whose scores need more than queries and keys is refused, and one that chooses its keys."""
    model = load_family(name)
    with pytest.raises(ModelError) as refusal:
        long_capture(model, tokens_of(model))
    assert refusal.value.code == code


LOCAL = {
    "mistral": {},
    "gemma2": {},
    "gemma3_text": {"num_hidden_layers": 6, "attn_logit_softcapping": 2.0},
    "cohere2": {"num_hidden_layers": 4, "sliding_window_pattern": 4},
    "llama4_text": {"attention_chunk_size": 7},
    "modernbert": {"num_hidden_layers": 4},
    "modernbert-decoder": {"num_hidden_layers": 4},
    "gemma4_text": {},
    "gemma4_unified_text": {},
    "mimo_v2_flash": {},
}
"""Windows of one layer or of some (5:1 in Gemma 3), soft caps, chunks, and a window to both sides."""


@pytest.mark.parametrize("name", LOCAL)
def test_long_capture_windows_rows_are_eager(tmp_path, name):
    """Each row of each head is that of transformers' eager attention, on a text longer than the window."""
    folder = save(name, tmp_path / name, **LOCAL[name])
    model = open_folder(folder)
    tokens = read_text(model.tokenizer, TEXT, 37)
    with torch.inference_mode():
        attentions = eager(name, folder)(input_ids=torch.tensor([tokens.ids]), output_attentions=True).attentions
    long, every = long_capture(model, tokens), torch.arange(len(tokens.ids))
    is_local = [layer.allowed is not None for layer in long.layers]
    assert any(is_local)
    for layer, weights in enumerate(attentions):
        rows = torch.stack([long.rows_of(layer, head, every) for head in range(long.n_heads)])
        assert_close(rows, weights[0], rtol=0, atol=10 * ROW_OFF)
        head = long.n_heads - 1
        assert_close(long.map_of(layer, head).most, weights[0, head], rtol=0, atol=10 * ROW_OFF)
        if is_local[layer]:
            assert (long.sees(layer, every) == (weights[0] > 0).any(0).sum(-1)).all()


@pytest.mark.parametrize("name", ["gpt_oss", "flint", "granite_swa"])
def test_long_capture_sinks_rows_are_exact(tmp_path, name):
    """Rows of heads with a sink sum to less than 1, and are those of the ordinary capture, which is held to eager."""
    model = open_folder(save(name, tmp_path / name))
    tokens = read_text(model.tokenizer, TEXT, 37)
    long, ordinary, every = long_capture(model, tokens), capture_tokens(model, tokens), torch.arange(len(tokens.ids))
    for i, (layer, call) in enumerate(zip(long.layers, ordinary.calls, strict=True)):
        assert layer.sinks is not None
        weights = ordinary.layer(i).weights
        assert_close(layer.q, call.q, rtol=0, atol=5 * EXACT * float(call.q.abs().max()))
        rows = torch.stack([long.rows_of(i, head, every) for head in range(long.n_heads)])
        assert_close(rows, weights, rtol=0, atol=10 * ROW_OFF)
        assert_close(layer.witness, weights[:, long.witness_at], rtol=0, atol=10 * ROW_OFF)
        head_map = long.map_of(i, 1)
        assert_close(head_map.most, weights[1], rtol=0, atol=10 * ROW_OFF)
        assert_close(head_map.rows.nowhere, 1 - weights[1].sum(-1), rtol=0, atol=10 * ROW_OFF)
        assert float(head_map.rows.nowhere.max()) > 0.01


def test_row_mask_of_window_by_hand():
    """A causal window of two: a query sees itself and the one before."""
    mask = RowMask(lambda batch, head, query, key: (key <= query) & (key > query - 2))
    assert mask(torch.tensor([0, 2]), 4).tolist() == [[True, False, False, False], [False, True, True, False]]
    q = k = torch.zeros(4, 2)
    options = {"scale": 1.0, "causal": True, "allowed": mask}
    assert weights_of_rows(q, k, torch.tensor([2]), **options).tolist() == [[0.0, 0.5, 0.5, 0.0]]
    assert long_map(q, k, cells=4, **options).rows.distance.tolist() == [0.0, 0.5, 0.5, 0.5]


@pytest.mark.parametrize("height", [1, 5, 64])
def test_attend_by_rows_strips_agree(monkeypatch, height):
    """Strips of any height give what one product of all rows gives, with a cap and without."""
    monkeypatch.setattr(masks, "STRIP", 0)
    monkeypatch.setattr(masks, "FEWEST", height)
    q, k, v = torch.randn(3, 1, 2, 23, 7, generator=torch.Generator().manual_seed(0))
    mask = RowMask(lambda batch, head, query, key: abs(key - query) <= 3)
    may = mask(torch.arange(23), 23)
    for cap in (None, soft_cap(0.7)):
        output = masks.attend_by_rows(q, k, v, scale=0.4, causal=False, allowed=mask, score_mod=cap)
        assert_close(output, attend(q, k, v, scale=0.4, allowed=may, score_mod=cap).output)


def test_long_pass_leaves_ordinary_attention_alone(load_family, monkeypatch):
    """The ordinary attention is never called, and nothing of a long pass stays installed."""
    model = load_family("llama")
    before = capture_tokens(model, tokens_of(model)).final
    with monkeypatch.context() as patch:
        patch.setattr(attention_interface, "attend", lambda *_, **__: pytest.fail("a matrix of all weights"))
        long_capture(model, tokens_of(model))
    assert_close(capture_tokens(model, tokens_of(model)).final, before)


def test_it_can_be_stopped_between_layers(load_family):
    def stop():
        raise InterruptedError

    model = load_family("llama")
    with pytest.raises(InterruptedError), checked_by(stop):
        long_capture(model, tokens_of(model))


def test_long_seeded_equals_seeded():
    tokens, spec = split_words(TEXT, 50), AttentionSpec(d_model=12, n_heads=3, n_kv_heads=1)
    x = torch.randn(len(tokens.ids), 12, generator=torch.Generator().manual_seed(0))
    weights = HeadWeights.random(spec, seed=5)
    long, call = long_seeded(tokens, x, weights), seeded(tokens, x, weights).calls[0]
    assert_close((long.layers[0].q, long.layers[0].k), (call.q, call.k), rtol=0, atol=EXACT)
    assert_close(long.head(0, 2)[1], call.k[0], rtol=0, atol=EXACT, msg="three heads share one key")
