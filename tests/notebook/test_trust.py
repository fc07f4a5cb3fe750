"""`viz.show` of a model shows the weights that it uses, or says what was measured."""

import pytest
import torch
import transformers
from torch.testing import assert_close

import viz
from tests import checkpoints
from tests.notebook.samples import fast

TEXT = "The animal was tired."


@pytest.fixture(scope="module")
def tokenizer():
    return fast("bytes")


def build_model(name, model, **sizes):
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(vocab_size=checkpoints.VOCABULARY, **sizes)
    return getattr(transformers, model)._from_config(config).eval()


FALCON = {"hidden_size": 40, "num_hidden_layers": 2, "num_attention_heads": 4, "alibi": False}


def test_show_without_eager_raises(tokenizer):
    """Falcon chooses its attention when it is made, and only logs that it keeps it."""
    model = build_model("Falcon", "FalconForCausalLM", **FALCON)
    with pytest.raises(ValueError, match=r"asked for eager attention and \w+ still computes 'sdpa'.*from_pretrained"):
        viz.show(model, tokenizer, TEXT)
    model = build_model("Falcon", "FalconForCausalLM", attn_implementation="eager", **FALCON)
    expected = model(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True).attentions[0][0, 0]
    assert_close(torch.tensor(viz.show(model, tokenizer, TEXT).weights), expected.detach())


def test_family_called_flash_is_shown(tokenizer):
    """A class whose name says Flash computes what its configuration says."""
    model = build_model("GPT2", "GPT2LMHeadModel", n_embd=40, n_layer=2, n_head=4)
    for block in model.transformer.h:
        block.attn.__class__ = type("MiMoV2FlashAttention", (type(block.attn),), {})
    assert viz.show(model, tokenizer, TEXT).notes == []


def test_one_layer_that_stays_is_refused(tokenizer):
    """The model says eager, and a layer's own configuration does not."""
    model = build_model("GPT2", "GPT2LMHeadModel", n_embd=40, n_layer=2, n_head=4)
    attention = model.transformer.h[1].attn
    attention.config = transformers.GPT2Config(attn_implementation="sdpa")
    with pytest.raises(ValueError, match="GPT2Attention still computes 'sdpa'"):
        viz.show(model, tokenizer, TEXT)


def test_show_another_output_with_maps_noted(tokenizer, monkeypatch):
    """The maps are then of another computation than the model's own: both numbers are said."""
    model = build_model("GPT2", "GPT2LMHeadModel", n_embd=40, n_layer=2, n_head=4)
    assert viz.show(model, tokenizer, TEXT).notes == []
    forward = type(model).forward

    def shift_output(self, *args, **options):
        result = forward(self, *args, **options)
        if result.attentions:
            result.hidden_states = (*result.hidden_states[:-1], result.hidden_states[-1] + 0.25)
        return result

    monkeypatch.setattr(type(model), "forward", shift_output)
    (note,) = viz.show(model, tokenizer, TEXT).notes
    assert "differs by 0.25 from that without, of " in note


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_an_encoder_may_look_ahead(dtype):
    """Its weights above the diagonal are its own, in every precision."""
    model = build_model("Bert", "BertForMaskedLM", **checkpoints.BERT).to(dtype)
    assert viz.show(model, fast("wordpiece"), TEXT).weights[0, -1] > 0


def test_show_learned_sink_is_noted(tokenizer):
    """gpt-oss learns them: the rest of a row has a column, and is shown as what it is."""
    model = build_model(
        "GptOss", "GptOssForCausalLM", hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, num_local_experts=2, num_experts_per_tok=1,
        sliding_window=4,
    )  # fmt: skip
    for block in model.model.layers:
        block.self_attn.sinks.data.fill_(1.0)
    grid = viz.show(model, tokenizer, TEXT)
    expected = model(**tokenizer(TEXT, return_tensors="pt"), output_attentions=True).attentions[0][0, 0].detach()
    assert_close(torch.tensor(grid.weights), expected)
    assert "learned sink" in grid.notes[0] and grid.tokens[1][-1] == "(no token)"


