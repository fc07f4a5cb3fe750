"""Measurements that weights have to pass before they are shown as a model's: by running it with and without them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

ROUNDINGS = 64
"""Roundings of the largest number that two computations of one output may differ by before noise is measured."""

NO_WEIGHT = 1e-6
"""Largest weight that counts as none."""

PRODUCTS = ("matmul", "__matmul__", "bmm", "baddbmm", "mm", "addmm", "einsum", "linear", "split")
"""Names of torch's matrix products, and of the function that hands each expert its part of what it multiplies."""

OF_NOISE = 64
"""Largest difference of the two, in multiples of the measured noise of one rounding at the input."""


def output_of(result: Any) -> Tensor:
    """Return the last states of a model's output, which every token has; logits where it gives no states."""
    for name in ("decoder_hidden_states", "hidden_states", "encoder_hidden_states"):
        if states := getattr(result, name, None):
            return states[-1].detach().float()
    tensor = next((getattr(result, name) for name in ("logits", "last_hidden_state") if hasattr(result, name)), None)
    return torch.zeros(1, 0, 1) if tensor is None else tensor.detach().float()


def run_plain(model: Any, inputs: Mapping[str, Tensor]) -> Tensor:
    """The output of a model that is not asked for its maps."""
    return output_of(model(**inputs, output_hidden_states=True, return_dict=True))


def check_same_output(
    model: Any, inputs: Mapping[str, Tensor], plain: Tensor, with_maps: Tensor, token_places: list[int]
) -> None:
    """Refuse maps of a pass whose output is not that of the model without maps.

    Where the two differ by more than a few roundings, the model's noise is measured: by how much its output changes if
    each number of its embeddings is rounded once.

    Raises:
        ValueError: with both differences.
    """
    if plain.shape != with_maps.shape:
        return
    difference = _difference(plain, with_maps, token_places)
    largest = float(plain.abs().max()) if plain.numel() else 0.0
    unit = torch.finfo(_dtype(model)).eps
    if not difference > ROUNDINGS * unit * max(largest, 1e-30):
        return
    unit = _coarsest_rounding(model, inputs)
    if not difference > ROUNDINGS * unit * max(largest, 1e-30):
        return
    with _rounded_input(model, unit):
        noise = _difference(plain, run_plain(model, inputs), token_places)
    if difference > OF_NOISE * noise:
        raise ValueError(
            f"With maps the output of {type(model).__name__} differs by {difference:.3g} from its output without them, "
            f"of {largest:.3g} at most; one rounding of its input changes it by {noise:.3g}. So these maps are not of "
            "what the model computes by itself, and are not shown."
        )


def check_causal(
    model: Any, inputs: Mapping[str, Tensor], plain: Tensor, above: float, token_places: list[int]
) -> None:
    """Refuse weights on later tokens, ``above`` at most, where a later token changes nothing.

    Measured with the last token exchanged: if no earlier output changes, the model is causal. NaN is no such weight: it
    is refused where the maps are read.

    Raises:
        ValueError: with the weight that was found above the diagonal.
    """
    name = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    if not above > NO_WEIGHT or name not in inputs or len(token_places) < 2:
        return
    ids = inputs[name].clone()
    ids[0, token_places[-1]] = (
        ids[0, token_places[0]]
        if ids[0, token_places[0]] != ids[0, token_places[-1]]
        else (ids[0, token_places[-1]] + 1) % 2
    )
    output_after_change = run_plain(model, {**inputs, name: ids})
    if output_after_change.shape != plain.shape or plain.dim() != 3 or plain.shape[1] <= max(token_places):
        return
    difference = _difference(plain, output_after_change, token_places[:-1])
    if difference <= torch.finfo(_dtype(model)).eps / 4 * float(plain.abs().max()):  # of a causal model it is 0
        raise ValueError(
            f"{type(model).__name__} gives weights of up to {above:.3f} to later tokens, and another last token "
            f"changes its earlier outputs by {difference:.3g}: they do not see it. "
            "So these are not the weights it uses. "
            'Load it so: from_pretrained(..., attn_implementation="eager").'
        )


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


def _difference(before: Tensor, after: Tensor, token_places: list[int]) -> float:
    if before.dim() == 3 and before.shape[1] > max(token_places, default=0):
        before, after = before[:, token_places], after[:, token_places]
    return float((before - after).abs().max()) if before.numel() else 0.0


def _dtype(model: Any) -> torch.dtype:
    return next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)


def _coarsest_rounding(model: Any, inputs: Mapping[str, Tensor]) -> float:
    """The rounding of the coarsest type that a model computes in, which under autocast is not that of its weights."""
    roundings = [torch.finfo(_dtype(model)).eps]

    def note(_module: Any, _inputs: Any, output: Any) -> None:
        if isinstance(output, Tensor) and output.is_floating_point():
            roundings.append(torch.finfo(output.dtype).eps)

    hooks = [module.register_forward_hook(note) for module in model.modules()]
    try:
        run_plain(model, inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return max(roundings)


@contextmanager
def _rounded_input(model: Any, unit: float) -> Iterator[None]:
    """Every number of the embeddings moved by one rounding, up or down."""
    generator = torch.Generator().manual_seed(0)

    def move(_module: Any, _inputs: Any, output: Tensor) -> Tensor:
        signs = torch.randint(0, 2, output.shape, generator=generator).to(output.device) * 2 - 1
        return output * (1 + unit * signs).to(output.dtype)

    tables = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    hooks = [table.register_forward_hook(move) for table in tables]  # mT5's encoder and decoder have one each
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
