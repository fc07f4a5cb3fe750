"""When what a run tells is sent: at its end, or after a moment; a visit's first run at once; and all in one go."""

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.session_manager import SessionClientDisconnectedError

from viz.streamlit_internals import together
from viz.streamlit_internals.together import MOMENT, send_together


class Loop:
    """An event loop that is asked for later calls, and a clock that stands still."""

    def __init__(self) -> None:
        self.now = 100.0
        self.later: list[float] = []

    def call_later(self, seconds: float, _: Any) -> None:
        self.later.append(self.now + seconds)


class Session:
    """A session without a script; it counts how many messages there are whenever they are to be sent."""

    def __init__(self, loop: Any) -> None:
        self._browser_queue, self._event_loop = ForwardMsgQueue(), loop
        self._state = AppSessionState.APP_NOT_RUNNING
        self.sent: list[int] = []
        self._message_enqueued_callback = lambda: self.sent.append(len(self._browser_queue.flush()))

    def _put(self, message: ForwardMsg) -> None:
        put: Any = AppSession._enqueue_forward_msg
        put(self, message)

    def begin(self) -> None:
        self._state = AppSessionState.APP_IS_RUNNING
        message = ForwardMsg()
        message.new_session.SetInParent()
        self._put(message)

    def draw(self, at: int) -> None:
        message = ForwardMsg()
        message.delta.new_element.text.body = "a"
        message.metadata.delta_path[:] = [0, at]
        self._put(message)

    def end(self) -> None:
        self._state = AppSessionState.APP_NOT_RUNNING
        self._put(ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY))


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setattr(AppSession, "_enqueue_forward_msg", AppSession._enqueue_forward_msg)
    monkeypatch.setattr(AppSession, "flush_browser_queue", AppSession.flush_browser_queue)
    send_together()
    loop = Loop()
    monkeypatch.setattr(together.time, "monotonic", lambda: loop.now)
    return Session(loop)


def test_a_first_run_is_sent_as_it_comes_and_those_after_it_when_they_are_over(session):
    for expected in ([1, 1, 1, 1], [4], [4]):
        session.begin()
        session.draw(0)
        session.draw(1)
        session.end()
        assert session.sent == expected
        session.sent.clear()
    assert session._event_loop.later == [session._event_loop.now + MOMENT] * 2


def test_a_run_that_takes_longer_is_sent_after_a_moment_and_then_as_it_comes(session):
    session.begin()
    session.end()
    session.sent.clear()
    session.begin()
    session.draw(0)
    session._event_loop.now += MOMENT
    session.draw(1)
    session.draw(2)
    assert session.sent == [3, 1]


def test_what_is_said_between_two_runs_does_not_wait(session):
    session.draw(0)
    for _ in range(2):
        session.begin()
        session.end()
    session.sent.clear()
    session.draw(0)
    assert session.sent == [1]


class Clients:
    """A server with one session at most, whose browser takes some messages and is gone then."""

    def __init__(self, takes: int, *, is_there: bool = True) -> None:
        self.takes, self.sent, self.lost = takes, list[str](), list[str]()
        self.to = SimpleNamespace(client="its browser") if is_there else None
        self._session_mgr = SimpleNamespace(get_active_session_info=lambda _: self.to)

    def _send_message(self, to: Any, message: ForwardMsg) -> None:
        assert to is self.to
        if len(self.sent) == self.takes:
            raise SessionClientDisconnectedError
        self.sent.append(message.delta.new_element.text.body)

    def disconnect_session(self, session: str, client: str) -> None:
        self.lost += [session, client]


@pytest.mark.parametrize(
    ("server", "sent", "lost"),
    [
        (Clients(9), ["a", "a", "a"], []),
        (Clients(1), ["a"], ["it", "its browser"]),
        (Clients(9, is_there=False), [], []),
    ],
)
def test_all_that_waits_is_sent_before_any_other_work(session, monkeypatch, server, sent, lost):
    monkeypatch.setattr(together.Runtime, "instance", lambda: server)
    session.id = "it"
    session._message_enqueued_callback = lambda: None
    for at in range(3):
        session.draw(at)
    assert AppSession.flush_browser_queue(session) == [], "the runtime lets other work pass after each it is given"
    assert (server.sent, server.lost) == (sent, lost)
    assert session._browser_queue.is_empty()
