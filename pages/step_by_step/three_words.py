"""One head on three words, in numbers to redo on paper; the user can change every one."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeGuard

import streamlit as st
import torch
from torch.nn.functional import scaled_dot_product_attention

from pages.step_by_step import hand_example
from pages.step_by_step.hand_example import WIDTH, WORDS, HandExample
from pages.step_by_step.hand_pictures import Pictures
from pages.step_by_step.printed import FILM, MATRIX_VIEW, words_of
from pages.step_by_step.printed import WORDS as WORD_NAMES
from pages.step_by_step.stepper import STEP, THREE_WORDS, heading, is_whole_page, stepper, visible_steps
from viz.frame import shared
from viz.frame.checks import Check, check
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


def _is_readable(read: Any, code: str) -> bool:
    try:
        read(code)
    except ValueError:
        return False
    return True


def _is_cell(cell: Any) -> TypeGuard[list[int]]:
    if not isinstance(cell, list) or len(cell) != 2 or not all(isinstance(place, int) for place in cell):
        return False
    return 0 <= cell[0] < WORDS and 0 <= cell[1] < WIDTH


def _default_code(_: Any) -> str:
    return hand_example.to_code(hand_example.default_numbers())


NUMBERS = Text("numbers", _default_code, allows=lambda code: _is_readable(hand_example.from_code, code))
NAMES = shared.WORDS.variant(allows=lambda code: not code or _is_readable(hand_example.read_words, code))
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


def _example(t: Translate) -> HandExample:
    """Return the example with the words, numbers and mask of the link."""
    numbers = NUMBERS.read()
    return HandExample(
        words=hand_example.read_words(NAMES.read() or t("step_by_step.hand_words")),
        numbers=hand_example.from_code(numbers),
        is_causal=CAUSAL.read(),
    )


def _picture(t: Translate, example: HandExample, n: int) -> None:
    """Draw the matrices of a step; a click explains a number, typing replaces it."""
    letter = LETTER.read()
    parameters = {"cell": CELL.read(), "letter": letter, "most": hand_example.MOST, "step": n}
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
    """Set a number that the user typed; ignore one without a place."""
    before = hand_example.from_code(NUMBERS.value)
    with suppress(ValueError):
        NUMBERS.set(hand_example.to_code(hand_example.with_number(before, **message)))


def _rename(words: tuple[str, ...], message: Mapping[str, Any]) -> None:
    """Set a word that the user typed."""
    row, word = message["row"], message["word"].replace(hand_example.SEPARATOR, " ")
    with suppress(ValueError):
        code = hand_example.SEPARATOR.join([*words[:row], word, *words[row + 1 :]])
        NAMES.set(hand_example.SEPARATOR.join(hand_example.read_words(code)))


def _reset_numbers() -> None:
    NUMBERS.set(hand_example.to_code(hand_example.default_numbers()))
    NAMES.set("")


def _reset(t: Translate, example: HandExample) -> None:
    """Draw a button that resets the words and numbers, if some were changed."""
    if example.numbers != hand_example.default_numbers() or NAMES.value:
        st.button(t("step_by_step.hand_reset"), key="hand_reset", on_click=_reset_numbers, type="tertiary")
    else:
        st.empty()


def checks(example: HandExample) -> list[Check]:
    """Compare the head's output with torch's attention; weights, output and contribution with loops over numbers."""
    x, w_q, w_k, w_v, w_o = example.inputs.values()
    trace = example.trace
    torchs = scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, is_causal=example.is_causal)
    weights, output = by_loops(example)
    leaves = [[sum(row[c] * w_o[c, j].item() for c in range(WIDTH)) for j in range(WIDTH)] for row in output]
    by_hand = [torch.tensor(rows, dtype=trace.output.dtype) for rows in (weights, output, leaves)]
    largest, leaving = (1 + float(values.abs().max()) for values in (trace.v, trace.output))
    return [
        check("step_by_step.check_hand_torch", (torchs - trace.head_outputs[0]).abs().max(), 1e-9 * largest),
        check("step_by_step.check_hand_weights", (by_hand[0] - trace.weights[0]).abs().max(), 1e-9),
        check("step_by_step.check_hand_output", (by_hand[1] - trace.head_outputs[0]).abs().max(), 1e-9 * largest),
        check("step_by_step.check_hand_leaves", (by_hand[2] - trace.output).abs().max(), 1e-9 * leaving),
    ]


def by_loops(example: HandExample) -> tuple[list[list[float]], list[list[float]]]:
    """Weights and output of the head in plain Python, without torch or the core."""
    x, w_q, w_k, w_v, _ = (matrix.tolist() for matrix in example.inputs.values())

    def project(matrix: list[list[float]]) -> list[list[float]]:
        return [[sum(row[c] * matrix[c][j] for c in range(WIDTH)) for j in range(WIDTH)] for row in x]

    q, k, v = project(w_q), project(w_k), project(w_v)
    weights, output = [], []
    for i in range(WORDS):
        visible_keys = range(i + 1) if example.is_causal else range(WORDS)
        scores = [sum(a * b for a, b in zip(q[i], k[j], strict=True)) / math.sqrt(WIDTH) for j in visible_keys]
        exps = [math.exp(score - max(scores)) for score in scores] + [0.0] * (WORDS - len(visible_keys))
        weights.append([exp / sum(exps) for exp in exps])
        output.append([sum(weights[i][m] * v[m][c] for m in range(WORDS)) for c in range(WIDTH)])
    return weights, output
