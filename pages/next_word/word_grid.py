"""The page's table of words in the browser: a row for each token, or a column, and a click asks the model there."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from pages.next_word.context import NextWordContext
from pages.next_word.parameters import AT
from viz.components.kinds import Whole
from viz.components.view import View

WORD_GRID = View("next_word/word_grid", sends={"chosen": Whole()}, colours=True)
"""It sends the row or column that was clicked, whichever stands for the tokens."""

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
    data = {"by": by, "at": context.at, "columns": columns, "rows": rows}
    on = {"chosen": partial(_choose_place, len(context.labels))}
    with st.container(key=f"next_grid_{name}" + "_high" * (len(rows) >= FILLING)):  # its place is kept
        WORD_GRID.mount(key=f"next_{name}", data=data, words=_words(context, name), on=on)


def _choose_place(n: int, place: int) -> None:
    """Take over the token whose row or column was clicked, if it is one of the text's ``n``."""
    if place < n:
        AT.choose(place)
