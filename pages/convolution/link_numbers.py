"""Parameters of the link that are several numbers with a point in a row."""

from collections.abc import Sequence

from viz.params import Text


def reals(name: str, default: Sequence[float], low: float, high: float) -> Text:
    """Return a parameter that is some numbers, as many as ``default``; in the link they are joined by "_"."""

    def allows(raw: str) -> bool:
        try:
            return len(numbers := read_reals(raw)) == len(default) and all(low <= number <= high for number in numbers)
        except ValueError:
            return False

    return Text(name, write_reals(default), allows=allows)


def read_reals(raw: str) -> list[float]:
    """Numbers joined by "_".

    Example:
        >>> read_reals("1.5_-2")
        [1.5, -2.0]
    """
    return [float(part) for part in raw.split("_")]


def write_reals(values: Sequence[float]) -> str:
    """Undo :func:`read_reals`, with at most four digits.

    Example:
        >>> write_reals([1.5, -2.0])
        '1.5_-2'
    """
    return "_".join(f"{value:.4g}" for value in values)
