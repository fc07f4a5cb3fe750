"""What the two live views in the browser share: words, colours, and what they send back, which may be anything."""

from collections.abc import Mapping
from typing import Any

from pages.convolution.link_numbers import write_reals
from viz.figures.palette import BLUE, HEADS, ORANGE
from viz.frame.scene import Scene
from viz.text import sentences

VIEW = "convolution/quadratic_heads"
WORDS = "convolution.view."
HUES = {"positive": BLUE, "negative": ORANGE, "heads": HEADS}
HIGHEST_ALPHA = 100.0


def view_words(scene: Scene) -> dict[str, str]:
    """The views' own words, to be filled in by the browser."""
    names = [key.removeprefix(WORDS) for key in sentences(scene.choice.lang) if key.startswith(WORDS)]
    return {name: scene.t(f"convolution.view.{name}") for name in names}


def read_choice(sent: Any, lists: Mapping[str, str], wholes: Mapping[str, str]) -> dict[str, Any]:
    """What a view sent, as parameters, as far as it has the right types; anything else is left out.

    Args:
        sent: from the browser, so it may be anything.
        lists: what is sent as a list of numbers -> the parameter's name.
        wholes: what is sent as a whole number -> the parameter's name.

    Example:
        >>> read_choice({"alphas": [1, 2.5], "head": "x", "query": 3}, {"alphas": "a"}, {"head": "h", "query": "q"})
        {'a': '1_2.5', 'q': 3}
    """
    if not isinstance(sent, Mapping):
        return {}
    found: dict[str, Any] = {}
    for key, name in lists.items():
        numbers = sent.get(key)
        if isinstance(numbers, list) and all(map(_is_number, numbers)):
            found[name] = write_reals(numbers)
    for key, name in wholes.items():
        if type(sent.get(key)) is int:
            found[name] = sent[key]
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
