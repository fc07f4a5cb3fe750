"""One head on three words, in numbers to redo on paper; the user can change every one."""

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Protocol, TypeGuard

import streamlit as st
import torch
from torch import Tensor

from pages.step_by_step.hand_pictures import block, format_number, outcome, sum_of_products
from pages.step_by_step.own_numbers.editor import are_words, edit_number, example_of_link, rename
from pages.step_by_step.own_numbers.example import OwnExample, checks
from pages.step_by_step.own_numbers.numbers import Numbers, from_code, is_code, of_matrices, to_code
from pages.step_by_step.own_numbers.pictures import OwnPicture
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

WORDS, WIDTH = 3, 4
PLACES = tuple(str(place + 1) for place in range(WIDTH))
ROOT = f"√{WIDTH}"
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


def _is_cell(cell: Any) -> TypeGuard[list[int]]:
    if not isinstance(cell, list) or len(cell) != 2 or not all(isinstance(place, int) for place in cell):
        return False
    return 0 <= cell[0] < WORDS and 0 <= cell[1] < WIDTH


NUMBERS = Text("numbers", lambda _: to_code(default_numbers()), allows=is_small)
NAMES = shared.WORDS.variant(allows=are_words)
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
    t, step, example = context.t, STEP.read(), example_of_link(context.t, NUMBERS, NAMES, CAUSAL)
    if not is_whole_page():
        stepper(t, step)
    for n in visible_steps(step):
        heading(t, n, THREE_WORDS, first=n == visible_steps(step)[0])
        _picture(t, example, n)
        say(t(f"step_by_step.hand_{n}"))
        if n == MASK_STEP:
            CAUSAL.toggle(t("step_by_step.hand_causal"))
    if example.numbers != default_numbers() or NAMES.value:
        st.button(t("step_by_step.hand_reset"), key="hand_reset", on_click=_reset_numbers, type="tertiary")
    else:
        st.empty()
    return checks(example)


def subject(context: HasLanguage) -> Subject:
    """Return the example as the subject of a lesson's question."""
    example = example_of_link(context.t, NUMBERS, NAMES, CAUSAL)
    trace = example.trace
    return Subject(
        labels=example.words,
        special=(False,) * WORDS,
        trace=trace,
        weights_of=lambda _: trace.weights,
        about=repr(example.numbers),
    )


def formula(_: HasLanguage) -> None:
    """Draw the formula of the selected step, or of all of them."""
    for n in visible_steps(STEP.read()):
        st.latex(FORMULAS[n])


def _picture(t: Translate, example: OwnExample, n: int) -> None:
    """Draw the matrices of a step; a click explains a number, typing replaces it."""
    letter = LETTER.read()
    parameters = {"cell": CELL.read(), "letter": letter, "most": limits.HAND_NUMBER, "step": n}
    on: dict[str, Callable[[Any], None]] = {
        "chosen": _choose,
        "edited": partial(edit_number, NUMBERS, tuple(example.numbers.shapes)),
        "renamed": partial(rename, NAMES),
    }
    MATRIX_VIEW.mount(
        key=f"three_words_{n}",
        data=Pictures(t, example).of(n) | parameters,
        words=words_of(t, (*WORD_NAMES, *FILM)),
        on=on,
    )


