"""The atlases that ship with the app (``assets/atlas``): which model, which corpus, when, and every number of them.

``python -m tools.atlas`` computes and writes them.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from viz import ASSETS
from viz.core.analysis.atlas.summary import Score
from viz.models.atlas.corpus import digest, sentences
from viz.models.atlas.make import Atlas
from viz.models.layout import LoadedModel

FOLDER = ASSETS / "atlas"
SCALE = 10_000
"""Numbers are stored as whole ones: so many are 1."""
SHIPPED = (("all-MiniLM-L6-v2", "en"), ("multilingual-e5-small", "zh"), ("SmolLM2-135M-Instruct", "en"))
"""Models and the corpora they are shown on at first."""

TENSORS = ("mean", "half", "random", "low_values", "high_values")
COUNTS = ("against", "low", "high")
"""Fields of a score that are stored as numbers, and as counts."""


def path_of(model: str, corpus: str) -> Path:
    """Path of a model's atlas file, whether or not it exists."""
    return FOLDER / f"{model}.{corpus}.json"


def read(text: str) -> Atlas:
    """An atlas from what its file says.

    Raises:
        ValueError: if it was made of other sentences than the corpus has now.
    """
    content = json.loads(text)
    size = tuple(content["size"])
    lines = sentences(content["corpus"])[: content["lines"]]
    if digest(lines) != content["digest"]:
        raise ValueError(f"the atlas of {content['model']} is of other sentences: python -m tools.atlas")
    return Atlas(
        model=content["model"],
        corpus=content["corpus"],
        lines=lines,
        seeds=tuple(content["seeds"]),
        made=content["made"],
        sha256=content["sha256"],
        packaged=content["packaged"],
        scores={name: _score(parts, size) for name, parts in content["scores"].items()},
    )


def _score(parts: dict[str, Any], size: tuple[int, ...]) -> Score:
    tensors = {name: _number(parts[name]).reshape(-1, *size) for name in TENSORS}
    counts = {name: torch.tensor(parts[name]).reshape(-1, *size) for name in COUNTS}
    by_text = ("low", "high", "low_values", "high_values")
    shaped = {name: value if name in by_text else value[0] for name, value in (tensors | counts).items()}
    even, hurdle = (float(_number([parts[name]])) for name in ("even", "hurdle"))
    return Score(n=parts["n"], even=even, hurdle=hurdle, chance=_number(parts["chance"]), **shaped)


def _number(values: list[int | None]) -> Tensor:
    return torch.tensor([math.nan if value is None else value / SCALE for value in values])


@cache
def _shipped(model: str, corpus: str) -> Atlas | None:
    file = path_of(model, corpus)
    return read(file.read_text("utf-8")) if file.is_file() else None


def shipped(model: LoadedModel, corpus: str) -> Atlas | None:
    """The atlas that ships for a model, if there is one and it is of the very weights that are loaded."""
    atlas = _shipped(model.entry.id, corpus)
    same = atlas is not None and (atlas.sha256, atlas.packaged) == (model.entry.sha256 or "", model.is_packaged)
    return atlas if same else None
