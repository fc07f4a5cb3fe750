"""Caches of published models counted another way: from the files' own sizes, by tensors of their shapes."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from viz import ASSETS

TABLE, PRESETS = Path(__file__).parents[1] / "published.toml", ASSETS / "presets.toml"


def published_sizes() -> list[Mapping[str, Any]]:
    """Return the sizes of the published models as the files have them, layers by kind."""
    by_name = {entry["id"]: entry for entry in preset_sizes()}
    table = tomllib.loads(TABLE.read_text("utf8"))["model"]
    return [by_name[entry["preset"]] if "preset" in entry else entry for entry in table]


def preset_sizes() -> list[Mapping[str, Any]]:
    """Return the sizes of the presets, likewise."""
    return [_with_layers(entry) for entry in tomllib.loads(PRESETS.read_text("utf8"))["model"]]


def _with_layers(entry: Mapping[str, Any]) -> dict[str, Any]:
    n_near = entry.get("windowed_layers", 0)
    layers = {"full": entry["n_layers"] - n_near, "window": n_near}
    return {**entry, "layers": {kind: n for kind, n in layers.items() if n}}


def published_bytes(sizes: Mapping[str, Any], n: int) -> int:
    """Return the bytes that a published model keeps after n tokens, as tensors of its shapes."""

    def nbytes(kind: str) -> int:
        dtype, shapes = torch.bfloat16, list[tuple[int, ...]]()
        if kind == "linear":
            dtype, shapes = torch.float32, [tuple(sizes["linear"][name] for name in ("n_heads", "d_k", "d_v"))]
        elif kind in ("latent", "select"):
            keys = [sizes["select"]["d_head"]] if kind == "select" else []
            shapes = [(n, width) for width in (sizes["latent"]["d_latent"], sizes["latent"]["d_rope"], *keys)]
        elif kind != "shared":
            shapes = [(2, sizes["n_kv_heads"], n if kind == "full" else min(n, sizes[kind]), sizes["d_head"])]
        return sum(torch.empty(shape, dtype=dtype, device="meta").nbytes for shape in shapes)

    return sum(n_layers * nbytes(kind) for kind, n_layers in sizes["layers"].items())
