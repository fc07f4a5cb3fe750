"""The additions of CONTRIBUTING.md work: a family of models, and a variant of attention."""

import re
import tomllib

import pytest
import torch
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close

from tests.checkpoints import TEXT, comparable_maps, eager, open_folder, save
from viz import ROOT
from viz.errors import ModelError
from viz.models import capture, layout

BLOCKS = re.findall(r"```(toml|python)\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text("utf8"), re.DOTALL)


def block_with(word: str) -> str:
    """The one block that has this word."""
    (block,) = (block for _, block in BLOCKS if word in block)
    return block


@pytest.fixture
def only_with_families(monkeypatch):
    """Have the program know all families but ERNIE, and these."""
    tables = layout._tables()

    def only_with(layout_rows):
        tables_without = [
            {**row, "families": [name for name in row["families"] if name != "ernie"]} if "families" in row else row
            for row in tables["layout"]
        ]
        monkeypatch.setattr(layout, "_tables", lambda: {**tables, "layout": [*tables_without, *layout_rows]})
        layout.layouts.cache_clear()

    yield only_with
    monkeypatch.undo()
    layout.layouts.cache_clear()


def test_family_of_contributing_opens(only_with_families, tmp_path):
    """Without its places a folder of the family is refused; with them its maps are transformers' own."""
    folder = save("ernie", tmp_path / "ernie")
    only_with_families([])
    with pytest.raises(ModelError):
        open_folder(folder)
    only_with_families(tomllib.loads(block_with('family = "ernie"'))["layout"])
    ours, theirs = open_folder(folder), eager("ernie", folder)
    with torch.inference_mode():
        result = theirs(ours.tokenizer(TEXT, return_tensors="pt").input_ids, output_attentions=True)
    maps = comparable_maps("ernie", capture(ours, TEXT), result.attentions, "encoder")
    assert len(maps) == len(result.attentions)
    for our_weights, weights in maps:
        assert_close(our_weights, weights, atol=1e-5, rtol=0)


def test_variant_of_contributing_scores():
    """A value by hand, a property, and torch's own cosine of each pair."""
    names = {}
    exec(block_with("def cosine"), names)
    cosine = names["cosine"]
    assert_close(cosine(torch.tensor([[3.0, 4.0]]), torch.tensor([[1.0, 0.0], [0.0, 2.0]])), torch.tensor([[0.6, 0.8]]))
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(3, 7, generator=generator), torch.randn(5, 7, generator=generator)
    assert_close(cosine(11 * q, k), cosine(q, k))
    assert_close(cosine(q, k), cosine_similarity(q[:, None], k[None], dim=-1))
