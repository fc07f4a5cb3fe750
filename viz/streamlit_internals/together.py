"""What a run tells within a moment is sent together: by Streamlit's private names, as all in this folder.

Streamlit sends each message as soon as it is there: that a run begins, that it is under way, each thing it draws. The
browser goes through its whole page for them once, twice or three times, as they come, and most runs are over before it
has done so once. So what a run tells waits until the run is over, or for a moment. A visit's first run is not kept
back: the browser begins to draw with the first words of it.

What is sent is sent in one go, and written in one (:mod:`viz.streamlit_internals.writes`). Streamlit lets other work
pass after each message; the browser has taken the first by then, goes through its page for it, and takes the next ones
only when it has done so.
"""

import time
from collections.abc import Callable
from functools import partial

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.SessionStatus_pb2 import SessionStatus
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.session_manager import SessionClientDisconnectedError

from viz.streamlit_internals.containment import attempt
from viz.streamlit_internals.writes import write_together

MOMENT = 0.05
"""Seconds. Of a run that takes longer the first part comes so much later at most, and its end no later."""
RUN_ENDS = (
    ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY).SerializeToString(),
    ForwardMsg(session_status_changed=SessionStatus()).SerializeToString(),
)
"""How the last messages of a run end, as they are sent: the second is left out where the first was of a short run."""
_FROM, _TO = "_headlight_from", "_headlight_to"


def _enqueue(session: AppSession, message: ForwardMsg) -> None:
    """Put a message with those for a session's browser, and have them sent; what a run begins with waits."""
    session._browser_queue.enqueue(message)
    send = session._message_enqueued_callback
    if send and not attempt("together", session, partial(_is_to_wait, session, message, send), lambda: False):
        send()


def _is_to_wait(session: AppSession, message: ForwardMsg, send: Callable[[], None]) -> bool:
    """Whether a message waits for those after it; what a run begins with is sent after a moment at the latest."""
    if message.WhichOneof("type") == "new_session":
        is_first, now = _FROM not in session.__dict__, time.monotonic()
        session.__dict__[_FROM] = now if is_first else now + MOMENT
        if not is_first:
            session._event_loop.call_later(MOMENT, send)
    return session._state is AppSessionState.APP_IS_RUNNING and time.monotonic() < session.__dict__.get(_FROM, 0.0)


def _flush(session: AppSession) -> list[ForwardMsg]:
    """Send all that waits for a session's browser; what is left of it is sent by the runtime, one after the other."""
    waiting = session._browser_queue.flush()
    attempt("together", session, partial(_send_all, session, waiting), lambda: None)
    return waiting


def _send_all(session: AppSession, waiting: list[ForwardMsg]) -> None:
    """Send them, and remove those that are sent, or that nobody is there to take."""
    runtime = Runtime.instance()
    to = runtime._session_mgr.get_active_session_info(session.id)
    if to is None:  # its browser is gone
        waiting.clear()
        return
    if session.__dict__.get(_TO) is not to.client:
        session.__dict__[_TO] = to.client
        write_together(session._event_loop)
    try:
        while waiting:
            runtime._send_message(to, waiting[0])
            del waiting[0]
    except SessionClientDisconnectedError:
        runtime.disconnect_session(session.id, client=to.client)
        waiting.clear()


def send_together() -> None:
    """Have the server send what a run tells together, in each of its sessions."""
    AppSession._enqueue_forward_msg = _enqueue  # type: ignore[method-assign, assignment]
    AppSession.flush_browser_queue = _flush  # type: ignore[method-assign, assignment]
