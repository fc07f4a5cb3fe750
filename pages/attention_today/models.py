"""Thirty published models by what their attention has beside the standard, read from ``models.toml``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st

from viz.text import Translate

FEATURES = (
    "sink", "qk_norm", "cap", "gate", "linear", "delta", "mla", "window", "nope", "partial_rope", "top_k", "compressed",
    "streams", "depth",
)  # fmt: skip
"""In the order of the columns; each has a name among the page's texts."""


@dataclass(frozen=True, kw_only=True)
class Model:
    """A published model: its year, its key/value heads ("MHA", "GQA", "MQA", "MLA"), and its features with their sizes.

    ``config`` names the class of transformers whose defaults the sizes are, "" if they are from a paper.
    """

    name: str
    year: int
    heads: str
    features: Mapping[str, str]
    config: str = ""


@cache
def models() -> tuple[Model, ...]:
    """Return the models, from the oldest to the newest."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf8"))["model"]
    return tuple(Model(**entry) for entry in entries)


def show_users(t: Translate, *features: str) -> None:
    """Say which of the models have one of the features."""
    names = [f"{model.name} ({model.year})" for model in models() if model.features.keys() & set(features)]
    st.caption(t("attention_today.users", names=", ".join(names)))
