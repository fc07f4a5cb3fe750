"""Texts whose next word is worth a look, with the two words to compare and a second text to swap heads with."""

import tomllib
from dataclasses import dataclass
from functools import cache

from viz import ASSETS
from viz.models.registry import checkpoints
from viz.models.trained.twins import GROUPS, twin_id

TWINS = tuple(map(twin_id, GROUPS))
OF_TWINS = {*TWINS, *(point.id for point in checkpoints() if point.of in TWINS)}
"""They and the points of their training: all know the same words."""


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A text of ``assets/next_words.toml``; ``twins``: of the words that the twins know.

    ``opens`` is the language in which the page opens on it.
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
    """All of them."""
    with (ASSETS / "next_words.toml").open("rb") as file:
        return tuple(Preset(**preset) for preset in tomllib.load(file)["preset"])


def presets_for(model: str) -> dict[str, Preset]:
    """Those in words that a model knows, by code."""
    return {preset.code: preset for preset in presets() if preset.twins == (model in OF_TWINS)}


def opening(model: str, lang: str) -> Preset:
    """Return the preset that the page opens on with a model, in a language."""
    known = presets_for(model)
    return next((preset for preset in known.values() if preset.opens == lang), next(iter(known.values())))


def preset_of(model: str, text: str) -> Preset | None:
    """The preset that a text is, if it is one."""
    return next((preset for preset in presets_for(model).values() if preset.text == text), None)
