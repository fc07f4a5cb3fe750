"""Maps made when they are read, from the queries and keys that a model's own attention was called with."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from viz.components.head_grid import pool_of
from viz.models.attention_interface import layer_bar, mask_of_chosen, register_eager
from viz.notebook.eager import implementation
from viz.notebook.layer_numbers import IN_PATH
from viz.notebook.survey import LayerSurvey, survey_layer

IMPLEMENTATION = "headlight_kept"
"""The eager attention of a model's own module under our name, so that its queries and keys can be kept."""

LEAST_BYTES = 64_000_000
"""Of a pass's maps in float32; below that they are kept as they are."""

PART_BYTES = 8_000_000
"""Of the maps in float32 that a processor makes at once: it reads them again while they are near, and new memory for
all heads of a layer would take longer than their softmax."""

Attend = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor | None]]
"""Output and maps of q (1, H, Q, d_k), k (1, G, K, d_k) and v (1, G, K, d_v)."""


@dataclass(frozen=True, kw_only=True)
class LayerOnDemand:
    """A layer's maps, (1, H, Q, K), which its own eager attention makes anew of its q and k whenever they are read.

    ``survey`` was made of them while the model ran, ``n_together`` heads at a time; ``rows`` are the places without
    padding, where there is some.
    """

    attend: Attend
    q: Tensor
    k: Tensor
    path: str
    survey: LayerSurvey
    n_together: int
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
        return torch.cat([self._make_part(first) for first in range(0, self.q.shape[1], self.n_together)], 1)

    def head(self, head: int) -> Tensor:
        """Return the map (Q, K) of one head, without most of the others."""
        first = head - head % self.n_together
        return self._make_part(first)[0, head - first]

    def _make_part(self, first: int) -> Tensor:
        q, k = _part_of(self.q, self.k, first, self.n_together)
        with torch.inference_mode():
            # No weight depends on the values, so keys stand in their place.
            _, weights = self.attend(q, k, k)
        assert weights is not None
        return _of_places(weights, self.rows)


def _of_places(weights: Tensor, places: list[int] | None) -> Tensor:
    return weights if places is None else weights[..., places, :][..., places]


def _part_of(q: Tensor, keys: Tensor, first: int, n: int) -> tuple[Tensor, Tensor]:
    """Return n heads of q (1, H, Q, d), and of the keys or values (1, G, K, d) those that they share."""
    n_shared = q.shape[1] // keys.shape[1]
    return q[:, first : first + n], keys[:, first // n_shared : -(-(first + n) // n_shared)]


def _heads_together(q: Tensor, k: Tensor) -> int:
    """Return how many heads are attended at once: such that share their keys, as many as a processor holds near."""
    n_heads, n_groups = q.shape[1], k.shape[1]
    if q.device.type != "cpu" or n_heads % n_groups:
        return n_heads
    n_shared = n_heads // n_groups
    n_near = PART_BYTES // (4 * q.shape[2] * k.shape[2])
    return min(n_heads, max(1, n_near // n_shared) * n_shared)


class _UnknownAttentionError(Exception):
    """A module has no eager attention beside it, so its maps cannot be made anew."""


@dataclass
class _Pass:
    paths: dict[int, str]
    rows: list[int] | None
    n_layers: int
    bar: Any
    layers: list[LayerOnDemand] = field(default_factory=list)


_current: ContextVar[_Pass | None] = ContextVar("on_demand", default=None)


def _attend(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> Any:
    """Call the eager attention beside a module's class, and keep q, k and all else it was called with but v."""
    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    going = _current.get()
    if eager is None or going is None:
        raise _UnknownAttentionError
    mask = mask_of_chosen(module, attention_mask, options)

    def again(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor | None]:
        result: tuple[Tensor, Tensor | None] = eager(module, q, k, v, mask, **options)
        return result

    n_heads, n_together = query.shape[1], _heads_together(query, key)
    try:
        output, survey = _attend_and_survey(again, (query, key, value), n_together, going)
    except (_UnknownAttentionError, RuntimeError):
        if n_together == n_heads:
            raise
        # Sinks or a bias have a number for each head.
        n_together = n_heads
        output, survey = _attend_and_survey(again, (query, key, value), n_together, going)
    going.bar.update()
    going.layers.append(
        LayerOnDemand(
            attend=again, q=_alone(query), k=_alone(key), path=going.paths.get(id(module), ""), survey=survey,
            n_together=n_together, rows=going.rows,
        )
    )  # fmt: skip
    return output, None


def _attend_and_survey(
    attend: Attend, qkv: tuple[Tensor, Tensor, Tensor], n_together: int, going: _Pass
) -> tuple[Tensor, LayerSurvey]:
    """Return the output of all heads, and the survey of their maps, of which some exist at a time.

    Raises:
        _UnknownAttentionError: if the output or the maps are not of the heads that were asked for.
    """
    q, k, v = qkv
    n_heads, n_queries, n_keys = q.shape[1], q.shape[2], k.shape[2]
    outputs: list[Tensor] = []

    def maps() -> Iterator[Tensor]:
        for first in range(0, n_heads, n_together):
            part, keys = _part_of(q, k, first, n_together)
            output, weights = attend(part, keys, _part_of(q, v, first, n_together)[1])
            if weights is None or weights.shape != (1, part.shape[1], n_queries, n_keys):
                raise _UnknownAttentionError
            if len(part[0]) < n_heads and output.shape[:3] != (1, n_queries, part.shape[1]):
                raise _UnknownAttentionError
            outputs.append(output)
            yield _of_places(weights, going.rows)[0]

    sides = (n_queries, n_keys) if going.rows is None else (len(going.rows),) * 2
    survey = survey_layer(maps(), pool_of(going.n_layers * n_heads, *sides))
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, 2), survey


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
    config: Any = getattr(model, "config", None)
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _number(model: Any, name: str) -> int:
    """A number in the configuration, 0 if it is not one for all layers."""
    value = getattr(text_config(model), name, None)
    return value if isinstance(value, int) else 0


def run_keeping(
    model: Any, inputs: dict[str, Tensor], rows: list[int] | None = None
) -> tuple[Any, list[LayerOnDemand]] | None:
    """Run a model with its own eager attention; return its output and its layers, None if it attends in other ways."""
    change, before = getattr(model, "set_attn_implementation", None), implementation(model)
    if change is None or before is None:
        return None
    _install()
    paths = {id(module): path for path, module in model.named_modules()}
    n_layers = max(1, _number(model, "num_hidden_layers"))
    with layer_bar(n_layers) as bar:
        going = _Pass(paths=paths, rows=rows, n_layers=n_layers, bar=bar)
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
