"""Arrays of libraries that hand numpy nothing unasked are read by their own methods, or refused by name."""

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.masked import masked_tensor
from torch.testing import assert_close

import viz

WORDS = ["the", "cat", "sat", "down", "."]


def layer(heads=3):
    return torch.randn(1, heads, 5, 5, generator=torch.Generator().manual_seed(0)).softmax(-1)


class Foreign:
    """An array as the libraries have it that numpy cannot read: with a size, cells, and a method of their own."""

    def __init__(self, array):
        self.array, self.shape, self.ndim, self.dtype = array, array.shape, array.ndim, array.dtype

    def __len__(self):
        return len(self.array)

    def __getitem__(self, place):
        return type(self)(self.array[place])

    def __array__(self, *arguments, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")


def foreign(method):
    """Return a class of arrays with one method that gives their numbers."""

    def give(array, **options):
        return torch.as_tensor(array.array).__dlpack__() if method == "__dlpack__" else array.array

    methods = {method: give} | ({"__dlpack_device__": lambda array: (1, 0)} if method == "__dlpack__" else {})
    return type("ndarray", (Foreign,), methods)


@pytest.mark.parametrize("method", ["toarray", "todense", "get", "numpy", "asnumpy", "__dlpack__"])
@pytest.mark.parametrize("form", ["layer", "stacked", "matrix"])
def test_foreign_arrays_are_read(method, form):
    """SciPy's, PyData's, CuPy's, older TensorFlow's, MXNet's, and what only lends its memory."""
    maps = layer(heads=1 if form == "matrix" else 3).numpy()
    kind = foreign(method)
    attentions = {"layer": [kind(maps)], "stacked": kind(np.stack([maps, maps])), "matrix": kind(maps[0, 0])}[form]
    assert_close(viz.show(attentions, WORDS).weights, maps[0, 0])


@pytest.mark.parametrize("name", ["csr_array", "coo_matrix"])
@pytest.mark.parametrize("form", ["alone", "layers", "mapping"])
def test_sparse_arrays_of_scipy(name, form):
    sparse = pytest.importorskip("scipy.sparse")
    weights = layer()[0, 0].tril().numpy()
    matrix = getattr(sparse, name)(weights)
    attentions = {"alone": matrix, "layers": [matrix, matrix], "mapping": {"layer_0": matrix, "layer_1": matrix}}[form]
    assert_close(viz.show(attentions, WORDS).weights, weights)


def test_huge_sparse_array_is_refused():
    """Its zeros are counted before they are written out."""
    huge = foreign("toarray")(np.zeros((1, 1)))
    huge.shape = (10**6, 10**6)
    with pytest.raises(ValueError, match="ndarray is 1000000 × 1000000 with its zeros"):
        viz.show(huge, WORDS)


def test_array_without_numbers_is_named():
    with pytest.raises(ValueError, match=r"ndarray gives numpy no numbers \(Implicit conversion"):
        viz.show([foreign("other")(layer().numpy())], WORDS)


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
@pytest.mark.parametrize("form", ["layer", "alone", "output"])
def test_masked_tensor_is_read(form):
    """There is no weight where its mask hides a number."""
    weights = layer()
    mask = torch.ones(5, 5).tril().bool().expand(1, 3, 5, 5)
    weights = (weights * mask) / (weights * mask).sum(-1, keepdim=True)
    tensor = masked_tensor(weights.masked_fill(~mask, 7.0), mask)
    attentions = {"layer": [tensor], "alone": tensor, "output": {"attentions": (tensor,)}}[form]
    assert_close(torch.tensor(viz.show(attentions, WORDS, head=2).weights), weights[0, 2])


@pytest.mark.parametrize("form", ["layer", "alone", "output"])
def test_fake_tensor_is_named(form):
    with FakeTensorMode():
        fake = torch.ones(1, 3, 5, 5)
    attentions = {"layer": [fake], "alone": fake, "output": {"attentions": (fake,)}}[form]
    with pytest.raises(ValueError, match="FakeTensor with a size and no numbers: torch follows"):
        viz.show(attentions, WORDS)


@pytest.mark.parametrize("transform", [torch.func.grad, torch.vmap])
def test_tensor_inside_transform_is_named(transform):
    def show_inside(maps):
        with pytest.raises(ValueError, match=r"no numbers: .* torch.func.grad and vmap"):
            viz.show([maps.softmax(-1)], WORDS)
        return maps.sum()

    transform(show_inside)(torch.rand(*(() if transform is torch.func.grad else (2,)), 1, 3, 5, 5))
