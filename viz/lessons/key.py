"""The key of a question: the right answer as a function computes it from the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

AnswerValue = int | float | str | bool | tuple[int, ...] | tuple[str, ...]
"""An answer: a token's place, a head's layer and number, a number, an option's code, options in order, or yes."""


class Part(float):
    """A part of 1, such as a weight: it is written so."""


Value = int | float | str | Part | tuple[float, ...]
"""Value in a sentence; several numbers are a vector."""

Values = Mapping[str, Value]


class PremiseError(ValueError):
    """The page's present text or model does not allow a question.

    ``code`` names the sentence that says why; ``values`` fill it in.
    """

    def __init__(self, code: str, **values: Value) -> None:
        self.code, self.values = code, values
        super().__init__(f"{code} {values}" if values else code)


Because = tuple[str, Values]
"""Reason of a wrong answer: its code, and the values of its sentence."""


Cell = tuple[int, int]
"""A row and a column of a matrix of the trace."""


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """Parts of a picture that answer a question, as places in a matrix of the trace: covered while it is open.

    Args:
        part: the trace's matrix, by its field: "weights" for a map, "q" or "scores" for a step of the computation.
        rows: all cells of these rows.
        columns: all cells of these columns.
        cells: single cells, each (row, column).
        shown: cells of these rows and columns that stay in view.
        labels: bars and rows of tables with these names.
        asked: the cell that is chosen when the step opens; -1 for no column.
    """

    part: str = "weights"
    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    cells: tuple[Cell, ...] = ()
    shown: tuple[Cell, ...] = ()
    labels: tuple[str, ...] = ()
    asked: Cell | None = None

    @property
    def chosen(self) -> Cell | None:
        """The cell that is chosen at first: the one that is asked, or the only one that is hidden."""
        return self.asked or (self.cells[0] if len(self.cells) == 1 else None)


NOTHING = Hidden()


@dataclass(frozen=True, kw_only=True)
class Key:
    """Right answers to a question, and the values of its sentences.

    Of a number the exact one is right; ``traps`` are the values that common mistakes lead to, by the reason's code, and
    ``wrong`` gives the reason why another answer is wrong. ``hides`` is what the picture shows of the answer, by place.
    Of an answer given in the page, ``shows`` are the page's parameters that show one: it is chosen with "Show the
    answer".
    """

    right: tuple[AnswerValue, ...]
    values: Values = field(default_factory=dict)
    wrong: Callable[[Any], Because] = lambda _: ("other", {})
    traps: Mapping[str, float] = field(default_factory=dict)
    hides: Hidden = NOTHING
    shows: Mapping[str, Any] = field(default_factory=dict)

    def hiding(self, hides: Hidden) -> "Key":
        """Return the same key with the cells of the picture that show the answer."""
        return replace(self, hides=hides)


@dataclass(frozen=True, kw_only=True)
class Function:
    """A named function that works out the answer to a kind of question, from the subject and the step's arguments.

    ``reasons`` has every code of :attr:`Key.wrong` and :attr:`Key.traps`, ``codes`` the options that it knows.
    """

    kind: str
    reasons: tuple[str, ...]
    codes: tuple[str, ...]
    work: Callable[..., Key]


Registry = dict[str, Function]
Work = Callable[..., Key]


def registered(registry: Registry, kind: str, *reasons: str, codes: tuple[str, ...] = ()) -> Callable[[Work], Work]:
    """Register a function under its name; each wrong option of its question has its own reason."""

    def enter(work: Work) -> Work:
        name = getattr(work, "__name__", "")
        registry[name] = Function(kind=kind, reasons=reasons or codes, codes=codes, work=work)
        return work

    return enter


def one_of(code: str, **values: Value) -> Key:
    """Return the key of a question with one right option; each wrong one has its reason under its code."""
    return Key(right=(code,), values=values, wrong=lambda answer: (str(answer), {}))
