"""Every message for a browser passes its filter: by Streamlit's private names, as all in this folder."""

from functools import partial
from typing import Any
from weakref import ref

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.session_manager import ActiveSessionInfo

from viz.streamlit_internals.changes import Held
from viz.streamlit_internals.containment import attempt

_HELD = "_headlight_held"


def _held(session: AppSession, client: Any = None) -> Held | None:
    """What the browser of a session holds; a client is its connection, and another one begins with nothing."""
    known, held = session.__dict__.get(_HELD, (None, None))
    if client is not None and (known is None or known() is not client):
        held = Held()
        session.__dict__[_HELD] = ref(client), held
    return held


_send, _take = Runtime._send_message, AppSession.handle_backmsg
"""Streamlit's own."""


def _send_changes(runtime: Runtime, to: ActiveSessionInfo, message: ForwardMsg) -> None:
    filtered, unfiltered = partial(_filter, to, message), partial(_stop_filtering, to.session, message)
    for told in attempt("changes", to.session, filtered, unfiltered):
        _send(runtime, to, told)


def _filter(to: ActiveSessionInfo, message: ForwardMsg) -> list[ForwardMsg]:
    held = _held(to.session, to.client)
    is_over = to.session._state is not AppSessionState.APP_IS_RUNNING
    return held.to_send(message, is_over=is_over) if held else [message]


def _stop_filtering(session: AppSession, message: ForwardMsg) -> list[ForwardMsg]:
    """Return a message; the first time also what was left out of its run before it."""
    _, held = session.__dict__.pop(_HELD, (None, None))
    return held.whole_run(message) if held else [message]


def _note_and_take(session: AppSession, message: BackMsg) -> None:
    attempt("changes", session, partial(_note, session, message), lambda: None)
    _take(session, message)


def _note(session: AppSession, message: BackMsg) -> None:
    if (held := _held(session)) and message.WhichOneof("type") == "rerun_script":
        held.note_request(message.rerun_script)


def send_changes_only() -> None:
    """Have the server leave out what a browser holds, from each browser's next run on."""
    Runtime._send_message = _send_changes  # type: ignore[method-assign, assignment]
    AppSession.handle_backmsg = _note_and_take  # type: ignore[method-assign, assignment]
