"""The page's table of words in the browser: a row for each token, or a column, and a click asks the model there."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.next_word.context import NextWordContext
from pages.next_word.parameters import AT
from viz.components.mount import mount
from viz.figures.palette import BLUE

FILLING = 9
"""Rows that fill its frame."""


def _words(context: NextWordContext, name: str) -> dict[str, str]:
    """What the table of words says, to be filled in by the browser."""
    return {key: context.t(f"next_word.{name}_{key}") for key in ("caption", "corner", "says", "rest")}


def show_grid(context: NextWordContext, name: str, by: str, columns: Sequence[str], rows: Sequence[Any]) -> None:
    """Show a table of words; a click on a row, or on a column, asks the model at that token.

    Args:
        context: the page's.
        name: of the table, and of its texts.
        by: "row" or "column": which of them stand for the tokens.
        columns: what stands on top.
        rows: each with its ``name`` and its ``cells``.
    """
    data = {"hue": BLUE, "by": by, "at": context.at, "columns": columns, "rows": rows}
    key, n = f"next_{name}", len(context.labels)
    with st.container(key=f"next_grid_{name}" + "_high" * (len(rows) >= FILLING)):  # its place is kept
        mount(
            "next_word/word_grid",
            key=key,
            data=data | {"words": _words(context, name)},
            on_chosen_change=partial(_choose_place, key, by, n),
        )


def _choose_place(key: str, by: str, n: int) -> None:
    """Take over the token whose row or column was clicked in a table of words."""
    sent = st.session_state[key].get("chosen")
    place = sent.get(by) if isinstance(sent, dict) else None
    if isinstance(place, int) and 0 <= place < n:
        AT.choose(place)
