"""A folder whose config.json names no class is opened with the head that its weights have."""

import json
import shutil

import pytest
import transformers
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from tests.checkpoints import FAMILIES, TEXT, VOCABULARY, open_folder, save_tokenizer
from viz.models import capture

CLASSES = {
    "marian": "MarianMTModel", "t5": "T5ForConditionalGeneration", "bart": "BartForConditionalGeneration",
    "gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM", "bert": "BertForMaskedLM",
    "distilbert": "DistilBertForMaskedLM", "roberta": "RobertaForMaskedLM", "electra": "ElectraForMaskedLM",
}  # fmt: skip


def name_architectures(folder, *names):
    content = json.loads((folder / "config.json").read_text())
    del content["architectures"]
    (folder / "config.json").write_text(json.dumps(content | ({"architectures": list(names)} if names else {})))


@pytest.mark.parametrize("architectures", [(), ("ModelOfMine",)])
@pytest.mark.parametrize("family", CLASSES)
def test_class_by_weights_has_their_head(checkpoint, load_family, tmp_path, family, architectures):
    """Weights of a class that nobody names, or of one's own: the same numbers, and the same head for words."""
    folder = shutil.copytree(checkpoint(family), tmp_path / "mine")
    name_architectures(folder, *architectures)
    model = open_folder(folder)
    assert type(model.model).__name__ == CLASSES[family]
    assert_close(capture(model, TEXT).final, capture(load_family(family), TEXT).final)


@pytest.mark.parametrize("kind", ["BertForTokenClassification", "GPT2ForSequenceClassification", "BartModel"])
def test_class_by_weights_invents_no_head(tmp_path, kind):
    """A classifier's words were never written with its table; a table that is tied is a head, whoever saved it."""
    model_class = getattr(transformers, kind)
    family = model_class.config_class.model_type
    model = model_class(model_class.config_class(vocab_size=VOCABULARY, **FAMILIES[family].sizes))
    model.save_pretrained(tmp_path / "mine")
    save_tokenizer(FAMILIES[family].tokenizer, tmp_path / "mine")
    name_architectures(tmp_path / "mine")
    opened_model = open_folder(tmp_path / "mine").model
    assert (opened_model.get_output_embeddings() is None) == (kind != "BartModel")


def test_class_by_weights_without_own_head(checkpoint, tmp_path):
    """Llama's head is no table of words unless its configuration says so."""
    folder = shutil.copytree(checkpoint("llama"), tmp_path / "mine")
    weights = load_file(folder / "model.safetensors")
    save_file({n: w for n, w in weights.items() if n != "lm_head.weight"}, folder / "model.safetensors")
    name_architectures(folder)
    assert type(open_folder(folder).model).__name__ == "LlamaModel"
