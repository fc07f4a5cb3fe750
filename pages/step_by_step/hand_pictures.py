"""Small matrices of formatted numbers, and calculations written out: the browser prints and calculates nothing."""

import math
from collections.abc import Sequence
from typing import Any

from torch import Tensor

Token = tuple[str, str]
"""Text of a calculation and its role: "row", "column", "result", "up" (an exponent) or none."""


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


def _factor(value: float) -> str:
    return f"({format_number(value)})" if value < 0 else format_number(value)


def outcome(value: float) -> list[Token]:
    """Write a result behind its equals sign, or behind " ≈ " where it is rounded."""
    text = format_number(value)
    is_exact = math.isinf(value) or math.isclose(float(text.replace("−", "-")), value, abs_tol=1e-9)
    return [(" = " if is_exact else " ≈ ", ""), (text, "result")]


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
    return tokens + outcome(result)


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


def power_share(masked: Sequence[float], shift: float, exps: Sequence[float], at: int, weight: float) -> list[Token]:
    """Write out the exponential of a score, divided by the sum of its row."""
    *parts, total = exps

    def power(score: float) -> list[Token]:
        subtracted = f" − {_factor(shift)}" if shift else ""
        return [("e", ""), (f"{format_number(score)}{subtracted}", "up")]

    below = [token for m, score in enumerate(masked) for token in ([(" + ", "")] * bool(m) + power(score))]
    quotient = [(" ≈ ", ""), (format_number(parts[at]), "row"), (" / ", ""), (format_number(total), "column")]
    return [*power(masked[at]), (" / (", ""), *below, (")", ""), *quotient, *outcome(weight)]
