"""The source line below saved pictures: the model and the text. The menu of a picture finds it on the page."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from viz.frame import modes
from viz.params.memory import Remembered
from viz.text import Translate

# The first page needs no torch.
if TYPE_CHECKING:
    from viz.frame.specs import Source

Facts = tuple[list[str], list[str]]
"""Lines on the numbers of a run, and the sections to which they do not apply."""

LONGEST = 300
"""Characters of a text that stand below a picture."""
_FACTS: Remembered[Facts] = Remembered("_figure_facts")


def note(lines: Sequence[str], apart: Iterable[str] = ()) -> None:
    """Set the lines below saved pictures of this run, and the sections to which they do not apply."""
    _FACTS.set(([_short(line) for line in lines if line], sorted(apart)))


def note_source(t: Translate, source: "Source", apart: Iterable[str] = ()) -> None:
    """The same of a model and a text."""
    whose = " · ".join(part for part in (source.model, t(f"source.{source.kind}")) if part)
    note([whose, *(f"“{text}”" for text in (source.text, source.target) if text)], apart)


def stand_apart(section: str) -> None:
    """Drop the lines of the page below a section that shows an example of its own."""
    lines, apart = _FACTS.read()
    _FACTS.set((lines, sorted({*apart, section})))


def draw() -> None:
    """Send the lines for menus of pictures, and the sections to which they do not apply; ``style.css`` hides them."""
    lines, apart = _FACTS.read()
    if modes.shows("figure_menu"):
        st.text("\n".join([" ".join(["apart", *apart]), *lines]))


def _short(fact: str) -> str:
    line = " ".join(fact.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
