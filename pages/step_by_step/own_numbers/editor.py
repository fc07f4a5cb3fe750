"""The example of a link, the editable picture that two sections mount, and the handlers of messages."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from itertools import zip_longest
from typing import Any

from pages.step_by_step.own_numbers.example import OwnExample
from pages.step_by_step.own_numbers.numbers import MOST, from_code, to_code
from pages.step_by_step.own_numbers.pictures import OwnPicture
from pages.step_by_step.printed import MATRIX_VIEW, words_of
from viz import limits
from viz.params import Flag, Text
from viz.text import Translate

FIRST_PLACE = "a0-1-0"
"""The number explained by default: the weight of the second word on the first."""


def are_words(code: str) -> bool:
    """Return True if a link's words are within the limits of count and length."""
    words = code.split("|", limits.OWN_WORDS)
    return len(words) <= limits.OWN_WORDS and all(
        len(word) <= limits.HAND_CHARACTERS and word == word.strip() for word in words
    )


def example_of_link(t: Translate, numbers: Text, names: Text, causal: Flag) -> OwnExample:
    """Return the example in the link, or the default; a word that is not in it is the language's default word."""
    words, default_words = names.read().split("|"), t("step_by_step.own_numbers.words").split("|")
    words = [word or default for word, default in zip_longest(words, default_words)]
    read_numbers = from_code(numbers.read())
    return OwnExample(words=tuple(words[: read_numbers.n]), numbers=read_numbers, is_causal=causal.read())


def edit(
    t: Translate,
    example: OwnExample,
    numbers: Text,
    place: Text,
    editable: Collection[str],
    *,
    names: Text | None = None,
) -> None:
    """Draw the picture; write edits to the parameters of the numbers, of the explained place, and of the words.

    Only the matrices named ``editable`` can be edited, and the words if there is a parameter for their ``names``.
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
        "edited": partial(edit_number, numbers, tuple(editable)),
        "renamed": partial(rename, names),
    }
    words = {**words_of(t), "change": t("step_by_step.own_numbers.change")}
    MATRIX_VIEW.mount(key=f"view_{numbers.name}", data=data, words=words, on=on)


def _choose(place: Text, message: Mapping[str, Any]) -> None:
    """Select the number to explain; the next run validates it."""
    if at := message.get("at"):
        place.set(at)


def edit_number(numbers: Text, editable: tuple[str, ...], message: Mapping[str, Any]) -> None:
    """Set a number that the user edited, if its matrix is editable and it is not too large."""
    with suppress(ValueError):
        code = to_code(from_code(numbers.value).with_number(**message))
        if message["matrix"] in editable and numbers.allows and numbers.allows(code):
            numbers.set(code)


def rename(names: Text | None, message: Mapping[str, Any]) -> None:
    """Set a word that the user typed."""
    if names:
        with suppress(ValueError):
            names.set(replace_word(names.value, **message))


def replace_word(code: str, row: int, word: str) -> str:
    """Return the words of a link with one replaced; an empty one stands for the language's default word.

    Raises:
        ValueError: if there is no such row.
    """
    words = (code.split("|") + [""] * limits.OWN_WORDS)[: limits.OWN_WORDS]
    if not 0 <= row < len(words):
        raise ValueError(f"no word at {row}")
    words[row] = " ".join(word.replace("|", " ").split())[: limits.HAND_CHARACTERS]
    return "|".join(words).rstrip("|")
