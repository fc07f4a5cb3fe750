"""Ticks of an axis of bytes in a large figure, where plotly's own are powers of ten."""

import math
from typing import Any

from numpy.typing import NDArray

from viz.text.sizes import size

MARGIN = 0.05
"""The share of the axis that plotly leaves free at either end."""
MOST = 16
"""Twice as many ticks as in the browser's own charts (``client/plot/ticks.js``): a large figure is zoomed."""
DOUBLINGS = (1, 2, 5, 10, 20)
LARGEST = 2.0**90
"""A browser's message may hold any number; beyond this one no unit has a name."""


def byte_ticks(low: float, high: float, *, log: bool = False) -> list[float]:
    """Return multiples of a power of two between two sizes; on a logarithmic axis powers of two, whole doublings apart.

    Example:
        >>> [size(tick) for tick in byte_ticks(0, 2**22)][:3]
        ['0 B', '256 KiB', '512 KiB']
        >>> [size(tick) for tick in byte_ticks(2**10, 2**40, log=True)][:3]
        ['1 KiB', '4 KiB', '16 KiB']
    """
    start, end = (math.log2(low), math.log2(high)) if log else (low, high)
    rough = (end - start) / MOST
    if log:
        step: float = next((doublings for doublings in DOUBLINGS if doublings >= rough), 50)
    else:
        step = 2.0 ** math.ceil(math.log2(max(rough, 1)))
    places = [i * step for i in range(math.ceil(start / step - 1e-6), math.floor(end / step + 1e-6) + 1)]
    return [2.0**place for place in places] if log else places


def named_byte_ticks(values: NDArray[Any], *, log: bool) -> dict[str, Any]:
    """Return the ticks of an axis for these values, as plotly takes them; none without a size that can be drawn."""
    sizes = values[(values >= (1 if log else 0)) & (values <= LARGEST)].astype(float)
    if not sizes.size:
        return {}
    low, high = float(sizes.min()), float(sizes.max())
    free = (high / low) ** MARGIN if log else MARGIN * (high - low)
    marks = byte_ticks(low / free, high * free, log=True) if log else byte_ticks(max(0.0, low - free), high + free)
    return {"tickmode": "array", "tickvals": marks, "ticktext": [size(mark) for mark in marks]}
