"""The parts of a picture that a step's question covers, worked out from its answer and from the lesson's file."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from viz.components.view import changing
from viz.lessons.key import Cell, Hidden, Key
from viz.lessons.lesson import IN_THE_PAGE, OPEN
from viz.lessons.subject import Subject
from viz.modes.lesson.covered_data import Cover, Mask, cover_data
from viz.modes.lesson.running import Running
from viz.text import rewriting

MAX_PRINTED_WORDS = 6
"""Words of a printed matrix, at most."""


def cover_of(running: Running, key: Key, subject: Subject) -> Cover | None:
    """Return the cover of the step's picture; None if the question is answered in the picture, or covers all of it."""
    step, hides = running.step, key.hides
    if step.covers or step.ask.kind in (*IN_THE_PAGE, OPEN):
        return None
    is_map = hides.part == "weights"
    # Values of the answer may stand in a name: "→ {G}".
    names = {label.format(**key.values) for label in step.hides.labels} | {*hides.labels}
    names |= {running.t(word) for word in step.hides.words}
    return Cover(
        labels=subject.labels,
        choice=running.choice,
        places=_places(hides, len(subject.labels)) if is_map else None,
        names=frozenset(names),
        views=frozenset(step.hides.views),
        asked=hides.chosen if is_map else None,
        part=hides.part,
        cells=_printed_cells(hides, len(subject.labels)),
        is_open=not running.progress.done,
        word=running.t("lesson.cell_covered"),
    )


def _printed_cells(hides: Hidden, n: int) -> tuple[Cell, ...]:
    """The single cells; of a few words also those of whole rows, for matrices that are printed number by number."""
    if hides.part != "weights" or n > MAX_PRINTED_WORDS:
        return hides.cells
    return tuple((row, column) for row, column in np.argwhere(_places(hides, n)).tolist())


def _places(hides: Hidden, n: int) -> Mask:
    places = np.zeros((n, n), dtype=bool)
    places[[*hides.rows]] = True
    places[:, [*hides.columns]] = True
    for cell in hides.cells:
        places[cell] = True
    for cell in hides.shown:
        places[cell] = False
    return places


FULL_STOPS = (".", "。", "！", "？", "!", "?")


@contextmanager
def cover_cells(cover: Cover) -> Iterator[None]:
    """Cover what is drawn inside the ``with``: cells of pictures and tables, and whole sentences."""
    with changing(partial(cover_data, cover)), rewriting(_hold_back if cover.is_open else None):
        yield


def _hold_back(sentence: str) -> str:
    """Whole sentences wait for the answer: they say what there is to see."""
    return "" if sentence.endswith(FULL_STOPS) else sentence
