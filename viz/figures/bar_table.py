"""A table of HTML whose numbers stand at the ends of bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan, nan


@dataclass(frozen=True)
class Bar:
    """A number from 0 on, or NaN; the lowest and the highest of those that it stands for; digits behind the point."""

    value: float
    low: float = nan
    high: float = nan
    digits: int = 3


def bar_table(
    corner: str,
    names: Mapping[str, str],
    columns: Mapping[str, Sequence[Bar]],
    help_texts: Sequence[str] = (),
    current: int = -1,
    base: int | None = None,
) -> str:
    """Return a row for each name, with what stands below the name, and a bar in each column.

    A press on a title orders the rows (``client/frame/document.js``). ``help_texts`` are those of the titles, if they
    have some; ``current`` is the chosen row, and the numbers of the row ``base`` are marked in every other.
    """
    titles = zip((corner, *columns), help_texts or [""] * (1 + len(columns)), strict=True)
    head = "".join(
        f'<th scope="col"><button type="button" title="{escape(text)}">{escape(title)}</button></th>'
        for title, text in titles
    )
    cells = [_cells(bars, nan if base is None else bars[base].value) for bars in columns.values()]
    rows = "".join(
        f'<tr><th scope="row" data-value="{i}"{" aria-current" * (i == current)}>{escape(name)}'
        f"<small>{escape(note)}</small></th>{''.join(column[i] for column in cells)}</tr>"
        for i, (name, note) in enumerate(names.items())
    )
    return f'<table class="bars"><tr>{head}</tr>{rows}</table>'


def _cells(bars: Sequence[Bar], mark: float) -> list[str]:
    top = max((end for bar in bars for end in (bar.value, bar.high) if not isnan(end)), default=0) or 1.0
    return [_cell(bar, mark, top) for bar in bars]


def _cell(bar: Bar, mark: float, top: float) -> str:
    if isnan(bar.value):
        return "<td><span></span></td>"
    ends = {"to": bar.value, "low": bar.low, "high": bar.high, "mark": mark}
    look = "; ".join(f"--{name}: {end / top:.3f}" for name, end in ends.items() if not isnan(end))
    mean, low, high = (f"{end:.{bar.digits}f}" for end in (bar.value, bar.low, bar.high))
    spread = "" if isnan(bar.low) else f" <small>({low} – {high})</small>"
    return f'<td data-value="{bar.value}"><span style="{look}">{mean}{spread}</span></td>'
