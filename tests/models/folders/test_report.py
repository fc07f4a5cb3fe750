"""Weights that do not fit a configuration are refused with the cause, or counted, and advice that works."""

import json
import shutil

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.nn.utils import prune
from torch.testing import assert_close

from tests.checkpoints import TEXT, open_folder, save
from tests.models.folders.test_folders import WEIGHTS, edit, refusal
from viz.models import ModelError, capture


def test_joined_projections_fit_no_configuration(folder):
    """As a server of models saves them: whole files in their place would not help."""
    weights = load_file(folder / WEIGHTS)
    names = [f"model.layers.0.self_attn.{part}_proj.weight" for part in "qkv"]
    weights["model.layers.0.self_attn.qkv_proj.weight"] = torch.cat([weights.pop(name) for name in names])
    save_file(weights, folder / WEIGHTS, {"format": "pt"})
    error = refusal(folder)
    assert error.code == "names" and "the file has model.layers.0.self_attn.qkv_proj.weight" in str(error)


@pytest.mark.parametrize("form", ["pruned", "parametrised", "normed"])
def test_parts_of_weights_are_named(folder, form):
    """Saved by torch from layers that make their weight anew: the line that ends it makes them whole."""
    config = transformers.LlamaConfig.from_pretrained(folder)
    model = transformers.LlamaForCausalLM(config)
    layer = model.model.layers[1].mlp.up_proj
    if form == "pruned":
        prune.l1_unstructured(layer, "weight", 0.5)
    elif form == "parametrised":
        torch.nn.utils.parametrize.register_parametrization(layer, "weight", torch.nn.Tanh())
    else:
        torch.nn.utils.parametrizations.weight_norm(layer)
    save_file({name: value.clone() for name, value in model.state_dict().items()}, folder / WEIGHTS)
    error = refusal(folder)
    assert error.code == "parametrised" and error.values["name"].startswith("model.layers.1.mlp.up_proj.")
    if form == "pruned":
        prune.remove(layer, "weight")
    else:
        torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    save_file({name: value.clone() for name, value in model.state_dict().items()}, folder / WEIGHTS)
    assert open_folder(folder).n_layers == 2


def test_missing_head_names_key_that_ties(folder):
    """The advice works: with the key, the head is the table of words."""
    weights = load_file(folder / WEIGHTS)
    del weights["lm_head.weight"]
    save_file(weights, folder / WEIGHTS, {"format": "pt"})
    assert (error := refusal(folder)).code == "untied" and '"tie_word_embeddings": true' in str(error)
    edit(folder, tie_word_embeddings=True)
    model = open_folder(folder).model
    assert_close(model.lm_head.weight, weights["model.embed_tokens.weight"])


@pytest.mark.parametrize(
    ("family", "key", "n"),
    [
        ("llama", "num_hidden_layers", 1),
        ("bert", "num_hidden_layers", 1),
        ("gpt2", "n_layer", 1),
        ("t5", "num_layers", 1),
    ],
)
def test_unread_layers_are_counted(checkpoint, tmp_path, family, key, n):
    """transformers reads the first layers and says nothing of the others."""
    folder = shutil.copytree(checkpoint(family), tmp_path / "mine")
    assert open_folder(folder).n_unread_layers == 0
    edit(folder, **{key: 1})
    assert open_folder(folder).n_unread_layers == n


def test_reason_of_validator_is_second_line(folder):
    """The first only names the validator."""
    edit(folder, layer_types=["full_attention"])
    error = refusal(folder)
    assert error.code == "corrupt" and "num_hidden_layers" in error.values["reason"]


@pytest.mark.parametrize("name", ["../model.safetensors", "parts/model.safetensors", "/model.safetensors"])
def test_list_outside_folder_is_no_pickle(folder, name):
    content = {"metadata": {}, "weight_map": dict.fromkeys(load_file(folder / WEIGHTS), name)}
    (folder / WEIGHTS).unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(content))
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("outside", name)


def test_dot_before_names_in_list(folder, load_family):
    """./NAME is a file of the folder."""
    content = {"metadata": {}, "weight_map": dict.fromkeys(load_file(folder / WEIGHTS), "./part.safetensors")}
    (folder / WEIGHTS).rename(folder / "part.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps(content))
    assert_close(capture(open_folder(folder), TEXT).final, capture(load_family("llama"), TEXT).final)


@pytest.mark.parametrize("name", [WEIGHTS, "config.json"])
def test_link_to_nothing_is_named(folder, name):
    """A snapshot of the hub's cache that was copied without its blobs."""
    (folder / name).unlink()
    (folder / name).symlink_to("../../blobs/0123abcd")
    error = refusal(folder)
    assert (error.code, error.values["file"]) == ("dangling", name)


@pytest.mark.parametrize("part", [f"{WEIGHTS}.incomplete", "Unconfirmed 1.safetensors.crdownload"])
def test_unfinished_file_is_named(folder, part):
    (folder / WEIGHTS).rename(folder / part)
    with pytest.raises(ModelError) as caught:
        open_folder(folder)
    assert (caught.value.code, caught.value.values["part"]) == ("unfinished", part)


def test_tokenizer_of_bytes_is_named(tmp_path):
    """ByT5's has no vocabulary, so no file is missing and none can be saved; a notebook reads it, as the line says."""
    folder = save("t5", tmp_path / "mine")
    for file in folder.glob("*token*"):
        file.unlink()
    transformers.ByT5Tokenizer().save_pretrained(folder)
    error = refusal(folder)
    assert (error.code, error.values["kind"]) == ("slow_class", "ByT5Tokenizer")
