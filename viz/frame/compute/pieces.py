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
    """What is said meanwhile: on the bar after so many pieces, on the two buttons, and after a stop."""

    computing: Callable[[int], str]
    stop: str
    go_on: str
    stopped: Callable[[int], str]


Progress = tuple[Any, int] | None
"""Whose computation it is, and the number of its pieces that are done."""


def _done(name: str) -> Remembered[Progress]:
    """Return the progress of a computation."""
    return Remembered(f"_{name}_done", default=None)


def _stopped(name: str) -> Remembered[Progress]:
    """Return the progress of a computation at the moment it was stopped."""
    return Remembered(f"_{name}_stopped", default=None)


def in_pieces(name: str, asked: Any, steps: Sequence[Step], words: Words) -> list[Any]:
    """Compute what is not kept yet, one piece after the other; what was computed before a stop is handed out.

    Args:
        name: of the computation, in the session and in the keys of its buttons.
        asked: what it is about; another one forgets that this was stopped.
        steps: its pieces.
        words: in the visitor's language.
    """
    stopped = _stopped_at(name, asked)
    found: list[Any] = []
    bar, button = st.empty(), st.empty()
    is_offered = False
    for done, (function, arguments) in enumerate(steps):
        if function.key(*arguments) not in results():
            if stopped is not None and done >= stopped:
                st.caption(words.stopped(done))
                st.button(words.go_on, key=f"{name}_go_on", on_click=_go_on, args=(name,))
                break
            if not is_offered:
                is_offered = True
                button.button(words.stop, key=f"{name}_stop", on_click=_stop, args=(name,))
            bar.progress(done / len(steps), words.computing(done))
        found.append(function(*arguments))
        _done(name).set((asked, done + 1))
    bar.empty()
    button.empty()
    return found


def _stopped_at(name: str, asked: Any) -> int | None:
    """After how many pieces the visitor stopped this very computation; None if they did not."""
    stopped = _stopped(name).read()
    if stopped is None or stopped[0] == asked:
        return None if stopped is None else stopped[1]
    _stopped(name).forget()
    return None


def _stop(name: str) -> None:
    _stopped(name).set(_done(name).read())


def _go_on(name: str) -> None:
    _stopped(name).forget()
