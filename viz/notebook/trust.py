"""Measurements on weights that are shown as a model's: what they multiply, and the output with and without them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

ROUNDINGS = 64
"""Roundings of the largest number that two computations of one output may differ by without a note."""

NO_WEIGHT = 1e-6
"""Largest weight that counts as none."""

PRODUCTS = ("matmul", "__matmul__", "bmm", "baddbmm", "mm", "addmm", "einsum", "linear", "split")
"""Names of torch's matrix products, and of the function that hands each expert its part of what it multiplies."""


def output_of(result: Any) -> Tensor:
    """Return the last states of a model's output, which every token has; logits where it gives no states."""
    for name in ("decoder_hidden_states", "hidden_states", "encoder_hidden_states"):
        if states := getattr(result, name, None):
            return states[-1].detach().float()
    tensor = next((getattr(result, name) for name in ("logits", "last_hidden_state") if hasattr(result, name)), None)
    return torch.zeros(1, 0, 1) if tensor is None else tensor.detach().float()


def difference_noted(
    model: Any, plain: Tensor, with_maps: Tensor, token_places: list[int]
) -> list[tuple[str, dict[str, str]]]:
    """Return a note on a pass with maps whose output is not that of the model without maps, but for some roundings.

    Two ways of attention round otherwise, and a model that chooses its experts may go another way by it.
    """
    if plain.shape != with_maps.shape or not plain.numel():
        return []
    if plain.dim() == 3 and plain.shape[1] > max(token_places, default=0):
        plain, with_maps = plain[:, token_places], with_maps[:, token_places]
    difference, largest = float((plain - with_maps).abs().max()), float(plain.abs().max())
    unit = max(torch.finfo(dtype).eps for dtype in _dtypes(model))
    if not difference > ROUNDINGS * unit * max(largest, 1e-30):
        return []
    return [("differs", {"difference": f"{difference:.3g}", "largest": f"{largest:.3g}"})]


def _dtypes(model: Any) -> set[torch.dtype]:
    """The types that a model computes in: that of its weights, and under autocast another."""
    dtypes = {parameter.dtype for parameter in model.parameters() if parameter.is_floating_point()}
    device = next((parameter.device.type for parameter in model.parameters()), "cpu")
    with_autocast = {torch.get_autocast_dtype(device)} if torch.is_autocast_enabled(device) else set()
    return dtypes | with_autocast | {torch.float32}


@dataclass(frozen=True)
class _Numbers:
    """A tensor's size, sum, norm and rounding, which no transposition and no split into heads changes."""

    size: int
    total: float
    norm: float
    unit: float

    @classmethod
    def of_all(cls, parts: Iterable[Any]) -> "list[_Numbers]":
        """Return those of all that is computed, and no weight of the model."""
        tensors = [part for part in parts if isinstance(part, Tensor) and not isinstance(part, nn.Parameter)]
        units = [torch.finfo(part.dtype).eps if part.is_floating_point() else 0.0 for part in tensors]
        vectors = [
            (torch.view_as_real(part) if part.is_complex() else part).detach().flatten().float() for part in tensors
        ]
        return [cls(len(v), float(v.sum()), float(v.norm()), unit) for v, unit in zip(vectors, units, strict=True)]

    def is_like(self, numbers: "_Numbers") -> bool:
        """Return whether two tensors hold the same numbers but for a rounding of each, and of their sums."""
        off = 2 * max(self.unit, numbers.unit, 1e-6) * self.norm
        is_near = abs(self.norm - numbers.norm) <= off and abs(self.total - numbers.total) <= off * self.size**0.5
        return self.size == numbers.size and is_near


class Products(TorchFunctionMode):
    """Record the factors and the result of every matrix product in a pass."""

    def __init__(self) -> None:
        super().__init__()
        self._products: list[tuple[list[_Numbers], list[_Numbers]]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") in PRODUCTS:
            parts = [part for arg in args for part in (arg if isinstance(arg, list | tuple) else [arg])]
            self._products.append((_Numbers.of_all(parts), _Numbers.of_all([result])))
        return result

    def notes_on(self, stacks: Mapping[str, Any]) -> list[tuple[str, dict[str, int]]]:
        """Return a note on layers whose maps are not all that stands between the values and the next product."""
        maps = [layer for layers in stacks.values() for layer in layers if isinstance(layer, Tensor)]
        n = sum(map(self._is_changed, maps))
        return [("changed", {"n": n, "total": len(maps)})] if n else []

    def _is_changed(self, weights: Tensor) -> bool:
        """Return whether no product has these weights as a factor and gives what goes into another as it is."""
        (numbers,) = _Numbers.of_all([weights])
        inputs = [factor for factors, _ in self._products for factor in factors]
        products = [results for factors, results in self._products if any(map(numbers.is_like, factors))]
        return not any(result.is_like(factor) for results in products for result in results for factor in inputs)


def has_sinks(model: Any) -> bool:
    """Return whether some attention of a model has learned sinks, to which a part of each row goes."""
    return any(isinstance(getattr(module, "sinks", None), Tensor) for module in model.modules())
