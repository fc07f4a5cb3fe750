"""Parameters of the link that are numbers with a point: several in a row, or one of a few."""

from collections.abc import Sequence
from typing import Any

from viz.frame import controls, state


def reals(name: str, usual: Sequence[float], low: float, high: float) -> list[float]:
    """A parameter that is some numbers, as many as ``usual``; in the link they are joined by "_"."""

    def ok(raw: str) -> bool:
        try:
            return len(found := read_reals(raw)) == len(usual) and all(low <= number <= high for number in found)
        except ValueError:
            return False

    return read_reals(state.param(name, write_reals(usual), str, ok))


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


def real_steps(label: str, name: str, usual: float, values: Sequence[float], **options: Any) -> float:
    """A slider over a few numbers with a point."""
    value = state.param(name, usual, float, lambda number: number in values)
    controls.stepped(label, name, values, **options)
    return value
