"""Numbers as the Block page writes them."""

import math
from typing import Any

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: Any) -> str:
    """A number in a sentence or a table: three digits at most after the point, and nothing that only looks like 0.

    Example:
        >>> number(0.2463), number(-12.34), number(5455.2), number(1e-6), number(0.0), number(float("nan"))
        ('0.246', '−12.3', '5,455', '≈ 0', '0', '–')
    """
    x = float(value)
    if math.isnan(x):  # nothing to compare with
        return "–"
    if x == 0:
        return "0"
    if abs(x) < 0.0005:
        return "≈ 0"
    size = abs(round(x, 3))
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{x:,.{digits}f}".replace("-", "−").replace("inf", "∞")


def small(error: float) -> str:
    """A very small number.

    Example:
        >>> small(1.2e-7), small(0.0)
        ('1·10⁻⁷', '0')
    """
    if error == 0 or not math.isfinite(error):
        return f"{error:g}"
    digit, power = f"{error:.0e}".split("e")
    return f"{digit}·10{str(int(power)).translate(RAISED)}"
