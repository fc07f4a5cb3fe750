"""The picture of numbers that can be changed, as both sections mount it, and what comes back from it."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from pages.step_by_step.own_numbers.example import OwnExample
from pages.step_by_step.own_numbers.numbers import MOST, from_code, to_code
from pages.step_by_step.own_numbers.pictures import OwnPicture
from pages.step_by_step.printed import PRINTED, words_of
from viz import limits
from viz.params import Text
from viz.text import Translate

FIRST_PLACE = "a0-1-0"
"""How the second word looks at the first: this number is explained first."""


def edit(
    t: Translate,
    example: OwnExample,
    numbers: Text,
    place: Text,
    editable: Collection[str],
    *,
    names: Text | None = None,
) -> None:
    """Draw the picture; a number that is changed goes into its parameter.

    Args:
        t: the texts in the visitor's language.
        example: the numbers, and what follows from them.
        numbers: the parameter whose code holds the numbers.
        place: the parameter of the number that is explained: the one that was chosen, as long as it is there.
        editable: names of the matrices that may be changed.
        names: the parameter that holds the words, if they may be changed.
    """
    picture = OwnPicture(t, example, editable)
    first = FIRST_PLACE if picture.has(FIRST_PLACE) else "a0-0-0"
    at = place.variant(default=first, allows=picture.has).read()
    data = {
        "groups": picture.groups(renames=names is not None),
        "follows": picture.follows(),
        "at": at,
        "explained": picture.explained(at),
        "most": MOST,
    }
    on = {
        "chosen": partial(_choose, place),
        "edited": partial(_edit, numbers, tuple(editable)),
        "renamed": partial(_rename, names),
    }
    words = {**words_of(t), "change": t("step_by_step.own_numbers.change")}
    PRINTED.mount(key=f"view_{numbers.name}", data=data, words=words, on=on)


def _choose(place: Text, chosen: Mapping[str, Any]) -> None:
    """Take over which number is to be explained; the rule of the parameter is asked in the next run."""
    if at := chosen.get("at"):
        place.set(at)


def _edit(numbers: Text, editable: tuple[str, ...], edited: Mapping[str, Any]) -> None:
    """Take over a number that was changed, if it has a place where it may be."""
    if edited["matrix"] in editable:
        with suppress(ValueError):
            numbers.set(to_code(from_code(numbers.value).with_number(**edited)))


def _rename(names: Text | None, new: Mapping[str, Any]) -> None:
    """Take over a word that was typed."""
    if names:
        with suppress(ValueError):
            names.set(renamed(names.value, **new))


def renamed(code: str, row: int, word: str) -> str:
    """The words of a link with one of them replaced; where nothing stands, the language's own word is shown.

    Raises:
        ValueError: if there is no such row.

    Example:
        >>> renamed("", 2, "sun"), renamed("a||sun", 0, " moon | ")
        ('||sun', 'moon||sun')
    """
    words = (code.split("|") + [""] * limits.OWN_WORDS)[: limits.OWN_WORDS]
    if not 0 <= row < len(words):
        raise ValueError(f"no word at {row}")
    words[row] = " ".join(word.replace("|", " ").split())[: limits.HAND_CHARACTERS]
    return "|".join(words).rstrip("|")
