"""Maps made when they are read, from the queries and keys that a model's own attention was called with."""

import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from viz.components.head_grid import pool_of
from viz.models.attention_interface import register_eager
from viz.notebook.eager import implementation
from viz.notebook.layer_numbers import IN_PATH
from viz.notebook.survey import LayerSurvey, survey_layer

IMPLEMENTATION = "headlight_kept"
"""The eager attention of a model's own module under our name, so that its queries and keys can be kept."""

LEAST_BYTES = 64_000_000
"""Of a pass's maps in float32; below that they are kept as they are."""


@dataclass(frozen=True, kw_only=True)
class LayerOnDemand:
    """A layer's maps, (1, H, Q, K), which its own eager attention makes anew of its q and k whenever they are read.

    ``survey`` was made of them while the model ran; ``rows`` are the places without padding, where there is some.
    """

    attend: Callable[..., tuple[Tensor, Tensor]]
    q: Tensor
    k: Tensor
    path: str
    survey: LayerSurvey
    rows: list[int] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """1, heads, queries and keys; without padding, where there is some."""
        of_text = self.q.shape[2], self.k.shape[2]
        return (*self.q.shape[:2], *(of_text if self.rows is None else (len(self.rows),) * 2))

    @property
    def nbytes(self) -> int:
        """Bytes of what is kept."""
        return self.q.nbytes + self.k.nbytes

    def make(self) -> Tensor:
        """Return the maps, as the model's pass had them."""
        with torch.inference_mode():
            weights = self.attend(self.q, self.k, self.k)[1]  # keys in the place of values, which no weight depends on
        return _of_places(weights, self.rows)


def _of_places(weights: Tensor, places: list[int] | None) -> Tensor:
    return weights if places is None else weights[..., places, :][..., places]


class _UnknownAttentionError(Exception):
    """A module has no eager attention beside it, so its maps cannot be made anew."""


@dataclass
class _Pass:
    paths: dict[int, str]
    rows: list[int] | None
    n_layers: int
    layers: list[LayerOnDemand] = field(default_factory=list)


_current: ContextVar[_Pass | None] = ContextVar("on_demand", default=None)


def _attend(module: nn.Module, query: Tensor, key: Tensor, value: Tensor, *args: Any, **options: Any) -> Any:
    """Call the eager attention beside a module's class, and keep q, k and all else it was called with but v."""
    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    going = _current.get()
    if eager is None or going is None:
        raise _UnknownAttentionError
    output, weights = eager(module, query, key, value, *args, **options)
    if weights is None or weights.shape[:3] != query.shape[:3] or key.shape[2] != weights.shape[3]:
        raise _UnknownAttentionError

    def again(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return eager(module, q, k, v, *args, **options)

    maps = _of_places(weights, going.rows)[0]
    survey = survey_layer(maps, pool_of(going.n_layers * len(maps), *maps.shape[1:]))
    path = going.paths.get(id(module), "")
    going.layers.append(
        LayerOnDemand(attend=again, q=_alone(query), k=_alone(key), path=path, survey=survey, rows=going.rows)
    )
    return output, None


def _alone(values: Tensor) -> Tensor:
    """Return a tensor that holds no memory but its own."""
    return values.clone() if values.untyped_storage().nbytes() > values.nbytes else values


@cache
def _install() -> None:
    register_eager(IMPLEMENTATION, _attend)


def is_large(model: Any, n_tokens: int) -> bool:
    """Return whether a pass over so many tokens gives maps too large to be kept for all layers at once."""
    n_layers, n_heads = _number(model, "num_hidden_layers"), _number(model, "num_attention_heads")
    is_encoder_decoder = bool(getattr(text_config(model), "is_encoder_decoder", False))
    return not is_encoder_decoder and 4 * n_tokens**2 * n_layers * n_heads > LEAST_BYTES


def text_config(model: Any) -> Any:
    """Return the configuration of the part of a model that reads text."""
    return model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config


def _number(model: Any, name: str) -> int:
    """A number in the configuration, 0 if it is not one for all layers."""
    value = getattr(text_config(model), name, None)
    return value if isinstance(value, int) else 0


def run_keeping(
    model: Any, inputs: dict[str, Tensor], rows: list[int] | None = None
) -> tuple[Any, list[LayerOnDemand]] | None:
    """Run a model with its own eager attention; return its output and its layers, None if it attends in other ways.

    Args:
        model: a model of transformers.
        inputs: what it reads.
        rows: the places that are no padding, if there is some.
    """
    change, before = getattr(model, "set_attn_implementation", None), implementation(model)
    if change is None or before is None:
        return None
    _install()
    paths = {id(module): path for path, module in model.named_modules()}
    going = _Pass(paths=paths, rows=rows, n_layers=max(1, _number(model, "num_hidden_layers")))
    token = _current.set(going)
    try:
        change(IMPLEMENTATION)
        result = model(**inputs, output_hidden_states=True, return_dict=True)
    except (_UnknownAttentionError, ValueError, ImportError):
        return None
    finally:
        _current.reset(token)
        change(before)
    numbers = numbers_on_demand(going.layers)
    is_stack = bool(numbers) and len(numbers) == len(going.layers) and numbers == sorted(set(numbers))
    return (result, going.layers) if is_stack else None


def numbers_on_demand(layers: Sequence[LayerOnDemand]) -> list[int]:
    """Return the number of each layer in its model, by the path of its module; none for a path without one."""
    return [int(match[1]) for layer in layers if (match := IN_PATH.search(layer.path))]
