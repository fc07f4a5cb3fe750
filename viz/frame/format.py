"""Numbers as people write them: the only place where a number of a sentence gets its digits.

Two or three of them that mean something, and no exponent as computers write it. Under a pointer, and in a file, there
are more.
"""

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import SupportsFloat

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
EXACT = 10**12
ROUNDING = 1e-6
"""A weight so near to 1 is 1: what float32 leaves of it when rows are merged and scaled."""


NEARLY_NOTHING = 0.0005
"""A mean smaller than this is what rounding leaves of 0."""


def amount(count: int | None) -> str:
    """A count: exact below a million million, then three digits and a power of ten; "∞" for what never comes.

    Example:
        >>> amount(21176320), amount(805306368000000), amount(None)
        ('21,176,320', '8.05·10¹⁴', '∞')
    """
    if count is None:
        return "∞"
    if count < EXACT:
        return f"{count:,}"
    return _power_of_ten(count, 3)


def number(value: float, digits: int = 2) -> str:
    """Any number, to so many significant digits; of a thousand or more, every digit before the point.

    Example:
        >>> number(0.67712), number(12.34, 3), number(-0.30), number(1234567.8), number(99.7), number(2e-8)
        ('0.68', '12.3', '−0.3', '1,234,568', '100', '2·10⁻⁸')
        >>> number(-0.0), number(math.nan), number(-math.inf)
        ('0', 'NaN', '−∞')
    """
    value = float(value)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
    absolute = abs(value)
    if absolute and (absolute < 0.001 or absolute >= EXACT):
        text = _power_of_ten(absolute, digits)
    elif absolute >= 10**digits - 0.5:
        text = f"{absolute:,.0f}"
    else:
        text = f"{absolute:.{digits}g}"
    return f"−{text}" if value < 0 else text


def at_most(value: float, digits: int = 2) -> str:
    """A bound that nothing exceeds: as :func:`number`, but rounded up; what float32 leaves above a number is not.

    Example:
        >>> at_most(4.84), at_most(0.1), at_most(1234.2), at_most(2.03e-8), at_most(0.0), at_most(math.inf)
        ('4.9', '0.1', '1,235', '2.1·10⁻⁸', '0', '∞')
    """
    if not math.isfinite(value) or not value:
        return number(value, digits)
    exact = Decimal(value - ROUNDING * abs(value))
    places = max(digits, exact.adjusted() + 1)
    return number(float(Context(prec=places, rounding=ROUND_CEILING).plus(exact)), digits)


def part(value: float) -> str:
    """A part of 1, such as a weight: two decimals; what is not quite nothing, or not quite all, never looks like it.

    Example:
        >>> part(0.67712), part(0.5), part(0.0), part(3e-6), part(0.9999), part(1 - 1e-7), part(1.0)
        ('0.68', '0.50', '0', '<0.01', '>0.99', '1', '1')
    """
    if value <= 0 or value >= 1 - ROUNDING:
        return number(round(value))
    return "<0.01" if value < 0.005 else ">0.99" if value >= 0.995 else f"{value:.2f}"


def statistic(value: SupportsFloat, digits: int = 3) -> str:
    """A mean, a length, a cosine: three digits, thousandths at most; two in a sentence.

    "≈ 0" for what is nearly nothing, "–" where there is nothing to count.

    Example:
        >>> statistic(0.2463), statistic(-12.34), statistic(5455.2), statistic(1e-6), statistic(0), statistic(math.nan)
        ('0.246', '−12.3', '5,455', '≈ 0', '0', '–')
        >>> statistic(0.2463, 2), statistic(-12.34, 2)
        ('0.25', '−12')
    """
    x = float(value)
    if math.isnan(x):
        return "–"
    return "≈ 0" if 0 < abs(x) < NEARLY_NOTHING else number(round(x, 3), digits)


def span(low: str, high: str) -> str:
    """From one end to the other; only one of them, if both read the same.

    Example:
        >>> span("0.1", "0.7"), span("1", "1")
        ('0.1 … 0.7', '1')
    """
    return low if low == high else f"{low} … {high}"


def in_formula(value: float) -> str:
    r"""A number in LaTeX: four digits, and a power of ten where it is far below 1.

    Example:
        >>> in_formula(0.5), in_formula(-2e-6), in_formula(0.0)
        ('0.5000', '-2.000\\cdot 10^{-6}', '0')
    """
    # Rounding leaves such numbers of a 0.
    if abs(value) < 1e-9:
        return "0"
    if abs(value) >= 0.001:
        return f"{value:.4f}"
    mantissa, power = f"{value:.3e}".split("e")
    return rf"{mantissa}\cdot 10^{{{int(power)}}}"


def _power_of_ten(value: float, digits: int) -> str:
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa if digits > 2 else mantissa.removesuffix(".0")
    return f"{mantissa}·10{str(int(power)).translate(SUPERSCRIPTS)}"


def share(value: float) -> str:
    """A share to a tenth of a percent; what is not quite nothing, or not quite all, never looks like it.

    Example:
        >>> share(0.25), share(0.0), share(1e-6), share(0.99999), share(1.0)
        ('25.0%', '0.0%', '<0.1%', '>99.9%', '100.0%')
    """
    if 0 < value < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= value < 1 else f"{value:.1%}"
