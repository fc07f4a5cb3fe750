"""The sinusoids, live in the browser: a row of numbers for each position, a clock hand for each pair of columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.positions.checks import sinusoids_error
from pages.positions.context import BASE, COLOURS, HIGHEST_BASE, LOWEST_BASE, PositionsContext
from viz.components.mount import count_choices, mount
from viz.core.positions import sinusoidal
from viz.frame.checks import Check, check
from viz.frame.scene import say_error
from viz.params import Int, Ints
from viz.text import sentences

EXPLORER = "sinusoids"
WIDEST, MOST = 512, 512
WIDTH = Int("pe_width", 64, low=1, high=WIDEST)
N = Int("pe_n", 64, low=8, high=MOST)
AT = Int("pe_at", 12, high=lambda table: table.n - 1)
"""The position that is looked at."""
PAIRS = Ints("pe_pairs", high=lambda table: max(0, table.width // 2 - 1))
SENT = {parameter.name: parameter for parameter in (WIDTH, N, AT, BASE, PAIRS)}
"""The parameters that the explorer sends."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """How wide the table of sinusoids is, and how many positions it has."""

    width: int
    n: int


def chosen_table() -> Table:
    """The table of the explorer, which the next sections go on with."""
    return Table(width=WIDTH.read(), n=N.read())


def draw(context: PositionsContext) -> list[Check]:
    """The explorer; what is chosen there arrives here when the slider is let go."""
    table, base = chosen_table(), context.placing.base
    pairs, at = PAIRS.read(table), AT.read(table)
    choice = {"width": table.width, "n": table.n, "base": base, "at": at, "pairs": pairs}
    words = sentences(context.scene.choice.lang)
    data = {
        "choice": choice,
        "sent": count_choices(EXPLORER),
        "limits": {"width": WIDEST, "n": MOST},
        "hues": COLOURS,
        "words": {key.removeprefix("sinusoids."): words[key] for key in words if key.startswith("sinusoids.")},
    }
    mount("positions/sinusoids", key=EXPLORER, data=data, on_choice_change=_take)
    try:
        rows = sinusoidal(table.n, table.width, base=base)
    except ValueError as error:
        say_error(context.t, error)
        return []
    return [check("positions.check_sinusoids", sinusoids_error(rows, base), 1e-6)]


def _take() -> None:
    for name, value in read_choice(st.session_state[EXPLORER].get("choice")).items():
        SENT[name].set(value)


def read_choice(sent: Any) -> dict[str, Any]:
    """What the explorer sent, as far as it has the right types; anything else is left out.

    Example:
        >>> read_choice({"width": 8, "base": 100, "at": True, "pairs": [0, "x"]})
        {'pe_width': 8, 'base': 100.0}
    """
    if not isinstance(sent, Mapping):
        return {}

    def whole(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    found: dict[str, Any] = {f"pe_{name}": sent[name] for name in ("width", "n", "at") if whole(sent.get(name))}
    base, pairs = sent.get("base"), sent.get("pairs")
    if isinstance(base, int | float) and LOWEST_BASE <= base <= HIGHEST_BASE:
        found["base"] = float(base)
    if isinstance(pairs, list) and all(whole(pair) for pair in pairs):
        found["pe_pairs"] = pairs
    return found
