"""What the browser is sent of a step by hand: small matrices of printed numbers, and how each number comes about.

A picture is a product (the left matrix, and above each result the matrix it is multiplied with) or a list of matrices
that follow from each other, place by place. The browser prints, and calculates nothing.
"""

import math
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from pages.step_by_step.hand_example import WIDTH, HandExample
from viz.text import Translate

Token = tuple[str, str]
"""A piece of a written calculation, and what it is: from the row, from the column, the result, raised, or nothing."""

PLACES = tuple(str(place + 1) for place in range(WIDTH))
ROOT = f"√{WIDTH}"


def printed(value: float) -> str:
    """A number in at most two decimals, fewer where it is large; what is printed of it may be rounded.

    Example:
        >>> printed(4.0), printed(-0.5), printed(0.3333), printed(123.45), printed(-1234.5), printed(-math.inf)
        ('4', '−0.50', '0.33', '123.5', '−1234', '−∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    decimals = 2 if abs(value) < 99.995 else 1 if abs(value) < 999.95 else 0
    written = f"{value:.{decimals}f}"
    whole, _, behind = written.partition(".")
    written = written if behind.strip("0") else whole
    return "0" if written == "-0" else written.replace("-", "−")


def _equals(value: float) -> str:
    """The sign before a printed result: rounded or not."""
    exact = math.isinf(value) or math.isclose(float(printed(value).replace("−", "-")), value, abs_tol=1e-9)
    return " = " if exact else " ≈ "


def _factor(value: float) -> str:
    return f"({printed(value)})" if value < 0 else printed(value)


def _result(value: float) -> list[Token]:
    return [(_equals(value), ""), (printed(value), "result")]


def sum_of_products(left: Sequence[float], right: Sequence[float], result: float) -> list[Token]:
    """Every product, place by place, and what they add up to.

    Example:
        >>> "".join(text for text, _ in sum_of_products([1, 2], [0, -1], -2))
        '1·0 + 2·(−1) = −2'
    """
    tokens: list[Token] = []
    for a, b in zip(left, right, strict=True):
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
    """A matrix: its name, what stands beside its rows and columns, its numbers, exact and as they are printed.

    Args:
        name: the symbol above it.
        values: (rows, columns).
        rows: a label for each row.
        columns: a label for each column.
        edit: the name by which a changed number is sent back; empty if it follows from others.
        kind: "numbers", or "weights", which are coloured.
    """
    numbers = values.tolist()
    return {
        "name": name,
        "rows": list(rows),
        "columns": list(columns),
        "texts": [[printed(value) for value in row] for row in numbers],
        "values": [[value if math.isfinite(value) else None for value in row] for row in numbers],
        "edit": edit,
        "kind": kind,
    }


def _product(left: Tensor, top: Tensor, result: Tensor) -> list[list[list[Token]]]:
    """How each number of ``left @ top`` comes about."""
    columns = top.T.tolist()
    return [
        [sum_of_products(row, column, value) for column, value in zip(columns, values, strict=True)]
        for row, values in zip(left.tolist(), result.tolist(), strict=True)
    ]


class Pictures:
    """The nine pictures of an example, in the visitor's language."""

    def __init__(self, t: Translate, example: HandExample) -> None:
        self.t, self.example, self.trace, self.words = t, example, example.trace, example.words

    def of(self, step: int) -> dict[str, Any]:
        """The picture of a step."""
        steps = (self._x, self._w, self._qkv, self._scores, self._scaled, self._masked, self._weights, self._output)
        return (*steps, self._leaves)[step - 1]()

    def _given(self, name: str, symbol: str) -> dict[str, Any]:
        rows = self.words if name == "x" else PLACES
        return block(symbol, self.example.given[name], rows, PLACES, edit=name)

    def _x(self) -> dict[str, Any]:
        return {"blocks": [self._given("x", "X") | {"words": True}]}

    def _w(self) -> dict[str, Any]:
        return {"blocks": [self._given(f"w_{letter}", f"W_{letter.upper()}") for letter in "qkv"]}

    def _qkv(self) -> dict[str, Any]:
        x, results = self.example.given["x"], zip("qkv", (self.trace.q, self.trace.k, self.trace.v), strict=True)
        pairs = []
        for letter, (values,) in results:
            lines = _product(x, self.example.given[f"w_{letter}"], values)
            says = self._each(f"hand_says_{letter}", values)
            result = block(letter.upper(), values, self.words, PLACES) | {"lines": lines, "says": says}
            pairs.append(
                {"code": letter.upper(), "top": self._given(f"w_{letter}", f"W_{letter.upper()}"), "result": result}
            )
        return {"left": self._given("x", "X"), "pairs": pairs}

    def _scores(self) -> dict[str, Any]:
        (q,), (k,), (scores,) = self.trace.q, self.trace.k, self.trace.scores
        result = self._pairs("S", scores, "hand_says_scores") | {"lines": _product(q, k.T, scores)}
        top = block("Kᵀ", k.T, PLACES, self.words)
        return {"left": block("Q", q, self.words, PLACES), "pairs": [{"code": "S", "top": top, "result": result}]}

    def _scaled(self) -> dict[str, Any]:
        (before,), (after,) = self.trace.scores, self.trace.scaled
        root = printed(math.sqrt(WIDTH))
        lines = [
            [
                [(printed(a), "row"), (f" / {ROOT} = ", ""), (printed(a), "row"), (f" / {root}", ""), *_result(b)]
                for a, b in zip(*rows, strict=True)
            ]
            for rows in zip(before.tolist(), after.tolist(), strict=True)
        ]
        result = self._pairs(f"S / {ROOT}", after, "hand_says_scaled") | {"lines": lines}
        return {"blocks": [block("S", before, self.words, self.words), result]}

    def _masked(self) -> dict[str, Any]:
        (before,), (after,) = self.trace.scaled, self.trace.masked
        lines = [
            [[(printed(a), "row"), (" → ", ""), (printed(b), "result")] for a, b in zip(*rows, strict=True)]
            for rows in zip(before.tolist(), after.tolist(), strict=True)
        ]
        keys = [["hand_says_blocked" if b == -math.inf else "hand_says_allowed" for b in row] for row in after.tolist()]
        result = self._pairs("S̃", after, keys) | {"lines": lines}
        return {"blocks": [block(f"S / {ROOT}", before, self.words, self.words), result]}

    def _weights(self) -> dict[str, Any]:
        (masked,), (weights,), exps = self.trace.masked, self.trace.weights, self.example.exponentials
        lines = [
            [
                power_share(masked[i].tolist(), self.example.shifts[i], exps[i].tolist(), j, float(weights[i, j]))
                for j in range(len(row))
            ]
            for i, row in enumerate(weights)
        ]
        result = self._pairs("A", weights, "hand_says_weights") | {"lines": lines, "kind": "weights"}
        result["notes"] = [self._shifted(shift) for shift in self.example.shifts]
        sums = block("e^S̃", exps, self.words, [*self.words, "Σ"]) | {"sums": True}
        return {"blocks": [block("S̃", masked, self.words, self.words), sums, result]}

    def _shifted(self, shift: float) -> str:
        return self.t("step_by_step.hand_shift", peak=printed(shift)) if shift else ""

    def _output(self) -> dict[str, Any]:
        (weights,), (v,), (output,) = self.trace.weights, self.trace.v, self.trace.head_outputs
        says = self._each("hand_says_output", output)
        result = block("Z", output, self.words, PLACES) | {"lines": _product(weights, v, output), "says": says}
        left = block("A", weights, self.words, self.words, kind="weights")
        return {
            "left": left,
            "pairs": [{"code": "Z", "top": block("V", v, self.words, PLACES), "result": result}],
            "named": True,
        }

    def _leaves(self) -> dict[str, Any]:
        (output,), (added,) = self.trace.head_outputs, self.trace.contributions
        lines, says = _product(output, self.example.given["w_o"], added), self._each("hand_says_leaves", added)
        result = block("Z W_O", added, self.words, PLACES) | {"lines": lines, "says": says}
        top = self._given("w_o", "W_O")
        return {"left": block("Z", output, self.words, PLACES), "pairs": [{"code": "C", "top": top, "result": result}]}

    def _each(self, key: str, values: Tensor) -> list[list[str]]:
        """What each number of a word's vector is."""
        return [
            [self.t(f"step_by_step.{key}", word=word, n=place + 1) for place in range(values.shape[1])]
            for word in self.words
        ]

    def _pairs(self, name: str, values: Tensor, keys: str | list[list[str]]) -> dict[str, Any]:
        """A result with a number for each word that looks and each word it looks at."""
        says = [
            [
                self.t(f"step_by_step.{keys if isinstance(keys, str) else keys[i][j]}", query=query, key=key)
                for j, key in enumerate(self.words)
            ]
            for i, query in enumerate(self.words)
        ]
        return block(name, values, self.words, self.words) | {"says": says}


def power_share(masked: Sequence[float], shift: float, exps: Sequence[float], at: int, weight: float) -> list[Token]:
    """The power of e of a score, divided by the sum of its row."""
    *parts, total = exps

    def power(score: float) -> list[Token]:
        subtracted = f" − {_factor(shift)}" if shift else ""
        return [("e", ""), (f"{printed(score)}{subtracted}", "up")]

    below = [token for m, score in enumerate(masked) for token in ([(" + ", "")] * bool(m) + power(score))]
    quotient = [(" ≈ ", ""), (printed(parts[at]), "row"), (" / ", ""), (printed(total), "column")]
    return [*power(masked[at]), (" / (", ""), *below, (")", ""), *quotient, *_result(weight)]
