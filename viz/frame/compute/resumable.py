"""A long computation in pieces, each kept: a bar while it goes on, a button to stop it, and one to go on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from viz.frame.compute import results
from viz.params.memory import Remembered

Step = tuple[Any, tuple[Any, ...]]
"""A function that is ``@kept``, and what it is asked."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """The texts of a resumable computation: of the progress bar, of the two buttons, and after a stop."""

    computing: Callable[[int], str]
    stop: str
    go_on: str
    stopped: Callable[[int], str]


Progress = tuple[Any, int] | None
"""The subject of a computation, and the number of its completed pieces."""


def _progress(name: str, when: str = "done") -> Remembered[Progress]:
    """Return the progress of a computation: as far as it is done, or "stopped", when it was stopped."""
    return Remembered(f"_{name}_{when}", default=None)


def run_resumable(name: str, subject: Any, steps: Sequence[Step], words: Words) -> list[Any]:
    """Compute the pieces that are not cached yet, one after the other; after a stop return the finished ones.

    ``name`` is in the session and in the keys of the buttons; a new subject discards the stop of an earlier one.
    """
    n_at_stop = _pieces_at_stop(name, subject)
    pieces: list[Any] = []
    bar, button = st.empty(), st.empty()
    is_offered = False
    for n_done, (function, arguments) in enumerate(steps):
        if function.key(*arguments) not in results():
            if n_at_stop is not None and n_done >= n_at_stop:
                st.caption(words.stopped(n_done))
                st.button(words.go_on, key=f"{name}_go_on", on_click=_progress(name, "stopped").forget)
                break
            if not is_offered:
                is_offered = True
                button.button(words.stop, key=f"{name}_stop", on_click=_stop, args=(name,))
            bar.progress(n_done / len(steps), words.computing(n_done))
        pieces.append(function(*arguments))
        _progress(name).set((subject, n_done + 1))
    bar.empty()
    button.empty()
    return pieces


def _pieces_at_stop(name: str, subject: Any) -> int | None:
    """After how many pieces the user stopped this very computation; None if they did not."""
    progress = _progress(name, "stopped").read()
    if progress is not None and progress[0] == subject:
        return progress[1]
    _progress(name, "stopped").forget()
    return None


def _stop(name: str) -> None:
    _progress(name, "stopped").set(_progress(name).read())
