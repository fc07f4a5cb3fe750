"""The page's table of words in the browser: a row or a column for each token; a click selects the token."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.next_word.context import NextWordContext
from pages.next_word.parameters import AT
from viz.components.kinds import Integer
from viz.components.view import View

WORD_GRID = View("next_word/word_grid", sends={"chosen": Integer()}, colours=True)
"""It sends the clicked row or column, whichever is the axis of tokens."""

FILLING = 9
"""Rows that fill its frame."""


def _words(context: NextWordContext, name: str) -> dict[str, str]:
    """Return the texts of the table, with placeholders for the browser."""
    return {key: context.t(f"next_word.{name}_{key}") for key in ("caption", "corner", "says", "rest")}


def show_grid(context: NextWordContext, name: str, by: str, columns: Sequence[str], rows: Sequence[Any]) -> None:
    """Show a table of words; a click on a row, or on a column, selects that token."""
    data = {"by": by, "at": context.at, "columns": columns, "rows": rows}
    on = {"chosen": partial(_choose_place, len(context.labels))}
    # A fixed height reserves the place.
    with st.container(key=f"next_grid_{name}" + "_high" * (len(rows) >= FILLING)):
        WORD_GRID.mount(key=f"next_{name}", data=data, words=_words(context, name), on=on)


def _choose_place(n: int, place: int) -> None:
    """Select the token whose row or column was clicked, if it is one of the text's ``n``."""
    if place < n:
        AT.choose(place)
