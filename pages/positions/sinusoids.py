"""The sinusoids, live in the browser: a row of numbers for each position, a clock hand for each pair of columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pages.positions.checks import sinusoids_error
from pages.positions.context import BASE, HIGHEST_BASE, LOWEST_BASE, PositionsContext
from viz.components.kinds import Fields, Integer, Many, Real
from viz.components.view import View
from viz.core.positions import sinusoidal
from viz.frame.checks import Check, check
from viz.frame.scene import say_error
from viz.params import Int, Ints, Parameter

ROWS = (
    r"\begin{aligned} p_{i,2j} &= \sin\big(i / b^{2j/D}\big) \\ p_{i,2j+1} &= \cos\big(i / b^{2j/D}\big) \end{aligned}"
)
WIDEST, MOST = 512, 512
WIDTH = Int("pe_width", 64, low=1, high=WIDEST)
N = Int("pe_n", 64, low=8, high=MOST)
AT = Int("pe_at", 12, high=lambda table: table.n - 1)
"""The selected position."""
PAIRS = Ints("pe_pairs", high=lambda table: max(0, table.width // 2 - 1))
PARAMETERS_BY_NAME: dict[str, Parameter[Any]] = {"width": WIDTH, "n": N, "at": AT, "base": BASE, "pairs": PAIRS}
"""The parameters that the explorer sends, by the names in its message."""
CHOICE = Fields(
    width=Integer(1, WIDEST),
    n=Integer(8, MOST),
    base=Real(LOWEST_BASE, HIGHEST_BASE),
    at=Integer(0, MOST - 1),
    pairs=Many(Integer(0, WIDEST // 2 - 1), WIDEST // 2),
)
EXPLORER = View("positions/sinusoids", words="sinusoids.", sends={"choice": CHOICE}, colours=True)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Width of the table of sinusoids, and its number of positions."""

    width: int
    n: int


def chosen_table() -> Table:
    """Return the explorer's table, which the next sections share."""
    return Table(width=WIDTH.read(), n=N.read())


def draw(context: PositionsContext) -> list[Check]:
    """Draw the explorer; it sends its values when the slider is released."""
    table, base = chosen_table(), context.placing.base
    pairs, at = PAIRS.read(table), AT.read(table)
    choice = {"width": table.width, "n": table.n, "base": base, "at": at, "pairs": pairs}
    data = {"choice": choice, "limits": {"width": WIDEST, "n": MOST}}
    EXPLORER.mount(key="sinusoids", data=data, on={"choice": _choose})
    try:
        rows = sinusoidal(table.n, table.width, base=base)
    except ValueError as error:
        say_error(context.t, error)
        return []
    return [check("positions.check_sinusoids", sinusoids_error(rows, base), 1e-6)]


def _choose(choice: Mapping[str, Any]) -> None:
    for name, value in choice.items():
        PARAMETERS_BY_NAME[name].set(value)