class Pictures:
    """The nine pictures of an example, in the user's language.

    A picture is a product (the left matrix, and above each result its right factor) or a list of matrices, each
    computed elementwise from the one before.
    """

    def __init__(self, t: Translate, example: OwnExample) -> None:
        self.t, self.example, self.trace, self.words = t, example, example.trace, example.words
        self.explain_number = OwnPicture(t, example, editable=()).explain_number

    def of(self, step: int) -> dict[str, Any]:
        """The picture of a step."""
        steps = (self._x, self._w, self._qkv, self._scores, self._scaled, self._masked, self._weights, self._output)
        return (*steps, self._leaves)[step - 1]()

    def _input_block(self, name: str, symbol: str) -> dict[str, Any]:
        rows = self.words if name == "x" else PLACES
        return block(symbol, self.example.inputs[name], rows, PLACES, edit=name)

    def _x(self) -> dict[str, Any]:
        return {"blocks": [self._input_block("x", "X") | {"words": True}]}

    def _w(self) -> dict[str, Any]:
        return {"blocks": [self._input_block(f"w_{letter}", f"W_{letter.upper()}") for letter in "qkv"]}

    def _qkv(self) -> dict[str, Any]:
        pairs = []
        for letter, (values,) in zip("QKV", (self.trace.q, self.trace.k, self.trace.v), strict=True):
            result = self._computed(f"{letter.lower()}0", letter, values)
            top = self._input_block(f"w_{letter.lower()}", f"W_{letter}")
            pairs.append({"code": letter, "top": top, "result": result})
        return {"left": self._input_block("x", "X"), "pairs": pairs}

    def _scores(self) -> dict[str, Any]:
        (q,), (k,), (scores,) = self.trace.q, self.trace.k, self.trace.scores
        lines = [
            [sum_of_products(query, key, value) for key, value in zip(k.tolist(), row, strict=True)]
            for query, row in zip(q.tolist(), scores.tolist(), strict=True)
        ]
        result = self._pairs("S", scores, "hand_says_scores") | {"lines": lines}
        top = block("Kᵀ", k.T, PLACES, self.words)
        return {"left": block("Q", q, self.words, PLACES), "pairs": [{"code": "S", "top": top, "result": result}]}

    def _scaled(self) -> dict[str, Any]:
        (before,), (after,) = self.trace.scores, self.trace.scaled
        root = format_number(math.sqrt(WIDTH))
        lines = [
            [
                [
                    (format_number(a), "row"),
                    (f" / {ROOT} = ", ""),
                    (format_number(a), "row"),
                    (f" / {root}", ""),
                    *outcome(b),
                ]
                for a, b in zip(*rows, strict=True)
            ]
            for rows in zip(before.tolist(), after.tolist(), strict=True)
        ]
        result = self._pairs(f"S / {ROOT}", after, "hand_says_scaled") | {"lines": lines}
        return {"blocks": [block("S", before, self.words, self.words), result]}

    def _masked(self) -> dict[str, Any]:
        (before,), (after,) = self.trace.scaled, self.trace.masked
        lines = [
            [[(format_number(a), "row"), (" → ", ""), (format_number(b), "result")] for a, b in zip(*rows, strict=True)]
            for rows in zip(before.tolist(), after.tolist(), strict=True)
        ]
        keys = [["hand_says_blocked" if b == -math.inf else "hand_says_allowed" for b in row] for row in after.tolist()]
        result = self._pairs("S̃", after, keys) | {"lines": lines}
        return {"blocks": [block(f"S / {ROOT}", before, self.words, self.words), result]}

    def _weights(self) -> dict[str, Any]:
        (masked,), (weights,) = self.trace.masked, self.trace.weights
        exps = torch.tensor([self.example.exponentials(0, i) for i in range(WORDS)])
        sums = block("e^S̃", exps, self.words, [*self.words, "Σ"]) | {"sums": True}
        result = self._computed("a0", "A", weights, self.words) | {"kind": "weights"}
        result["notes"] = [self.explain_number(f"a0-{i}-0")["note"] for i in range(WORDS)]
        return {"blocks": [block("S̃", masked, self.words, self.words), sums, result]}

    def _output(self) -> dict[str, Any]:
        (weights,), (v,), (output,) = self.trace.weights, self.trace.v, self.trace.head_outputs
        top, left = block("V", v, self.words, PLACES), block("A", weights, self.words, self.words, kind="weights")
        pairs = [{"code": "Z", "top": top, "result": self._computed("z0", "Z", output)}]
        return {"left": left, "pairs": pairs, "named": True}

    def _leaves(self) -> dict[str, Any]:
        (output,), top = self.trace.head_outputs, self._input_block("w_o", "W_O")
        pairs = [{"code": "C", "top": top, "result": self._computed("o", "Z W_O", self.trace.output)}]
        return {"left": block("Z", output, self.words, PLACES), "pairs": pairs}

    def _computed(self, name: str, symbol: str, values: Tensor, columns: Sequence[str] = PLACES) -> dict[str, Any]:
        """Return a result with the calculation and the caption of each number."""
        numbers = [
            [self.explain_number(f"{name}-{i}-{j}") for j in range(len(columns))] for i in range(len(self.words))
        ]
        lines, captions = ([[number[part] for number in row] for row in numbers] for part in ("line", "says"))
        return block(symbol, values, self.words, columns) | {"lines": lines, "says": captions}

    def _pairs(self, name: str, values: Tensor, keys: str | list[list[str]]) -> dict[str, Any]:
        """Return a result with a number for each query and key."""
        captions = [
            [
                self.t(f"step_by_step.{keys if isinstance(keys, str) else keys[i][j]}", query=query, key=key)
                for j, key in enumerate(self.words)
            ]
            for i, query in enumerate(self.words)
        ]
        return block(name, values, self.words, self.words) | {"says": captions}


def _choose(message: Mapping[str, Any]) -> None:
    """Select the number to explain."""
    cell, letter = message.get("cell"), message.get("letter")
    if _is_cell(cell) and letter in LETTERS:
        CELL.set(cell)
        LETTER.set(letter)


def _reset_numbers() -> None:
    NUMBERS.set(to_code(default_numbers()))
    NAMES.set("")
