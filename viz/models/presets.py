"""Published model configurations, read from ``assets/presets.toml``: numbers only, nothing is loaded."""

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from viz import ASSETS
from viz.core.cost.model import ModelSpec
from viz.core.spec import AttentionSpec

FILE = ASSETS / "presets.toml"


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A model's configuration as published; ``longest`` is the longest text it was made for, in tokens."""

    id: str
    model: ModelSpec
    longest: int
    source: str

    @property
    def attention(self) -> AttentionSpec:
        """The sizes of one of its attention layers."""
        return self.model.attention

    @property
    def n_layers(self) -> int:
        """Layers."""
        return self.model.n_layers


@cache
def presets() -> tuple[Preset, ...]:
    """Every configuration, in the file's order: from small to large."""
    with FILE.open("rb") as file:
        return tuple(_preset(table.pop("id"), **table) for table in tomllib.load(file)["model"])


def preset(name: str) -> Preset:
    """The configuration of that name."""
    return next(entry for entry in presets() if entry.id == name)


def _preset(
    name: str,
    *,
    source: str,
    d_model: int,
    n_heads: int,
    n_kv_heads: int,
    d_head: int,
    positions: int,
    learned_positions: bool = False,
    bias: tuple[str, ...] = (),
    **sizes: Any,
) -> Preset:
    attention = AttentionSpec(d_model=d_model, n_heads=n_heads, n_kv_heads=n_kv_heads, d_head=d_head)
    model = ModelSpec(
        attention=attention, positions=positions if learned_positions else 0, bias=frozenset(bias), **sizes
    )
    return Preset(id=name, model=model, longest=positions, source=source)
