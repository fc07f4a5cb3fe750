"""A table of HTML whose numbers stand at the ends of bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Bar:
    """A number from 0 on, the lowest and the highest of those that it stands for, and digits behind the point."""

    value: float
    low: float
    high: float
    digits: int = 3


def bar_table(corner: str, names: Mapping[str, str], columns: Mapping[str, Sequence[Bar]]) -> str:
    """Return a row for each name, with what stands below the name, and a bar in each column."""
    tops = [max(bar.high for bar in bars) or 1.0 for bars in columns.values()]
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in (corner, *columns))
    rows = (
        f'<tr><th scope="row">{escape(name)}<small>{escape(note)}</small></th>{"".join(map(_cell, bars, tops))}</tr>'
        for (name, note), bars in zip(names.items(), zip(*columns.values(), strict=True), strict=True)
    )
    return f'<table class="bars"><tr>{head}</tr>{"".join(rows)}</table>'


def _cell(bar: Bar, top: float) -> str:
    ends = {"to": bar.value, "low": bar.low, "high": bar.high}
    look = "; ".join(f"--{name}: {end / top:.3f}" for name, end in ends.items())
    mean, low, high = (f"{end:.{bar.digits}f}" for end in ends.values())
    return f'<td><span style="{look}">{mean} <small>({low} – {high})</small></span></td>'
