"""Maps made when they are read: those of the model's eager pass, and no more kept than q and k."""

import gc
import sys
from unittest.mock import MagicMock

import pytest
import torch
import transformers
from torch.testing import assert_close

import viz
from tests.checkpoints import eager, save
from viz.components.head_grid import weight_codes
from viz.notebook import maps as maps_module
from viz.notebook import on_demand, run
from viz.notebook.answers import answer_request
from viz.notebook.maps import read_layers
from viz.notebook.on_demand import LayerOnDemand

IDS = torch.randint(5, 75, (1, 43), generator=torch.Generator().manual_seed(0))
FAMILIES = (
    "llama",
    "gpt2",
    "bert",
    "gemma2",
    "qwen3",
    "gpt_oss",
    "cohere2",
    "opt",
    "glm_moe_dsa",
    "minimax_m3_vl_text",
)
"""Shared keys, fused matrices, both directions, windows, caps, norms, sinks, a scaled q, keys and blocks chosen."""


@pytest.fixture
def always(monkeypatch):
    """Keep q and k of texts of any length."""
    monkeypatch.setattr(on_demand, "LEAST_BYTES", 0)


def model_of(name, folder):
    model = eager(name, save(name, folder / name))
    return model, transformers.AutoTokenizer.from_pretrained(folder / name)


@pytest.mark.parametrize("part_bytes", [1, on_demand.PART_BYTES])
@pytest.mark.parametrize("name", FAMILIES)
def test_maps_on_demand_equal_eager(name, part_bytes, tmp_path, always, monkeypatch):
    """Read a second time and made one by one, too; the model keeps the attention it had."""
    monkeypatch.setattr(on_demand, "PART_BYTES", part_bytes)
    model, tokenizer = model_of(name, tmp_path)
    reading = run.read(model, tokenizer, {"input_ids": IDS}, None)
    layers = reading.stacks["self"]
    assert all(isinstance(layer, LayerOnDemand) for layer in layers)
    with torch.inference_mode():
        expected = model(input_ids=IDS, output_attentions=True).attentions
    assert model.config._attn_implementation == "eager"
    assert list(reading.numbers["self"]) == list(range(len(expected)))
    for layer, weights in zip(layers, expected, strict=True):
        assert layer.shape == weights.shape
        assert_close((layer.make(), layer.make()), (weights, weights))
        heads = range(weights.shape[1])
        assert_close(torch.stack([layer.head(head) for head in heads]), weights[0])
        n_sharing = weights.shape[1] // layer.k.shape[1]
        is_part = part_bytes == 1 and name not in ("gpt_oss", "minimax_m3_vl_text")
        assert layer.n_together == (n_sharing if is_part else weights.shape[1])
    maps = read_layers(layers, "self")
    assert_close(maps.head(1, 2), expected[1][0, 2])


def test_layers_on_demand_keep_qk(tmp_path, always, monkeypatch):
    """No map is held, and no buffer that q and k are a part of: GPT-2's holds its values too. A bar counts layers."""
    model, tokenizer = model_of("gpt2", tmp_path)
    gc.collect()
    bar = MagicMock()
    monkeypatch.setattr(on_demand, "layer_bar", bar)
    reading = run.read(model, tokenizer, {"input_ids": IDS}, None)
    bar.assert_called_once_with(n := len(reading.stacks["self"]))
    assert bar.return_value.__enter__.return_value.update.call_count == n
    for layer in reading.stacks["self"]:
        for part in (layer.q, layer.k):
            assert part.untyped_storage().nbytes() == part.nbytes == 43 * 35 * 4
    maps = [tensor for tensor in gc.get_objects() if type(tensor) is torch.Tensor and tensor.shape == (1, 5, 43, 43)]
    assert not maps


def test_padding_is_left_out_on_demand(tmp_path, always):
    """Rows and columns of padding are cut out of the maps that are made."""
    model, tokenizer = model_of("llama", tmp_path)
    ids = torch.cat([torch.zeros(1, 3, dtype=torch.long), IDS[:, :7]], dim=1)
    mask = torch.tensor([[0] * 3 + [1] * 7])
    layer = run.read(model, tokenizer, {"input_ids": ids, "attention_mask": mask}, None).stacks["self"][0]
    with torch.inference_mode():
        expected = model(input_ids=ids, attention_mask=mask, output_attentions=True).attentions[0]
    assert layer.shape == (1, 6, 7, 7)
    assert_close(layer.make(), expected[..., 3:, 3:])


