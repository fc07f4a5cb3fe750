"""Start page's stored weights equal those of the models."""

import tomllib

import pytest
import torch
from torch.testing import assert_close

from pages.start.sentences import WEIGHT_UNITS, pairs
from tests.packaged import packaged_file
from tools.start import TWINS, record
from viz import ASSETS
from viz.models import registry


@pytest.mark.fast("en")
@pytest.mark.parametrize("lang", TWINS)
def test_weights_file_equals_head(lang):
    file_pair = pairs()[lang]
    if file_pair["model"] != registry.entries()[0].id:
        packaged_file(file_pair["model"])
    model_pair = record(lang, file_pair["made"])
    for retained, now in zip(file_pair["sentences"], model_pair["sentences"], strict=True):
        # One unit is what rounding to whole numbers may differ in.
        assert_close(torch.tensor(retained.pop("weights")), torch.tensor(now.pop("weights")), atol=1, rtol=0)
    pairs.cache_clear()
    assert file_pair == {**model_pair, "sentences": file_pair["sentences"]}
    assert file_pair["sentences"] == model_pair["sentences"]


@pytest.mark.parametrize("lang", TWINS)
def test_sentences_equal_first_example(lang):
    pair = pairs()[lang]
    examples = tomllib.loads((ASSETS / "examples.toml").read_text("utf8"))["example"]
    first = next(element for element in examples if element.get("query") == pair["query"])
    assert pair["sentences"][0]["text"] == first["text"]
    largest = []
    for sentence in pair["sentences"]:
        weights, special = torch.tensor(sentence["weights"]), torch.tensor(sentence["special"])
        assert (weights.sum(1) - WEIGHT_UNITS).abs().max() <= len(special) / 2, "rows sum to 1"
        query = sentence["labels"].index(pair["query"])
        row = weights[query].masked_fill(special, -1)
        row[query] = -1
        largest.append((sentence["labels"][int(row.argmax())], int(row.max())))
    (word, before), (still, after) = largest
    assert word == still and after < before, "“still looks at it more than at any other word”, and less than before"
