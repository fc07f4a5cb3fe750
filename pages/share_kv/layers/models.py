"""Published models by the cache of each of their layers, read from ``models.toml``."""

import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.core.cost.mixed import FullCost, LatentCost, LayerCost, LinearCost, SharedKVCost, WindowCost
from viz.core.spec import AttentionSpec
from viz.core.variants.layer_sharing import kv_sources
from viz.core.variants.today.interleaved import full_layers
from viz.core.variants.today.latent import LatentSpec

NUMBER_BYTES, STATE_BYTES = 2, 4
"""Bytes of a number of the keys and values, and of a linear layer's state."""


@dataclass(frozen=True, kw_only=True)
class CachedModel:
    """A published model; the fields are those of ``models.toml``."""

    name: str
    year: int
    config: str
    n_layers: int
    n_heads: int
    n_kv_heads: int = 0
    d_head: int = 0
    latent: Sequence[int] = ()
    period: int = 1
    near: str = ""
    size: int = 0
    state: Sequence[int] = ()
    n_shared: int = 0

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each layer: "latent", "full", or that of the layers between full ones."""
        full = "latent" if self.latent else "full"
        if not self.near:
            return (full,) * self.n_layers
        return tuple(full if is_full else self.near for is_full in full_layers(self.n_layers, period=self.period))

    @property
    def kind_counts(self) -> Counter[str]:
        """The number of layers of each kind that keep something, and of those that read an earlier layer's."""
        kinds = Counter(self.kinds[: self.n_layers - self.n_shared])
        return kinds + Counter({"shared": self.n_shared})

    @property
    def sources(self) -> tuple[int, ...]:
        """The layer whose keys and values each layer reads."""
        return kv_sources(self.kinds, self.n_shared)

    @property
    def layers(self) -> list[LayerCost]:
        """The cost of each layer, as published."""
        costs = [self._cost(kind) for kind in self.kinds]
        return [
            cost if source == layer else SharedKVCost(layer=cost)
            for layer, (cost, source) in enumerate(zip(costs, self.sources, strict=True))
        ]

    @property
    def full(self) -> list[LayerCost]:
        """The cost of each layer if all were full, and none read another's keys and values."""
        return [self._cost("latent" if self.latent else "full")] * self.n_layers

    @property
    def unshared(self) -> list[LayerCost]:
        """The cost of each layer if all were full, and each head had keys and values of its own."""
        if self.latent:
            _, d_rope, d_nope, d_value = self.latent
            spec = AttentionSpec(d_model=1, n_heads=self.n_heads, d_head=d_nope + d_rope, d_value=d_value)
        else:
            spec = AttentionSpec(d_model=1, n_heads=self.n_heads, d_head=self.d_head)
        return [FullCost(spec=spec)] * self.n_layers

    def _cost(self, kind: str) -> LayerCost:
        if kind == "latent":
            c, d_rope, d_nope, d_value = self.latent
            widths = {"d_latent": c, "d_rope": d_rope, "d_nope": d_nope, "d_value": d_value}
            return LatentCost(spec=LatentSpec(d_model=1, n_heads=self.n_heads, **widths))
        if kind == "linear":
            n_heads, d_k, d_v = self.state
            return LinearCost(n_heads=n_heads, d_k=d_k, d_v=d_v, corrects=True)
        spec = AttentionSpec(d_model=1, n_heads=self.n_heads, n_kv_heads=self.n_kv_heads, d_head=self.d_head)
        return FullCost(spec=spec) if kind == "full" else WindowCost(spec=spec, size=self.size)


@cache
def models() -> tuple[CachedModel, ...]:
    """Return the models, from the oldest to the newest."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf8"))["model"]
    return tuple(CachedModel(**entry) for entry in entries)


def model_named(name: str) -> CachedModel:
    """Return the model of that name."""
    return next(model for model in models() if model.name == name)


def count_bytes(layers: Sequence[LayerCost], n_tokens: int) -> int:
    """Count the bytes that layers keep after so many tokens: 16 bits a number, a state's 32."""
    return sum(
        layer.cache_numbers(n_tokens) * (STATE_BYTES if isinstance(layer, LinearCost) else NUMBER_BYTES)
        for layer in layers
    )