def test_layer_exists_in_parts(tmp_path, always, monkeypatch):
    """The model's own attention is called with one head after the other, and its output is that of all at once."""
    monkeypatch.setattr(on_demand, "PART_BYTES", 1)
    model, _ = model_of("gpt2", tmp_path)
    module, sizes = sys.modules[type(model).__module__], []
    attend = module.eager_attention_forward

    def attend_and_count(attention, q, *args, **options):
        sizes.append(q.shape[1])
        return attend(attention, q, *args, **options)

    monkeypatch.setattr(module, "eager_attention_forward", attend_and_count)
    with torch.inference_mode():
        result, layers = on_demand.run_keeping(model, {"input_ids": IDS})
        assert sizes == [1] * 5 * len(layers)
        expected = model(input_ids=IDS, output_hidden_states=True).hidden_states
    assert_close(result.hidden_states, expected)


def test_short_text_keeps_maps(tmp_path):
    """Small maps stay as the model returned them."""
    model, tokenizer = model_of("llama", tmp_path)
    reading = run.read(model, tokenizer, {"input_ids": IDS}, None)
    assert all(isinstance(layer, torch.Tensor) for layer in reading.stacks["self"])


def test_unknown_attention_is_not_kept(tmp_path, monkeypatch):
    """A family whose module has no eager attention beside it is left as it was, to be run as before."""
    model, _ = model_of("llama", tmp_path)
    monkeypatch.setattr(type(model.model.layers[0].self_attn), "__module__", "math")
    assert on_demand.run_keeping(model, {"input_ids": IDS}) is None
    assert model.config._attn_implementation == "eager"


def test_show_on_demand_makes_one_layer(tmp_path, always, monkeypatch):
    """Every map is read while the model runs; only the head that goes along is made again, and no other."""
    monkeypatch.setattr(on_demand, "PART_BYTES", 1)
    model, tokenizer = model_of("llama", tmp_path)
    monkeypatch.setattr(maps_module, "SENT_BYTES", 0)
    want = viz.show(model(input_ids=IDS, output_attentions=True), [str(i) for i in range(43)])
    calls = []
    head = LayerOnDemand.head
    monkeypatch.setattr(LayerOnDemand, "head", lambda self, i: calls.append((self.path, i)) or head(self, i))
    monkeypatch.delattr(LayerOnDemand, "make")
    grid = viz.show(model, tokenizer, {"input_ids": IDS}, head=2)
    assert [i for _, i in calls] == [2]
    for number, small in want._maps["self"].small.items():
        assert_close(grid._maps["self"].small[number], small)
        assert_close(grid._maps["self"].measures[number], want._maps["self"].measures[number])


def test_pair_on_demand_reads_layers_once(tmp_path, always, monkeypatch):
    """The weight of one pair in every head; a layer has many heads, and all of them are made together."""
    model, tokenizer = model_of("llama", tmp_path)
    monkeypatch.setattr(maps_module, "SENT_BYTES", 0)
    grid = viz.show(model, tokenizer, {"input_ids": IDS})
    want = torch.cat(model(input_ids=IDS, output_attentions=True).attentions).flatten(0, 1).detach()
    calls = []
    make = LayerOnDemand.make
    monkeypatch.setattr(LayerOnDemand, "make", lambda self: calls.append(self.path) or make(self))
    answer, _ = answer_request(grid._stacks[0], {"pair": (30, 11)})
    assert len(calls) == len(set(calls)) == model.config.num_hidden_layers
    assert_close(torch.tensor(answer["values"]), want[:, 30, 11])
    calls.clear()
    _, (packed,) = answer_request(grid._stacks[0], {"combine": "max", "heads": [1, 0, 2]})
    assert len(calls) == 1
    codes = torch.frombuffer(bytearray(packed), dtype=torch.uint16).view(43, 43)
    assert_close(codes.int(), weight_codes(want[:3].amax(0)).int(), atol=1, rtol=0)
