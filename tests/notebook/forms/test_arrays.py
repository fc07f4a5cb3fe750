"""Layers in arrays of torch, of numpy and of what lends its memory are read; others are refused."""

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.masked import masked_tensor
from torch.testing import assert_close

import viz
from tests.notebook.samples import WORDS, layer


class Lender:
    """An array that numpy cannot read, with its numbers by DLPack."""

    __dlpack_device__ = staticmethod(lambda: (1, 0))

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __array__(self, *arguments, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")

    def __dlpack__(self, **options):
        return self.values.__dlpack__()


READ = {
    "lender": Lender,
    "numpy": lambda values: values.numpy(),
    "another byte order": lambda values: values.numpy().astype(">f4"),
    "longdouble": lambda values: values.numpy().astype(np.longdouble),
    "objects": lambda values: values.numpy().astype(object),
    "turned": lambda values: np.ascontiguousarray(values.numpy()[..., ::-1])[..., ::-1],
    "read-only": lambda values: np.frombuffer(values.numpy().tobytes(), "f4").reshape(values.shape),
    "lists": torch.Tensor.tolist,
}


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize("form", ["layers", "stacked", "matrix"])
def test_arrays_are_read(kind, form):
    """Each layer by itself, all in one array, and a mean of heads."""
    maps = layer()
    values = {"layers": maps, "stacked": torch.cat([maps, maps]), "matrix": maps[0, 0]}[form]
    array = READ[kind](values)
    grid = viz.show([array] if form == "layers" else array, WORDS)
    assert_close(torch.tensor(grid.weights), maps[0, 0])


def fake():
    with FakeTensorMode():
        return torch.ones(1, 3, 5, 5)


UNREADABLE = {
    "nested": lambda: torch.nested.nested_tensor([layer()[0]]),
    "jagged": lambda: torch.nested.nested_tensor([layer()[0]], layout=torch.jagged),
    "sparse": lambda: layer().to_sparse(),
    "sparse rows": layer()[0, 0].to_sparse_csr,
    "masked": lambda: masked_tensor(layer(), torch.ones(1, 3, 5, 5).tril().bool()),
    "fake": fake,
    "meta": lambda: torch.empty(1, 3, 5, 5, device="meta"),
    "complex": lambda: layer().to(torch.complex64),
    "strings": lambda: np.full((1, 1, 5, 5), "a"),
    "objects": lambda: np.full((1, 1, 5, 5), {}),
    "other library": type("ndarray", (), {"shape": (1, 1, 5, 5)}),
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of (nested tensors|MaskedTensors)", "ignore:Sparse CSR")
@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("form", ["layer", "alone", "output"])
def test_other_arrays_are_refused(kind, form):
    value = UNREADABLE[kind]()
    attentions = {"layer": [value], "alone": value, "output": {"attentions": (value,)}}[form]
    with pytest.raises(ValueError, match=r"of which no real numbers can be read .*Hand over a plain tensor or array"):
        viz.show(attentions, WORDS)


@pytest.mark.parametrize("transform", [torch.func.grad, torch.vmap])
def test_tensor_inside_transform_is_refused(transform):
    def show_inside(maps):
        with pytest.raises(ValueError, match=r"no real numbers can be read"):
            viz.show([maps.softmax(-1)], WORDS)
        return maps.sum()

    transform(show_inside)(torch.rand(*(() if transform is torch.func.grad else (2,)), 1, 3, 5, 5))


def test_axes_with_two_meanings_raise():
    """fairseq puts heads first, ESM the batch; neither is told from another by sizes."""
    with pytest.raises(ValueError, match=r"3 × 1 × 5 × 5, and not .* 3 texts, or has its heads first"):
        viz.show([layer().transpose(0, 1)], WORDS)
    with pytest.raises(ValueError, match=r"holds 2 texts, .* list.layer. if it holds layers"):
        viz.show(torch.stack([layer(), layer()], 1), WORDS)
    with pytest.raises(ValueError, match="The lists of numbers are no table"):
        viz.show([layer()[0].tolist(), layer(4)[0].tolist()], WORDS)


def test_first_axis_of_array_is_noted():
    """Layers of one text and texts of one layer have the same form."""
    assert (
        "4 × 3 × 5 × 5 came, and its first number was read as 4 layers"
        in viz.show(torch.cat([layer()] * 4), WORDS).notes[0]
    )
    assert viz.show(layer(), WORDS).notes == viz.show(layer()[0, 0], WORDS).notes == []
    assert viz.show([layer()[0, 0]] * 3, WORDS).notes == [
        "Each layer came as 1 map without a batch, shown as 1 head of one text."
    ]


@pytest.mark.parametrize("has_items_alone", [True, False])
def test_transformer_lens_cache_shows_patterns(has_items_alone):
    """A cache holds more than maps, has items, and is no mapping; a layer without a pattern keeps its number free."""
    cache = {
        "hook_embed": torch.zeros(1, 5, 8),
        "blocks.10.attn.hook_pattern": layer(seed=10),
        "blocks.2.attn.hook_q": torch.zeros(1, 5, 3, 2),
        "blocks.2.attn.hook_pattern": layer(seed=2),
    }
    grid = viz.show(type("Cache", (), {"items": cache.items})() if has_items_alone else cache, WORDS, layer=10)
    assert_close(torch.tensor(grid.weights), layer(seed=10)[0, 0])
    assert "layers 2, 10" in grid.notes[0]


NAMES = {
    "Flax": (
        {"intermediates": {f"block_{i}": {"self_0": {"attention_weights": (layer(seed=i),)}} for i in (0, 1)}},
        [0, 1],
    ),
    "Flax in a list": ({"blocks": [{"attn": layer(seed=0), "mlp": layer(4)}, {"attn": layer(seed=1)}]}, [0, 1]),
    "Keras": ({"multi_head_attention": layer(seed=0), "multi_head_attention_1": layer(seed=1)}, [0, 1]),
    "Keras later in a session": ({f"block_{i}/attention_{i}": layer(seed=i - 7) for i in (7, 8)}, [0, 1]),
    "hooks": ({f"transformer.h.{i}.attn": layer(seed=i) for i in (1, 0)}, [0, 1]),
}


@pytest.mark.parametrize("what", NAMES)
def test_names_of_libraries_are_layers(what):
    """Names that differ in one number, or in two that rise together, are layers in that order."""
    maps, numbers = NAMES[what]
    grid = viz.show(maps, WORDS, layer=1)
    assert_close(torch.tensor(grid.weights), layer(seed=1)[0, 0])
    assert list(grid._maps["self"].layers) == numbers


def test_names_of_stacks_are_read():
    """The stacks of an encoder-decoder of TransformerLens; names that say nothing are refused, with two of them."""
    names = "encoder.0.attn", "decoder.0.attn", "decoder.0.cross_attn"
    grid = viz.show({f"{name}.hook_pattern": layer() for name in names}, (WORDS, WORDS))
    assert list(grid._maps) == ["encoder", "decoder", "cross"]
    with pytest.raises(ValueError, match=r"4 names .* with one number for the layer"):
        viz.show({f"a_{i}/b_{j}/attn": layer() for i in (0, 1) for j in (0, 1)}, WORDS)
    with pytest.raises(ValueError, match=r"2 names \(left, right …\) and what belongs to them are neither"):
        viz.show({"left": layer(), "right": layer()}, WORDS)
