"""The text part of a model that reads pictures or sound too: its configuration, and its weights by their own names."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

from viz.models.layout import families, layouts, refused_kind

AROUND = (
    "model.language_model.",
    "language_model.model.",
    "model.text_model.",
    "bridgetower.text_model.",
    "language_model.",
    "text_model.",
)
"""Prefixes of the names of the text part's weights, in one version of transformers or another."""


def text_config(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the configuration of the text part, if a model has one and is of no family that is known as a whole."""
    part = config.get("text_config")
    family = str(config.get("model_type"))
    if not isinstance(part, dict) or family in families() or refused_kind(family):
        return None
    writes = not any(layout.family == part.get("model_type") and layout.stack == "encoder" for layout in layouts())
    return {"architectures": ["TextForCausalLM" if writes else "TextModel"], **part}


def text_weights(tensors: Mapping[str, Tensor], expected: Iterable[str]) -> dict[str, Tensor]:
    """Return the text part's weights under the names they have in a model that is nothing else."""
    # Qwen2-VL's published files have other names.
    around = AROUND if any(name.startswith(AROUND) for name in tensors) else ("model.",)
    weights = {name: tensor for key, tensor in tensors.items() if (name := _inner_name(key, around))}
    names = set(expected)
    prefixes = ("", *sorted({f"{name.partition('.')[0]}." for name in names}))
    prefix = max(prefixes, key=lambda prefix: sum(prefix + name in names for name in weights))
    return {name if name.startswith("lm_head.") else prefix + name: tensor for name, tensor in weights.items()}


def _inner_name(name: str, around: tuple[str, ...]) -> str:
    """The name of a weight below the text part's base model; "" for one of another part."""
    prefix = next((prefix for prefix in around if name.startswith(prefix)), "")
    inner = name.removeprefix(prefix)
    return inner if prefix or inner.startswith("lm_head.") else ""
