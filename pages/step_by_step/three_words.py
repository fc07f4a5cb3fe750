"""One head on three words, in numbers to redo on paper; the user can change every one."""

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any, Protocol, TypeGuard

import streamlit as st

from pages.step_by_step.hand_pictures import WIDTH, WORDS, Pictures
from pages.step_by_step.own_numbers.example import OwnExample, checks
from pages.step_by_step.own_numbers.numbers import Numbers, from_code, is_code, of_matrices, to_code
from pages.step_by_step.printed import FILM, MATRIX_VIEW, words_of
from pages.step_by_step.printed import WORDS as WORD_NAMES
from pages.step_by_step.stepper import STEP, THREE_WORDS, heading, is_whole_page, stepper, visible_steps
from viz import ASSETS, limits
from viz.frame import shared
from viz.frame.checks import Check
from viz.frame.modes import say
from viz.lessons.subject import Subject
from viz.params import Choice, Flag, Ints, Text
from viz.text import Translate

MASK_STEP = 6
LETTERS = ("Q", "K", "V")
FIRST_CELL = (1, 2)
"""The number explained by default: the second word gives the third its largest weight."""
FORMULAS = {
    1: r"X \in \mathbb{R}^{3 \times 4}",
    2: r"W_Q,\; W_K,\; W_V \in \mathbb{R}^{4 \times 4}",
    3: r"Q = X\, W_Q, \qquad K = X\, W_K, \qquad V = X\, W_V, \qquad Q_{ij} = \sum_{c=1}^{4} X_{ic}\, (W_Q)_{cj}",
    4: r"S = Q\, K^{\top}, \qquad S_{ij} = q_i \cdot k_j = \sum_{c=1}^{4} Q_{ic}\, K_{jc}",
    5: r"S' = \frac{S}{\sqrt{d_k}} = \frac{S}{\sqrt 4} = \frac{S}{2}",
    6: r"\tilde S_{ij} = \begin{cases} S'_{ij} & i \text{ may look at } j \\ -\infty & \text{else} \end{cases}",
    7: r"A_{ij} = \frac{e^{\tilde S_{ij}}}{\sum_m e^{\tilde S_{im}}}",
    8: r"Z = A\, V, \qquad z_i = \sum_m A_{im}\, v_m",
    9: r"C = Z\, W_O",
}


SEPARATOR = "|"
"""Separates the words in a link; no word contains it."""


@cache
def default_numbers() -> Numbers:
    """Read the numbers of ``assets/by_hand.toml``."""
    return of_matrices(tomllib.loads((ASSETS / "by_hand.toml").read_text("utf8")), n_heads=1)


def is_small(code: str) -> bool:
    """Return True for the code of one head on three words, of numbers small enough to redo on paper."""
    numbers = from_code(code) if is_code(code) else None
    if not numbers or numbers.shapes != default_numbers().shapes or numbers.n_heads != 1:
        return False
    return all(abs(number) <= 100 * limits.HAND_NUMBER for number in numbers.hundredths)


def read_words(code: str) -> tuple[str, ...]:
    """Decode the words of a link, each truncated to the limit.

    Raises:
        ValueError: if they are not three.

    Example:
        >>> read_words("cats|eat|fish")
        ('cats', 'eat', 'fish')
    """
    words = tuple(word.strip()[: limits.HAND_CHARACTERS] for word in code.split(SEPARATOR, WORDS))
    if len(words) != WORDS or not all(words):
        raise ValueError(f"{len(words)} words, not {WORDS}")
    return words


def _are_words(code: str) -> bool:
    with suppress(ValueError):
        return not code or bool(read_words(code))
    return False


def _is_cell(cell: Any) -> TypeGuard[list[int]]:
    if not isinstance(cell, list) or len(cell) != 2 or not all(isinstance(place, int) for place in cell):
        return False
    return 0 <= cell[0] < WORDS and 0 <= cell[1] < WIDTH


