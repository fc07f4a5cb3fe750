"""A run ends where its user has left, and a thread in the background is none."""

import threading
from types import SimpleNamespace
from unittest.mock import MagicMock

from tests import SAFETY_NET
from viz.params import script_run


class LeftError(Exception):
    """The exception of Streamlit in a run whose user has left."""


def result_in_thread(call):
    """Return or raise the result of a call in its own thread, as every run of a script has one."""
    results = []

    def work():
        try:
            results.append(call())
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(SAFETY_NET)
    return results[0]


def give_looks(monkeypatch, *looks):
    """Put a session's state in the place of Streamlit's, with the results of the looks into it."""
    state = MagicMock()
    state.__contains__.side_effect = looks
    monkeypatch.setattr(script_run, "st", SimpleNamespace(session_state=state))


def test_raise_if_left_reads_state(monkeypatch):
    """Streamlit ends the run of a user who has left where its script reads the session's state."""
    give_looks(monkeypatch, True, LeftError)
    ended = result_in_thread(lambda: script_run.is_run() and script_run.raise_if_disconnected())
    assert isinstance(ended, LeftError)


def test_background_thread_is_no_run(monkeypatch):
    """Streamlit is not asked, which would log a line in a thread without a run."""

    def work():
        script_run.mark_background()
        script_run.raise_if_disconnected()
        return script_run.is_run()

    give_looks(monkeypatch, LeftError)
    assert result_in_thread(work) is False


def test_thread_without_session_is_no_run():
    """The state of a thread without a run is empty."""
    assert result_in_thread(script_run.is_run) is False
