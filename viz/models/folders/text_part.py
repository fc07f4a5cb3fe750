"""The text part of a model that reads pictures or sound too: its configuration, and its weights by their own names."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from viz.models.layout import families

AROUND = ("model.language_model.", "language_model.model.", "model.text_model.", "language_model.", "text_model.")
"""Prefixes of the names of the text part's weights, in one version of transformers or another."""


def text_config(config: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the configuration of the text part, if a model has one and is of no family that is known as a whole."""
    part = config.get("text_config")
    if not isinstance(part, dict) or config.get("model_type") in families():
        return None
    return {"architectures": ["TextForCausalLM"], **part}


def text_weights(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the text part's weights under the names they have in a model that is nothing else."""
    return {name: tensor for key, tensor in tensors.items() if (name := _text_name(key))}


def _text_name(name: str) -> str:
    """The name of a weight in the text part alone; "" for one of another part."""
    around = next((around for around in AROUND if name.startswith(around)), "")
    inner = name.removeprefix(around)
    if inner.startswith("lm_head."):
        return inner
    return f"model.{inner}" if around else ""