NUMBERS = Text("numbers", lambda _: to_code(default_numbers()), allows=is_small)
NAMES = shared.WORDS.variant(allows=_are_words)
"""The words, if the user changed them."""
CAUSAL = Flag("hand_causal")
CELL = Ints("cell", FIRST_CELL, allows=_is_cell)
"""Row and column of the explained number."""
LETTER = Choice("letter", among=LETTERS)


class HasLanguage(Protocol):
    """The part of a context that the section needs: the language."""

    @property
    def t(self) -> Translate:
        """The texts in the user's language."""


def draw(context: HasLanguage) -> list[Check]:
    """Draw the selected step of the small example, or all of them."""
    t, step, example = context.t, STEP.read(), _example(context.t)
    if not is_whole_page():
        stepper(t, step)
    for n in visible_steps(step):
        heading(t, n, THREE_WORDS, first=n == visible_steps(step)[0])
        _picture(t, example, n)
        say(t(f"step_by_step.hand_{n}"))
        if n == MASK_STEP:
            CAUSAL.toggle(t("step_by_step.hand_causal"))
    _reset(t, example)
    return checks(example)


def subject(context: HasLanguage) -> Subject:
    """Return the example as the subject of a lesson's question."""
    example = _example(context.t)
    trace = example.trace
    return Subject(
        labels=example.words,
        special=(False,) * WORDS,
        trace=trace,
        weights_of=lambda _: trace.weights,
        about=repr(example.numbers),
    )


def formula(_: HasLanguage) -> str:
    """Draw and return the formula of the selected step, or of all of them."""
    lines = [FORMULAS[n] for n in visible_steps(STEP.read())]
    for latex in lines:
        st.latex(latex)
    return " ".join(lines)


def _example(t: Translate) -> OwnExample:
    """Return the example with the words, numbers and mask of the link."""
    words = read_words(NAMES.read() or t("step_by_step.hand_words"))
    return OwnExample(words=words, numbers=from_code(NUMBERS.read()), is_causal=CAUSAL.read())


def _picture(t: Translate, example: OwnExample, n: int) -> None:
    """Draw the matrices of a step; a click explains a number, typing replaces it."""
    letter = LETTER.read()
    parameters = {"cell": CELL.read(), "letter": letter, "most": limits.HAND_NUMBER, "step": n}
    rename = partial(_rename, example.words)
    on: dict[str, Callable[[Any], None]] = {"chosen": _choose, "edited": _edit, "renamed": rename}
    MATRIX_VIEW.mount(
        key=f"three_words_{n}",
        data=Pictures(t, example).of(n) | parameters,
        words=words_of(t, (*WORD_NAMES, *FILM)),
        on=on,
    )


def _choose(message: Mapping[str, Any]) -> None:
    """Select the number to explain."""
    cell, letter = message.get("cell"), message.get("letter")
    if _is_cell(cell) and letter in LETTERS:
        CELL.set(cell)
        LETTER.set(letter)


def _edit(message: Mapping[str, Any]) -> None:
    """Set a number that the user typed; ignore one without a place, or too large."""
    with suppress(ValueError):
        if is_small(code := to_code(from_code(NUMBERS.value).with_number(**message))):
            NUMBERS.set(code)


def _rename(words: tuple[str, ...], message: Mapping[str, Any]) -> None:
    """Set a word that the user typed."""
    row, word = message["row"], message["word"].replace(SEPARATOR, " ")
    with suppress(ValueError):
        NAMES.set(SEPARATOR.join(read_words(SEPARATOR.join([*words[:row], word, *words[row + 1 :]]))))


def _reset_numbers() -> None:
    NUMBERS.set(to_code(default_numbers()))
    NAMES.set("")


def _reset(t: Translate, example: OwnExample) -> None:
    """Draw a button that resets the words and numbers, if some were changed."""
    if example.numbers != default_numbers() or NAMES.value:
        st.button(t("step_by_step.hand_reset"), key="hand_reset", on_click=_reset_numbers, type="tertiary")
    else:
        st.empty()
