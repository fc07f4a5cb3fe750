"""Layers in nested, sparse and stacked arrays are read, or refused with what their axes may be."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

import viz

WORDS = ["the", "cat", "sat", "down", "."]


def layer(queries=5, heads=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(1, heads, queries, queries, generator=generator).softmax(-1)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
@pytest.mark.parametrize("form", ["layer", "alone", "mapping", "mean"])
def test_nested_tensor_of_one_text(layout, form):
    """Nested tensors hold texts of any lengths; torch gives them no sizes."""
    maps = layer()
    nested = torch.nested.nested_tensor([maps[0, 0] if form == "mean" else maps[0]], layout=layout)
    forms = {"layer": [nested], "mapping": {"attentions": (nested,)}}
    grid = viz.show(forms.get(form, nested), WORDS, head=0 if form == "mean" else 2)
    assert_close(torch.tensor(grid.weights), maps[0, 0 if form == "mean" else 2])


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensor_of_texts_raises(layout):
    texts = torch.nested.nested_tensor([torch.arange(5), torch.arange(4)], layout=layout)
    with pytest.raises(ValueError, match="A nested tensor holds 2 texts: hand over one of them"):
        viz.show([layer()], texts)
    maps = torch.nested.nested_tensor([layer()[0, 0], layer()[0, 1]], layout=layout)
    with pytest.raises(ValueError, match="A nested tensor holds 2 texts"):
        viz.show([maps], WORDS)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("form", ["alone", "layer"])
def test_sparse_rows_are_read(form):
    sparse = layer()[0, 0].tril().to_sparse_csr()
    grid = viz.show(sparse if form == "alone" else [sparse], WORDS)
    assert_close(torch.tensor(grid.weights), sparse.to_dense())


def test_layers_in_object_array():
    """numpy keeps arrays so that may have other sizes each."""
    array = np.empty(2, dtype=object)
    array[:] = [layer().numpy(), layer(seed=1).numpy()]
    assert_close(torch.tensor(viz.show(array, WORDS, layer=1, head=1).weights), layer(seed=1)[0, 1])


@pytest.mark.parametrize("name", ["h.{}.attn", "blocks.{}.attn.hook_pattern", "layer_{}", "{}", "arr_{}"])
def test_layers_by_names_with_numbers(name):
    """Hooks, files of numpy and JSON name layers so; the number is the layer's."""
    layers = {name.format(number): layer(seed=number) for number in (10, 2)}
    grid = viz.show(layers, WORDS, layer=10)
    assert_close(torch.tensor(grid.weights), layer(seed=10)[0, 0])
    assert "layers 2, 10" in grid.notes[0]
    as_json = {key: weights[0].tolist() for key, weights in layers.items()}
    assert_close(torch.tensor(viz.show(as_json, WORDS, layer=2).weights), layer(seed=2)[0, 0])


def test_cache_with_items_is_a_mapping():
    """TransformerLens' cache of activations has items, and is no mapping."""

    class Cache:
        def items(self):
            return {f"blocks.{i}.attn.hook_pattern": layer(seed=i) for i in range(2)}.items()

    assert_close(torch.tensor(viz.show(Cache(), WORDS, layer=1).weights), layer(seed=1)[0, 0])


@pytest.mark.parametrize("names", [
    ["h.0.attn", "h.0.mlp"], ["attn", "mlp"], ["run_20250101"], ["h.0.head.1"], [-1],
], ids=str)  # fmt: skip
def test_names_without_layer_numbers_raise(names):
    with pytest.raises(ValueError, match=r"The mapping holds .*the layer's number in its name"):
        viz.show(dict.fromkeys(names, layer()), WORDS)


def test_many_names_are_shortened():
    with pytest.raises(ValueError, match=r"'h\.3\.q' and 4 others: name the stacks"):
        viz.show({f"h.{i % 4}.{'qk'[i // 4]}": layer() for i in range(8)}, WORDS)


def test_axes_with_two_meanings_raise():
    """fairseq puts heads first, ESM the batch; neither is told from another by sizes."""
    with pytest.raises(ValueError, match="3 × 1 × 5 × 5: this may be 3 heads of one text or one head for each of 3"):
        viz.show([layer().transpose(0, 1)], WORDS)
    stacked = torch.stack([layer(), layer()], 1)
    for attentions in (stacked, {"attentions": stacked}):
        with pytest.raises(ValueError, match="2 layers of one text or one layer of 2 texts"):
            viz.show(attentions, WORDS)
    with pytest.raises(ValueError, match="The lists of numbers are no table"):
        viz.show([layer()[0].tolist(), layer(4)[0].tolist()], WORDS)


def test_first_axis_of_array_is_noted():
    """Layers of one text and texts of one layer have the same form."""
    assert (
        "4 × 3 × 5 × 5 came, and its first number was read as 4 layers"
        in viz.show(torch.cat([layer()] * 4), WORDS).notes[0]
    )
    assert viz.show(layer(), WORDS).notes == []
