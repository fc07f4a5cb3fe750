"""Live checks: what a section shows, compared with what must be true of it."""

from dataclasses import dataclass
from typing import Any

from viz.core.analysis.checks import largest, rows_error, sdpa_error, sum_error
from viz.core.heads import MultiHeadTrace

SDPA = 1e-5
"""How far the heads' outputs may be from torch's own, as a share of their largest number."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One live check: what was compared (a text key), how far it is off, and how far it may be."""

    key: str
    error: float
    tolerance: float
    values: dict[str, Any]

    @property
    def passed(self) -> bool:
        """NaN does not pass."""
        return self.error <= self.tolerance


def check(key: str, error: Any, tolerance: float, **values: Any) -> Check:
    """Make a check; ``error`` may be a tensor of one number."""
    return Check(key=key, error=float(error), tolerance=tolerance, values=values)


def attention_checks(trace: MultiHeadTrace) -> list[Check]:
    """What must hold of every trace; float32 rounding is allowed for."""
    return [
        check("truth.rows", rows_error(trace.weights, trace.masked), 1e-5),
        check("truth.sdpa", sdpa_error(trace), SDPA * largest(trace.head_outputs)),
        check("truth.sum", sum_error(trace), 1e-5 * largest(trace.output)),
    ]
