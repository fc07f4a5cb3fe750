"""Models are run where their weights are used, and pictures are made on the processor."""

from types import SimpleNamespace

import pytest
import torch
import transformers
from torch import nn
from torch.testing import assert_close

import viz
from tests import checkpoints
from tests.notebook.samples import WORDS
from viz.notebook import widget
from viz.notebook.device import device_of


@pytest.fixture
def other_device():
    """Set a default device that holds no numbers, as a user may set cuda."""
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)


def test_device_is_where_weights_are_used():
    """accelerate keeps weights on the device meta until a layer runs."""
    model = nn.Linear(2, 2, device="meta")
    assert device_of(model) == torch.device("cpu")
    model._hf_hook = SimpleNamespace(execution_device="cuda:1")
    assert device_of(model) == torch.device("cuda:1")
    half_meta = nn.Sequential(nn.Linear(2, 2, device="meta"), nn.Linear(2, 2))
    assert device_of(half_meta) == torch.device("cpu")


def test_default_device_is_not_used(other_device, tmp_path, monkeypatch):
    """Notebooks on a GPU often begin with torch.set_default_device("cuda")."""
    maps = torch.randn(1, 3, 5, 5, device="cpu", generator=torch.Generator("cpu").manual_seed(0)).softmax(-1)
    grid = viz.show([maps, maps], WORDS, head=1)
    assert_close(torch.as_tensor(grid.weights, device="cpu"), maps[0, 1])
    assert grid.figure(head=2) and grid.save_html(tmp_path / "heads.html").is_file()
    monkeypatch.setattr("viz.notebook.maps.SENT_BYTES", 100)
    monkeypatch.setattr(widget, "MOST_FILE_BYTES", 10)
    grid = viz.show([maps, maps], WORDS, head=1)
    answers = []
    monkeypatch.setattr(grid, "send", lambda content, buffers: answers.append((content, buffers)))
    for request in ({"head": 4}, {"combine": "mean", "heads": [0, 4]}, {"pair": [2, 1]}):
        grid._answer(grid, {"request": {"stack": "self", **request}}, [])
    assert len(answers) == 3 and grid.save_html(tmp_path / "pooled.html").is_file()


def test_model_runs_beside_default_device(other_device):
    config = transformers.LlamaConfig(vocab_size=checkpoints.VOCABULARY, **checkpoints.LLAMA)
    with torch.device("cpu"):
        model = transformers.LlamaForCausalLM(config).eval()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=checkpoints.MAKERS["bytes"]())
    assert viz.show(model, tokenizer, "The animal").weights.shape == (3, 3)
    assert torch.get_default_device().type == "meta"
