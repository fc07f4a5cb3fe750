"""A user's answers: read from the browser's messages, and judged."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viz.lessons.key import AnswerValue, Key, Values

LONGEST = 40
"""Characters of a number that is typed."""

_NUMBER = re.compile(r"([+-]?\d*[.,]?\d*(?:e[+-]?\d+)?)\s*(%?)", re.IGNORECASE)
_FRACTION = re.compile(r"([+-]?\d+)\s*/\s*(\d+)")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Verdict on an answer; if it is wrong, the reason's code and the values of its sentence."""

    is_right: bool
    reason: str = ""
    values: Values


def read_number(text: str) -> float | None:
    """A number as people type it; None if it is none."""
    text = text.strip().replace("−", "-")[: LONGEST + 1]
    if (fraction := _FRACTION.fullmatch(text)) and len(text) <= LONGEST and int(fraction[2]):
        return int(fraction[1]) / int(fraction[2])
    match = _NUMBER.fullmatch(text)
    if match is None or not re.search(r"\d", match[1]) or len(text) > LONGEST:
        return None
    try:
        value = float(match[1].replace(",", "."))
    except ValueError:
        return None
    return value / (100 if match[2] else 1) if math.isfinite(value) else None


def read_answer(kind: str, message: Any, options: Sequence[AnswerValue]) -> AnswerValue | None:
    """Return the answer in a browser's message; None if it cannot be one."""
    if kind == "number":
        return read_number(message) if isinstance(message, str) else None
    if kind == "order":
        if not isinstance(message, list) or not all(isinstance(code, str) for code in message):
            return None
        return tuple(message) if sorted(message) == sorted(map(str, options)) else None
    if isinstance(message, bool) or not isinstance(message, int | str):
        return None
    return message if message in options else None


def judge(key: Key, answer: AnswerValue, tolerance: float) -> Verdict:
    """Judge an answer, with the reason if it is wrong."""
    if isinstance(answer, float):
        (exact,) = key.right
        assert isinstance(exact, int | float)
        if abs(answer - exact) <= tolerance:
            return Verdict(is_right=True, values=key.values)
        distances = {reason: abs(answer - value) for reason, value in key.traps.items()}
        near = [reason for reason, distance in distances.items() if distance <= tolerance]
        reason = min(near, key=distances.__getitem__, default="other")
        return Verdict(is_right=False, reason=reason, values={**key.values, "given": answer})
    if answer in key.right:
        return Verdict(is_right=True, values=key.values)
    reason, values = key.wrong(answer)
    return Verdict(is_right=False, reason=reason, values={**key.values, **values})
