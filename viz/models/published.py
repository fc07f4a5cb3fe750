"""Published models by the cache of each of their layers, read from ``published.toml``: numbers only."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from viz.core.cost.mixed import (
    FullCost,
    LatentCost,
    LayerCost,
    LinearCost,
    SharedKVCost,
    TopKCost,
    WindowCost,
    cache_bytes,
)
from viz.core.spec import AttentionSpec
from viz.core.variants.today.interleaved import full_layers
from viz.core.variants.today.latent import LatentSpec
from viz.models.presets import preset as find_preset


@dataclass(frozen=True, kw_only=True)
class Model:
    """A published model; ``config`` names the class of transformers whose defaults its sizes are, else ``source``."""

    name: str
    year: int
    sizes: Mapping[str, Any]
    config: str = ""
    source: str = ""
    pattern: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_misplaced(self) -> int:
        """The number of layers of its first kind that it has more or fewer than its pattern says, if it has one."""
        n_first, *n_rest = self.sizes["layers"].values()
        if not self.pattern.get("period"):
            return 0
        is_first = full_layers(n_first + sum(n_rest), **self.pattern)
        return abs(n_first - sum(is_first[: n_first + n_rest[0]]))

    @property
    def layers(self) -> list[LayerCost]:
        """Cost of every layer, kind by kind."""
        return [self.cost(kind) for kind, n_layers in self.sizes["layers"].items() for _ in range(n_layers)]

    def cost(self, kind: str) -> LayerCost:
        """Return the cost of one of its layers."""
        sizes = self.sizes
        match kind:
            case "window" | "chunks":
                return WindowCost(spec=self._attention, size=sizes[kind])
            case "linear":
                return LinearCost(**sizes["linear"], corrects=True)
            case "latent":
                return LatentCost(
                    spec=LatentSpec(d_model=sizes["d_model"], n_heads=sizes["n_heads"], **sizes["latent"])
                )
            case "select":
                return TopKCost(layer=self.cost("latent"), **sizes["select"])
            case "shared":
                return SharedKVCost(layer=FullCost(spec=self._attention))
        return FullCost(spec=self._attention)

    @property
    def only_full(self) -> list[LayerCost]:
        """Cost of as many layers, all full: those of MLA with the keys and values of every head."""
        return [FullCost(spec=self._attention)] * sum(self.sizes["layers"].values())

    @property
    def unshared(self) -> list[LayerCost]:
        """The same if every head had keys and values of its own."""
        return [FullCost(spec=replace(self._attention, n_kv_heads=None))] * sum(self.sizes["layers"].values())

    @property
    def _attention(self) -> AttentionSpec:
        sizes = self.sizes
        if "latent" not in sizes:
            names = ("d_model", "n_heads", "n_kv_heads", "d_head")
            return AttentionSpec(**{name: sizes[name] for name in names})
        key, value = sizes["latent"]["d_nope"] + sizes["latent"]["d_rope"], sizes["latent"]["d_value"]
        return AttentionSpec(d_model=sizes["d_model"], n_heads=sizes["n_heads"], d_head=key, d_value=value)

    def cache(self, n: int) -> int:
        """Return the bytes of the cache after n tokens: 2 a number, and 4 a number of a state."""
        states = [layer for layer in self.layers if isinstance(layer, LinearCost)]
        return cache_bytes(self.layers, n_tokens=n) + cache_bytes(states, n_tokens=n)


@cache
def models() -> tuple[Model, ...]:
    """Return the models, from the oldest to the newest."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf8"))["model"]
    return tuple(_of_preset(**entry) if "preset" in entry else _of_config(**entry) for entry in entries)


def model_named(name: str) -> Model:
    """Return the model of that name."""
    return next(model for model in models() if model.name == name)


def _of_config(
    name: str, year: int, config: str = "", source: str = "", period: int = 0, starts_full: bool = False, **sizes: Any
) -> Model:
    pattern = {"period": period, "starts_full": starts_full}
    return Model(name=name, year=year, config=config, source=source, pattern=pattern, sizes=sizes)


def _of_preset(preset: str, year: int) -> Model:
    """Read the sizes from the presets; theirs is the window of some of the layers."""
    entry = find_preset(preset)
    spec, model = entry.attention, entry.model
    sizes = {"d_model": spec.d_model, "n_heads": spec.H, "n_kv_heads": spec.G, "d_head": spec.d_k}
    layers = {"full": model.n_layers - model.windowed_layers, "window": model.windowed_layers}
    return Model(
        name=entry.id,
        year=year,
        source=entry.source,
        sizes=sizes | {"window": model.window, "layers": {kind: n for kind, n in layers.items() if n}},
    )
