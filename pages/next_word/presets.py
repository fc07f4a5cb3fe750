"""Preset texts for the next word, each with two words to compare and a second text to swap heads with."""

import tomllib
from dataclasses import dataclass
from functools import cache

from viz import ASSETS
from viz.models.registry import checkpoints
from viz.models.trained.twins import GROUPS, twin_id

TWINS = tuple(map(twin_id, GROUPS))
OF_TWINS = {*TWINS, *(point.id for point in checkpoints() if point.of in TWINS)}
"""The twins and their checkpoints: all share one vocabulary."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A text of ``assets/next_words.toml``; ``twins``: in the twins' vocabulary.

    ``opens`` is the language for which it is the default.
    """

    code: str
    text: str
    swap_with: str
    follow: str
    against: str
    why: dict[str, str]
    twins: bool = False
    opens: str = ""


@cache
def presets() -> tuple[Preset, ...]:
    """Return all presets."""
    with (ASSETS / "next_words.toml").open("rb") as file:
        return tuple(Preset(**preset) for preset in tomllib.load(file)["preset"])


def presets_for(model: str) -> dict[str, Preset]:
    """Return the presets in words that a model knows, by code."""
    return {preset.code: preset for preset in presets() if preset.twins == (model in OF_TWINS)}


def opening(model: str, lang: str) -> Preset:
    """Return the default preset of a model, in a language."""
    candidates = presets_for(model)
    return next((preset for preset in candidates.values() if preset.opens == lang), next(iter(candidates.values())))


def preset_of(model: str, text: str) -> Preset | None:
    """Return the preset with this text, if there is one."""
    return next((preset for preset in presets_for(model).values() if preset.text == text), None)
