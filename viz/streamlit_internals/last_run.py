"""A run that another one has taken over from leaves the session alone: by Streamlit's private names, as all here.

What is asked for while a run is at its end starts the next one in a thread beside it. At its end a run sets every
button back and forgets the controls that it did not draw; so it could set back what the next one had been asked for,
forget what that one draws, or fail because the values changed under its hands.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.state import SafeSessionState

from viz.streamlit_internals.containment import attempt, current_session

_tidy = SafeSessionState.on_script_finished
"""Streamlit's own."""


def _tidy_if_last(state: SafeSessionState, *controls: Any, **how: Any) -> None:
    tidy = partial(_tidy, state, *controls, **how)
    attempt("last run", current_session(), partial(_call_if_last, state, tidy), tidy)


def _call_if_last(state: SafeSessionState, tidy: Callable[[], None]) -> None:
    runner = getattr(state._yield_callback, "__self__", None)
    requests = runner._requests if isinstance(runner, ScriptRunner) else None
    with requests._lock if requests else nullcontext():  # whoever asks this run to stop begins the next, and waits
        if requests is None or requests._state is not ScriptRequestType.STOP:
            tidy()


def tidy_after_the_last_run() -> None:
    """For the whole process: a run that was asked to stop does not tidy, and one that tidies is asked to stop after."""
    SafeSessionState.on_script_finished = _tidy_if_last  # type: ignore[method-assign, assignment]
