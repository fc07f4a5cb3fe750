"""A run that another one has taken over from: what that one was asked for stays, and neither is in the other's way."""

from threading import Event, Thread

import pytest
from streamlit.runtime.scriptrunner import RerunData
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata

from viz.streamlit_internals.last_run import tidy_after_the_last_run

BUTTON = "$$ID-press-next"


@pytest.fixture
def state(monkeypatch):
    """A session's state, with a button that has just been pressed."""
    monkeypatch.setattr(SafeSessionState, "on_script_finished", SafeSessionState.on_script_finished)
    tidy_after_the_last_run()
    tidy_after_the_last_run()  # as each first run of a server does
    state = SessionState()
    state._new_widget_state.widget_metadata[BUTTON] = WidgetMetadata(BUTTON, bool, bool, "trigger_value")
    state._new_widget_state.set_from_value(BUTTON, True)
    return state


def run_of(state):
    """A run of the script, which is not started."""
    nothing = dict.fromkeys(("uploaded_file_mgr", "script_cache", "fragment_storage", "pages_manager", "event_loop"))
    return ScriptRunner(
        session_id="one",
        main_script_path="app.py",
        session_state=state,
        initial_rerun_data=RerunData(),
        user_info={},
        **nothing,
    )


def test_the_last_run_sets_a_button_back(state):
    run_of(state)._session_state.on_script_finished(frozenset([BUTTON]))
    assert state._new_widget_state[BUTTON] is False


def test_a_run_that_another_follows_does_not_set_its_button_back(state):
    earlier = run_of(state)
    earlier.request_stop()
    earlier._session_state.on_script_finished(frozenset([BUTTON]))
    assert state._new_widget_state[BUTTON] is True


def test_the_next_run_waits_for_one_that_tidies(state, monkeypatch):
    tidies, go_on, done = Event(), Event(), []

    def tidy(*_, **__):
        tidies.set()
        assert go_on.wait(30)
        done.append("tidied")

    def begin_the_next():
        earlier.request_stop()
        done.append("next")

    monkeypatch.setattr(SessionState, "on_script_finished", tidy)
    earlier = run_of(state)
    threads = [Thread(target=earlier._session_state.on_script_finished, args=[frozenset()])]
    threads[0].start()
    assert tidies.wait(30)
    threads.append(Thread(target=begin_the_next))
    threads[1].start()
    threads[1].join(0.2)
    assert not done
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert done == ["tidied", "next"]


def test_a_state_without_a_runner_is_tidied(state):
    SafeSessionState(state, lambda: None).on_script_finished(frozenset([BUTTON]))
    assert state._new_widget_state[BUTTON] is False
