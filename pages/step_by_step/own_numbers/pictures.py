"""Data for the browser of a layer on the user's numbers: groups of matrices, and the calculation of one number.

While the user drags a number the browser computes the results itself; this data then replaces them.
"""

import math
import re
from collections.abc import Collection
from typing import Any

from torch import Tensor

from pages.step_by_step.hand_pictures import Token, block, format_number, power_share, sum_of_products
from pages.step_by_step.own_numbers.example import OwnExample
from viz.text import Translate

PLACE = re.compile(r"(?:([qkvsaz])([0-2])|(o)())-([0-5])-([0-5])", re.ASCII)
SYMBOLS = {"x": "X", "w_q": "W_Q", "w_k": "W_K", "w_v": "W_V", "w_o": "W_O", "q": "Q", "k": "K", "v": "V"}
Part = dict[str, Any]


class OwnPicture:
    """The picture of an example, in the user's language; ``editable`` names the editable matrices."""

    def __init__(self, t: Translate, example: OwnExample, editable: Collection[str]) -> None:
        self.t, self.example, self.editable, self.words = t, example, editable, example.words
        self.trace, self.numbers = example.trace, example.numbers
        self.heads = range(self.numbers.n_heads)

    def groups(self, *, renames: bool) -> list[dict[str, Any]]:
        """Groups of matrices: the inputs, each head, and the result of all heads."""
        inputs = [self._input_block(name) for name in self.numbers.shapes if name != "w_o"]
        if renames:
            inputs[0]["words"] = True
        together = [self._result("c", "", self.trace.concat)] if len(self.heads) > 1 else []
        together += [self._input_block("w_o"), self._result("o", "", self.trace.output)]
        title = self._translate("given_direct" if self.numbers.is_direct else "given_x")
        return [
            {"title": title, "blocks": inputs},
            *({"title": self._head_title(head), "blocks": self._head(head)} for head in self.heads),
            {"title": self._translate("together" if len(self.heads) > 1 else "leaves"), "blocks": together},
        ]

    def follows(self) -> dict[str, Any]:
        """Settings with which the browser computes the results from the inputs."""
        numbers = self.numbers
        sizes = {"n": numbers.n, "d": numbers.d, "heads": numbers.n_heads}
        return sizes | {"causal": self.example.is_causal, "direct": numbers.is_direct}

    def has(self, place: str) -> bool:
        """Return True if the picture has a number at this place and can explain it."""
        address = split_place(place)
        if not address:
            return False
        name, head, row, column = address
        columns = {"s": self.numbers.n, "a": self.numbers.n, "o": self.numbers.d}.get(name, self.numbers.d_k)
        is_there = not (self.numbers.is_direct and name in "qkv") and head < len(self.heads)
        return is_there and row < self.numbers.n and column < columns

    # --- Matrices ----------------------------------------------------------------------------------------------------

    def _translate(self, key: str, /, **values: Any) -> str:
        return self.t(f"step_by_step.own_numbers.{key}", **values)

    def _head_title(self, head: int) -> str:
        return self._translate("head", h=head) if len(self.heads) > 1 else self._translate("only_head")

    def _places(self, count: int) -> list[str]:
        return [str(place + 1) for place in range(count)]

    def _numbered(self, count: int) -> dict[str, Any]:
        """Return the spoken names of columns that are the places of a vector."""
        return {"spoken_columns": [self._translate("place", n=place) for place in self._places(count)]}

    def _of_heads(self) -> dict[str, Any]:
        """Return the spoken names of columns with all heads side by side, and the heads' titles."""
        if len(self.heads) == 1:
            return self._numbered(self.numbers.d)
        spoken = [self._translate("place_of_head", h=head, n=place) for head, place in self._head_places()]
        return {"spoken_columns": spoken, "heads": [self._translate("head", h=head) for head in self.heads]}

    def _head_places(self) -> list[tuple[int, str]]:
        """Return the head, and the place in it, of each of the d columns."""
        return [(head, place) for head in self.heads for place in self._places(self.numbers.d_k)]

    def _input_block(self, name: str) -> dict[str, Any]:
        """Return an input matrix: X and W_O have columns of the layer, the rest columns of its heads."""
        is_of_heads = name not in ("x", "w_o")
        columns = [place for _, place in self._head_places()] if is_of_heads else self._places(self.numbers.d)
        more = {"live": name} | (self._of_heads() if is_of_heads else self._numbered(self.numbers.d))
        rows = list(self.words)
        if name.startswith("w_"):
            rows = self._places(self.numbers.d)
            more["spoken_rows"] = [self._translate("row", n=place) for place in rows]
        else:
            more["called"] = self._translate(f"called_{name}")
        if name == "w_o" and len(self.heads) > 1:
            rows = [self._translate("short_row_of_head", h=head, n=place) for head, place in self._head_places()]
            more["spoken_rows"] = [
                self._translate("row_of_head", h=head, n=place) for head, place in self._head_places()
            ]
            more["head_rows"] = self.numbers.d_k
        edit = name if name in self.editable else ""
        return block(SYMBOLS[name], self.example.inputs[name], rows, columns, edit=edit) | more

    def _result(self, name: str, head: int | str, values: Tensor) -> dict[str, Any]:
        """Return a computed matrix of a head, or of the layer (no head)."""
        symbols = {"s": f"Q Kᵀ / √{self.numbers.d_k}", "c": self._translate("concat"), "o": self._translate("output")}
        symbol, of_head = symbols.get(name, name.upper()), head != "" and len(self.heads) > 1
        columns, more = self._places(values.shape[1]), self._numbered(values.shape[1])
        if name in ("s", "a"):
            columns, more = list(self.words), {}
        if name == "c":
            columns, more = [place for _, place in self._head_places()], self._of_heads()
        more["spoken"] = self._translate("of_head", name=symbol, h=head) if of_head else symbol
        more["called"] = "" if head == "" else self._translate(f"called_{name}")
        matrix = block(symbol, values, self.words, columns, kind="weights" if name == "a" else "numbers")
        return matrix | more | {"live": f"{name}{head}", "explains": name != "c"}

    def _head(self, head: int) -> list[dict[str, Any]]:
        trace = self.trace
        steps = [] if self.numbers.is_direct else [("q", trace.q), ("k", trace.k), ("v", trace.v)]
        steps += [("s", trace.masked), ("a", trace.weights), ("z", trace.head_outputs)]
        return [self._result(name, head, values[head]) for name, values in steps]

    # --- Calculation of a number -------------------------------------------------------------------------------------

    def explain_number(self, place: str) -> dict[str, Any]:
        """Return the caption of a number, its calculation, and the numbers it is computed from."""
        address = split_place(place)
        assert address, place
        name, head, row, column = address
        explain = {"s": self._score, "a": self._weight, "z": self._head_output, "o": self._output}.get(name)
        caption, line, parts = explain(head, row, column) if explain else self._projection(name, head, row, column)
        note = ""
        if name == "a" and (shift := self.example.shift(head, row)):
            note = self.t("step_by_step.hand_shift", peak=format_number(shift))
        return {"says": caption, "line": line, "note": note, "parts": parts}

    def _projection(self, name: str, head: int, row: int, column: int) -> tuple[str, list[Token], list[Part]]:
        at = head * self.numbers.d_k + column
        values = {"q": self.trace.q, "k": self.trace.k, "v": self.trace.v}[name]
        x, matrix = self.example.inputs["x"], self.example.inputs[f"w_{name}"]
        line = sum_of_products(x[row].tolist(), matrix[:, at].tolist(), float(values[head, row, column]))
        caption = self.t(f"step_by_step.hand_says_{name}", word=self.words[row], n=column + 1)
        return caption, line, [_row("x", row), _column(f"w_{name}", at)]

    def _score(self, head: int, row: int, column: int) -> tuple[str, list[Token], list[Part]]:
        trace, d_k = self.trace, self.numbers.d_k
        is_blocked = float(trace.masked[head, row, column]) == -math.inf
        key = "hand_says_blocked" if is_blocked else "own_numbers.says_score"
        caption = self.t(f"step_by_step.{key}", query=self.words[row], key=self.words[column])
        line = sum_of_products(
            trace.q[head, row].tolist(), trace.k[head, column].tolist(), float(trace.scores[head, row, column])
        )
        scaled = float(trace.scaled[head, row, column])
        line += [
            (f";  {format_number(float(trace.scores[head, row, column]))} / √{d_k} ≈ ", ""),
            (format_number(scaled), "result"),
        ]
        if is_blocked:
            line += [(" → ", ""), ("−∞", "result")]
        names = ("q", "k") if self.numbers.is_direct else (f"q{head}", f"k{head}")
        columns = [head * d_k, (head + 1) * d_k] if self.numbers.is_direct else None
        return caption, line, [_row(names[0], row, columns), _row(names[1], column, columns) | {"role": "in-column"}]

    def _weight(self, head: int, row: int, column: int) -> tuple[str, list[Token], list[Part]]:
        masked, shift = self.trace.masked[head, row], self.example.shift(head, row)
        exps, share = self.example.exponentials(head, row), float(self.trace.weights[head, row, column])
        line = power_share(masked.tolist(), shift, exps, column, share)
        caption = self.t("step_by_step.hand_says_weights", query=self.words[row], key=self.words[column])
        return caption, line, [_row(f"s{head}", row)]

    def _head_output(self, head: int, row: int, column: int) -> tuple[str, list[Token], list[Part]]:
        trace, at = self.trace, head * self.numbers.d_k + column
        line = sum_of_products(
            trace.weights[head, row].tolist(),
            trace.v[head, :, column].tolist(),
            float(trace.head_outputs[head, row, column]),
        )
        caption = self._translate("says_mixed", word=self.words[row], n=column + 1)
        values = _column("v", at) if self.numbers.is_direct else _column(f"v{head}", column)
        return caption, line, [_row(f"a{head}", row), values]

    def _output(self, _: int, row: int, column: int) -> tuple[str, list[Token], list[Part]]:
        trace, w_o = self.trace, self.example.inputs["w_o"]
        line = sum_of_products(trace.concat[row].tolist(), w_o[:, column].tolist(), float(trace.output[row, column]))
        key = "own_numbers.says_output" if len(self.heads) > 1 else "hand_says_leaves"
        caption = self.t(f"step_by_step.{key}", word=self.words[row], n=column + 1)
        left_name = "c" if len(self.heads) > 1 else "z0"
        return caption, line, [_row(left_name, row), _column("w_o", column)]


def split_place(place: str) -> tuple[str, int, int, int] | None:
    """Return a number's matrix, head, row and column from its name in a link.

    Example:
        >>> split_place("a1-0-2"), split_place("o-2-3"), split_place("x")
        (('a', 1, 0, 2), ('o', 0, 2, 3), None)
    """
    if not (match := PLACE.fullmatch(place)):
        return None
    name, head, row, column = (group for group in match.groups() if group is not None)
    return name, int(head or 0), int(row), int(column)


def _row(live: str, row: int, columns: list[int] | None = None) -> Part:
    return {"live": live, "row": row, "columns": columns, "role": "in-row"}


def _column(live: str, column: int) -> Part:
    return {"live": live, "row": None, "columns": [column, column + 1], "role": "in-column"}
