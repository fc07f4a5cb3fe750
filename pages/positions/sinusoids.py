"""The sinusoids, live in the browser: a row of numbers for each position, a clock hand for each pair of columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.positions.checks import sinusoids_error
from pages.positions.context import COLOURS, HIGHEST_BASE, LOWEST_BASE, PositionsContext
from viz.components.mount import count_choices, mount
from viz.core.positions import sinusoidal
from viz.frame import state
from viz.frame.checks import Check, check
from viz.frame.scene import say_error
from viz.text import sentences

EXPLORER = "sinusoids"
WIDEST, MOST = 512, 512


@dataclass(frozen=True, kw_only=True)
class Table:
    """How wide the table of sinusoids is, and how many positions it has."""

    width: int
    n: int


def chosen_table() -> Table:
    """The table of the explorer, which the next sections go on with."""
    return Table(width=state.whole("pe_width", 64, 1, WIDEST), n=state.whole("pe_n", 64, 8, MOST))


def at_parameter(table: Table) -> tuple[str, int, int, int]:
    """The position that is looked at: its parameter's name, usual value and range."""
    return "pe_at", 12, 0, table.n - 1


def draw(context: PositionsContext) -> list[Check]:
    """The explorer; what is chosen there arrives here when the slider is let go."""
    table, base = chosen_table(), context.placing.base
    pairs = state.numbers("pe_pairs", 0, max(0, table.width // 2 - 1))
    at = state.whole(*at_parameter(table))
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
        state.put(name, value)


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
