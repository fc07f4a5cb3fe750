"""Data of the pictures by hand: small matrices of formatted numbers, and the calculation of each number.

A picture is a product (the left matrix, and above each result its right factor) or a list of matrices, each computed
elementwise from the one before. The browser prints and calculates nothing.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pages.step_by_step.own_numbers.example import OwnExample
from viz.text import Translate

Token = tuple[str, str]
"""Text of a calculation and its role: "row", "column", "result", "up" (an exponent) or none."""

WORDS, WIDTH = 3, 4
PLACES = tuple(str(place + 1) for place in range(WIDTH))
ROOT = f"√{WIDTH}"


def format_number(value: float) -> str:
    """Format a number with at most two decimals, fewer where it is large.

    Example:
        >>> [format_number(value) for value in (4.0, -0.5, 0.3333, 123.45, -1234.5, -math.inf)]
        ['4', '−0.50', '0.33', '123.5', '−1234', '−∞']
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    decimals = 2 if abs(value) < 99.995 else 1 if abs(value) < 999.95 else 0
    text = f"{value:.{decimals}f}"
    integer, _, fraction = text.partition(".")
    text = text if fraction.strip("0") else integer
    return "0" if text == "-0" else text.replace("-", "−")


def _equals(value: float) -> str:
    """Return " = " before an exact result, " ≈ " before a rounded one."""
    exact = math.isinf(value) or math.isclose(float(format_number(value).replace("−", "-")), value, abs_tol=1e-9)
    return " = " if exact else " ≈ "


def _factor(value: float) -> str:
    return f"({format_number(value)})" if value < 0 else format_number(value)


def _result(value: float) -> list[Token]:
    return [(_equals(value), ""), (format_number(value), "result")]


def sum_of_products(row: Sequence[float], column: Sequence[float], result: float) -> list[Token]:
    """Write out every product of a dot product, and the result.

    Example:
        >>> "".join(text for text, _ in sum_of_products([1, 2], [0, -1], -2))
        '1·0 + 2·(−1) = −2'
    """
    tokens: list[Token] = []
    for a, b in zip(row, column, strict=True):
        tokens += [(" + ", "")] * bool(tokens) + [(_factor(a), "row"), ("·", "")]
        tokens.append((_factor(b), "column"))
    return tokens + _result(result)


def block(
    name: str,
    values: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    edit: str = "",
    kind: str = "numbers",
) -> dict[str, Any]:
    """Return a matrix for the browser: its name, labels and numbers, exact and formatted."""
    numbers = values.tolist()
    return {
        "name": name,
        "rows": list(rows),
        "columns": list(columns),
        "texts": [[format_number(value) for value in row] for row in numbers],
        "values": [[value if math.isfinite(value) else None for value in row] for row in numbers],
        "edit": edit,
        "kind": kind,
    }


def _product(left_matrix: Tensor, top_matrix: Tensor, result: Tensor) -> list[list[list[Token]]]:
    """Write out the calculation of each number of ``left_matrix @ top_matrix``."""
    columns = top_matrix.T.tolist()
    return [
        [sum_of_products(row, column, value) for column, value in zip(columns, values, strict=True)]
        for row, values in zip(left_matrix.tolist(), result.tolist(), strict=True)
    ]


class Pictures:
    """The nine pictures of an example, in the user's language."""

    def __init__(self, t: Translate, example: OwnExample) -> None:
        self.t, self.example, self.trace, self.words = t, example, example.trace, example.words

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
        x, results = self.example.inputs["x"], zip("qkv", (self.trace.q, self.trace.k, self.trace.v), strict=True)
        pairs = []
        for letter, (values,) in results:
            lines = _product(x, self.example.inputs[f"w_{letter}"], values)
            captions = self._vector_captions(f"hand_says_{letter}", values)
            result = block(letter.upper(), values, self.words, PLACES) | {"lines": lines, "says": captions}
            pairs.append(
                {
                    "code": letter.upper(),
                    "top": self._input_block(f"w_{letter}", f"W_{letter.upper()}"),
                    "result": result,
                }
            )
        return {"left": self._input_block("x", "X"), "pairs": pairs}

    def _scores(self) -> dict[str, Any]:
        (q,), (k,), (scores,) = self.trace.q, self.trace.k, self.trace.scores
        result = self._pairs("S", scores, "hand_says_scores") | {"lines": _product(q, k.T, scores)}
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
                    *_result(b),
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
        (masked,), (weights,), words = self.trace.masked, self.trace.weights, range(WORDS)
        exps, shifts = [self.example.exponentials(0, i) for i in words], [self.example.shift(0, i) for i in words]
        lines = [
            [power_share(masked[i].tolist(), shifts[i], exps[i], j, float(weights[i, j])) for j in range(len(row))]
            for i, row in enumerate(weights)
        ]
        result = self._pairs("A", weights, "hand_says_weights") | {"lines": lines, "kind": "weights"}
        result["notes"] = [self._shifted(shift) for shift in shifts]
        sums = block("e^S̃", torch.tensor(exps), self.words, [*self.words, "Σ"]) | {"sums": True}
        return {"blocks": [block("S̃", masked, self.words, self.words), sums, result]}

    def _shifted(self, shift: float) -> str:
        return self.t("step_by_step.hand_shift", peak=format_number(shift)) if shift else ""

    def _output(self) -> dict[str, Any]:
        (weights,), (v,), (output,) = self.trace.weights, self.trace.v, self.trace.head_outputs
        captions = self._vector_captions("hand_says_output", output)
        result = block("Z", output, self.words, PLACES) | {"lines": _product(weights, v, output), "says": captions}
        left_block = block("A", weights, self.words, self.words, kind="weights")
        return {
            "left": left_block,
            "pairs": [{"code": "Z", "top": block("V", v, self.words, PLACES), "result": result}],
            "named": True,
        }

    def _leaves(self) -> dict[str, Any]:
        (output,), (added,) = self.trace.head_outputs, self.trace.contributions
        lines, captions = (
            _product(output, self.example.inputs["w_o"], added),
            self._vector_captions("hand_says_leaves", added),
        )
        result = block("Z W_O", added, self.words, PLACES) | {"lines": lines, "says": captions}
        top = self._input_block("w_o", "W_O")
        return {"left": block("Z", output, self.words, PLACES), "pairs": [{"code": "C", "top": top, "result": result}]}

    def _vector_captions(self, key: str, values: Tensor) -> list[list[str]]:
        """Return a caption for each number of each word's vector."""
        return [
            [self.t(f"step_by_step.{key}", word=word, n=place + 1) for place in range(values.shape[1])]
            for word in self.words
        ]

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


def power_share(masked: Sequence[float], shift: float, exps: Sequence[float], at: int, weight: float) -> list[Token]:
    """Write out the exponential of a score, divided by the sum of its row."""
    *parts, total = exps

    def power(score: float) -> list[Token]:
        subtracted = f" − {_factor(shift)}" if shift else ""
        return [("e", ""), (f"{format_number(score)}{subtracted}", "up")]

    below = [token for m, score in enumerate(masked) for token in ([(" + ", "")] * bool(m) + power(score))]
    quotient = [(" ≈ ", ""), (format_number(parts[at]), "row"), (" / ", ""), (format_number(total), "column")]
    return [*power(masked[at]), (" / (", ""), *below, (")", ""), *quotient, *_result(weight)]
