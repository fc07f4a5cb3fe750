"""The editable picture that both sections mount, and the handlers of its messages."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from pages.step_by_step.own_numbers.example import OwnExample
from pages.step_by_step.own_numbers.numbers import MOST, from_code, to_code
from pages.step_by_step.own_numbers.pictures import OwnPicture
from pages.step_by_step.printed import MATRIX_VIEW, words_of
from viz import limits
from viz.params import Text
from viz.text import Translate

FIRST_PLACE = "a0-1-0"
"""The number explained by default: the weight of the second word on the first."""


def edit(
    t: Translate,
    example: OwnExample,
    numbers: Text,
    place: Text,
    editable: Collection[str],
    *,
    names: Text | None = None,
) -> None:
    """Draw the picture; write edits to the parameters.

    Args:
        t: the texts in the user's language.
        example: the numbers, and the results computed from them.
        numbers: the parameter whose code holds the numbers.
        place: the parameter of the explained number; the default where the picture lacks it.
        editable: names of the editable matrices.
        names: the parameter that holds the words, if they are editable.
    """
    picture = OwnPicture(t, example, editable)
    first = FIRST_PLACE if picture.has(FIRST_PLACE) else "a0-0-0"
    at = place.variant(default=first, allows=picture.has).read()
    data = {
        "groups": picture.groups(renames=names is not None),
        "follows": picture.follows(),
        "at": at,
        "explained": picture.explain_number(at),
        "most": MOST,
    }
    on = {
        "chosen": partial(_choose, place),
        "edited": partial(_edit, numbers, tuple(editable)),
        "renamed": partial(_rename, names),
    }
    words = {**words_of(t), "change": t("step_by_step.own_numbers.change")}
    MATRIX_VIEW.mount(key=f"view_{numbers.name}", data=data, words=words, on=on)


def _choose(place: Text, message: Mapping[str, Any]) -> None:
    """Select the number to explain; the next run validates it."""
    if at := message.get("at"):
        place.set(at)


def _edit(numbers: Text, editable: tuple[str, ...], message: Mapping[str, Any]) -> None:
    """Set a number that the user edited, if its matrix is editable."""
    if message["matrix"] in editable:
        with suppress(ValueError):
            numbers.set(to_code(from_code(numbers.value).with_number(**message)))


def _rename(names: Text | None, message: Mapping[str, Any]) -> None:
    """Set a word that the user typed."""
    if names:
        with suppress(ValueError):
            names.set(replace_word(names.value, **message))


def replace_word(code: str, row: int, word: str) -> str:
    """Return the words of a link with one replaced; an empty one stands for the language's default word.

    Raises:
        ValueError: if there is no such row.

    Example:
        >>> replace_word("", 2, "sun"), replace_word("a||sun", 0, " moon | ")
        ('||sun', 'moon||sun')
    """
    words = (code.split("|") + [""] * limits.OWN_WORDS)[: limits.OWN_WORDS]
    if not 0 <= row < len(words):
        raise ValueError(f"no word at {row}")
    words[row] = " ".join(word.replace("|", " ").split())[: limits.HAND_CHARACTERS]
    return "|".join(words).rstrip("|")