SIZES = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
SHARED = SIZES | {"num_key_value_heads": 2, "pad_token_id": 0}
CHANGING = {
    "DiffLlama": SHARED,
    "GraniteSWA": SHARED | {"sliding_window": 4},
    "BitNet": SHARED,
    "ConvBert": SIZES | {"embedding_size": 32},
}


@pytest.mark.parametrize("name", CHANGING)
def test_show_weights_before_change_noted(tokenizer, name):
    """Another map is subtracted, a sink takes its share, a norm or a convolution stands before the next product."""
    model = build_model(name, f"{name}{'Model' if name == 'ConvBert' else 'ForCausalLM'}", **CHANGING[name])
    for block in getattr(getattr(model, "model", None), "layers", ()) if name == "GraniteSWA" else ():
        block.self_attn.sinks.data.fill_(1.0)
    notes = viz.show(model, tokenizer, TEXT).notes
    assert [note.split(" these maps")[0] for note in notes] == ["In 2 of 2 layers"]
    assert "another map that is subtracted" in notes[0]


def test_show_weights_of_other_map_noted(tokenizer, monkeypatch):
    """A map that is sharpened after it was handed out multiplied nothing."""
    model = build_model("GPT2", "GPT2Model", n_embd=40, n_layer=2, n_head=4)
    forward = type(model).forward

    def sharpened(self, *args, **options):
        result = forward(self, *args, **options)
        if result.attentions:
            first, second = result.attentions
            result.attentions = (first, (2 * second.log()).softmax(-1))
        return result

    monkeypatch.setattr(type(model), "forward", sharpened)
    assert "In 1 of 2 layers these maps" in viz.show(model, tokenizer, TEXT).notes[0]


KEEPING = {
    "Llama": SHARED,
    "Bert": SIZES,
    "Bloom": {"hidden_size": 32, "n_layer": 2, "n_head": 4},
    "GPTJ": {"n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4},
    "XLNet": {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 32},
    "JetMoe": {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_key_value_heads": 2,
        "kv_channels": 8,
        "intermediate_size": 32,
        "num_local_experts": 3,
    },
    "Deberta": SIZES | {"pos_att_type": ["c2p"], "relative_attention": True},
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", KEEPING)
def test_show_weights_without_change_unnoted(tokenizer, name, dtype):
    """Shared keys, fused projections, einsum and rounding are no change."""
    model = build_model(name, f"{name}Model", **KEEPING[name]).to(dtype)
    assert viz.show(model, tokenizer, TEXT).notes == []


def test_show_long_text_changes_noted(tokenizer, monkeypatch):
    """Of maps that are made on demand those of the first tokens are measured."""
    monkeypatch.setattr("viz.notebook.on_demand.LEAST_BYTES", 0)
    model = build_model("GraniteSWA", "GraniteSWAForCausalLM", **CHANGING["GraniteSWA"])
    assert "In 2 of 2 layers these maps times the values are not" in viz.show(model, tokenizer, TEXT * 3).notes[0]


def test_a_model_without_attention_is_refused(tokenizer):
    """It was asked for eager weights: that is not advised again."""
    model = build_model("Mamba", "MambaForCausalLM", hidden_size=40, num_hidden_layers=2)
    with pytest.raises(ValueError, match="has no attention") as caught:
        viz.show(model, tokenizer, TEXT)
    assert "eager" not in str(caught.value)


def test_rounding_of_autocast_is_noise(tokenizer):
    """Weights of 32 bits that are computed with in 16: two ways of attention differ by the roundings of these."""
    config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.LLAMA)
    model = transformers.LlamaForCausalLM(config).eval()
    exact = viz.show(model, tokenizer, "The animal was tired.").weights
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = viz.show(model, tokenizer, "The animal was tired.").weights
    assert 0 < abs(exact - rounded).max() < 0.02
