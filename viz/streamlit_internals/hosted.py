"""Streamlit's private names that a public server's safety depends on: messages, sessions and uploads.

``viz/streamlit_internals/required.py`` looks for all of these names before such a server starts.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from viz.background import contained

_NAME = re.compile(r"[\w:.-]{0,64}", re.ASCII)
_WIDGET = re.compile(r"\$\$ID-[0-9a-f]+-[ -~]{1,200}")


def message_type(data: bytes, most: Mapping[str, int]) -> str | None:
    """Return the type of a browser's message; of a backend operation, its payload's type.

    Raises:
        google.protobuf.message.DecodeError: if the bytes are no message.
        ValueError: if ids of pages, fragments, requests or controls are malformed (Streamlit logs some), or if it is
            too large (:func:`check_size`).
    """
    message = BackMsg.FromString(data)
    kind: str | None = message.WhichOneof("type")
    rerun, files, operation = message.rerun_script, message.file_urls_request, message.backend_operation_request
    check_size(message, most)
    names = rerun.fragment_id, rerun.page_script_hash, files.request_id, operation.request_id, operation.session_id
    controls = (control.id for control in rerun.widget_states.widgets)
    if not (all(map(_NAME.fullmatch, names)) and all(map(_WIDGET.fullmatch, controls))):
        raise ValueError("what it names has no such name")
    return operation.WhichOneof("payload") if kind == "backend_operation_request" else kind


def check_size(message: BackMsg, most: Mapping[str, int]) -> None:
    """Refuse a browser's message with too many parts, which take up to 70 times its bytes in a session.

    Limited are controls, bytes of the link, its parameters, bytes of all states of components, and names of files.

    Raises:
        ValueError: if it has more of any of these than a page sends.
    """
    link, widgets = message.rerun_script.query_string, message.rerun_script.widget_states.widgets
    sizes = {
        "controls": len(widgets),
        "link": len(link),
        "parameters": link.count("&"),
        "states": sum(len(widget.json_value) + len(widget.json_trigger_value) for widget in widgets),
        "files": len(message.file_urls_request.file_names),
    }
    for name, size in sizes.items():
        if size > most[name]:
            raise ValueError(f"too much: {name}")


def redact_new_session() -> None:
    """Remove machine and paths, which only Streamlit's statistics need, from its first message to a browser.

    Streamlit's version stays: the page reloads when it changes.
    """
    create = AppSession._create_new_session_message

    def create_less(session: AppSession, *args: Any, **options: Any) -> ForwardMsg:
        message = create(session, *args, **options)
        message.new_session.main_script_path = Path(message.new_session.main_script_path).name
        first = message.new_session.initialize
        for part, name in ((first.user_info, ""), (first.environment_info, "streamlit_version")):
            for field, _ in part.ListFields():
                if field.name != name:
                    part.ClearField(field.name)
            # The page expects the part itself.
            part.SetInParent()
        return message

    AppSession._create_new_session_message = create_less  # type: ignore[assignment, method-assign]


def answer_unknown_fragments() -> None:
    """Make Streamlit run the whole script when a browser names a fragment that its session does not have.

    The fragment may have been replaced while the message was in transit. Streamlit would log and drop the message with
    the user's changes, and the browser would wait for an answer.
    """
    request = AppSession.request_rerun

    def request_known(session: AppSession, client_state: ClientState | None) -> None:
        # ``has_fragment`` would say it too, but only from Streamlit 1.67 on.
        if client_state and not session._fragment_storage.contains(client_state.fragment_id):
            client_state.fragment_id = ""
        request(session, client_state)

    AppSession.request_rerun = request_known  # type: ignore[assignment, method-assign]


def discard_lost_answers() -> None:
    """Make Streamlit forget what it had left to send of a run when a browser comes back, up to the next run.

    The beginning was lost with the connection. A browser cannot place the rest of a page that it has not begun, and
    shows nothing at all; one that is told of the end alone takes the page for drawn. It asks for a new run anyway.
    """
    connect = WebsocketSessionManager.connect_session

    def connect_anew(manager: WebsocketSessionManager, *args: Any, **options: Any) -> str:
        name = connect(manager, *args, **options)
        if info := manager.get_session_info(name):
            _send_from_next_run(info.session)
        return name

    WebsocketSessionManager.connect_session = connect_anew  # type: ignore[assignment, method-assign]


def discard_parts_of_lost_blocks() -> None:
    """Make Streamlit forget what lies in containers that it forgets as a fragment begins anew.

    Of a run that was cut short it keeps what fragments inside this one had left to send, without the containers around
    them. A browser that finds something else in a container's place shows nothing at all.
    """
    clear = ForwardMsgQueue.clear

    def clear_whole(queue: ForwardMsgQueue, *args: Any, **options: Any) -> None:
        before = list(queue._queue)
        clear(queue, *args, **options)
        if not queue._queue:
            return
        rest = {id(message) for message in queue._queue}
        blocks = {
            _path(message) for message in before if id(message) not in rest and message.delta.HasField("add_block")
        }
        queue._queue = [message for message in queue._queue if not any(map(blocks.__contains__, _around(message)))]

    ForwardMsgQueue.clear = clear_whole  # type: ignore[assignment, method-assign]


def _path(message: ForwardMsg) -> tuple[int, ...]:
    """The place of what a message draws; () if it draws nothing."""
    return tuple(message.metadata.delta_path)


def _around(message: ForwardMsg) -> list[tuple[int, ...]]:
    """The places of the containers around what a message draws."""
    path = _path(message)
    return [path[:n] for n in range(1, len(path))]


def _send_from_next_run(session: AppSession) -> None:
    """Have a session send no elements and no end of a run until the next one begins."""
    # A connection before, on which no run began, may have left one.
    vars(session).pop("flush_browser_queue", None)
    flush = session.flush_browser_queue

    def flush_rest() -> list[ForwardMsg]:
        messages = flush()
        kinds = [message.WhichOneof("type") for message in messages]
        begin = kinds.index("new_session") if "new_session" in kinds else len(kinds)
        if begin < len(kinds):
            del session.flush_browser_queue
        return [message for n, message in enumerate(messages) if n >= begin or kinds[n] not in _OF_RUN]

    session.flush_browser_queue = flush_rest  # type: ignore[method-assign]


_OF_RUN = ("delta", "ref_hash", "script_finished")
_MARK = "mark"


def bind_sessions_to_header(header: str) -> None:
    """Bind each session to the value of this header; a browser with another value cannot resume it.

    Streamlit compares the user's trusted headers when a browser asks to resume a session; this is the only one.
    """
    config.set_option("server.trustedUserHeaders", {header: _MARK})


def session_owner(session: str) -> str | None:
    """Return the owner mark of a session; None if there is no such session or it has no mark."""
    info = Runtime.instance()._session_mgr.get_session_info(session) if Runtime.exists() else None
    mark = info.session._user_info.get(_MARK) if info else None
    return mark if isinstance(mark, str) else None


def uploaded_files() -> dict[str, dict[str, int]]:
    """Return the sizes in bytes of uploaded files that Streamlit holds, by session and file id."""
    if not Runtime.exists():
        return {}
    manager: Any = Runtime.instance().uploaded_file_mgr
    storage: Mapping[str, Mapping[str, Any]] = manager.file_storage
    return {
        session: {file: len(record.data) for file, record in list(files.items())}
        for session, files in list(storage.items())
    }


def forget_file(session: str, file: str) -> None:
    """Delete an uploaded file."""
    manager = Runtime.instance().uploaded_file_mgr
    if isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(session, file)


def files_shown(session: str) -> set[str] | None:
    """Return the ids of files that a user's page shows as uploaded; None without a page or file uploader."""
    manager = Runtime.instance()._session_mgr
    info = manager.get_session_info(session)
    if info is None:
        return None
    state = info.session.session_state
    present = {*state._old_state, *state._new_widget_state.states}
    uploads = [
        widget
        for widget, about in list(state._new_widget_state.widget_metadata.items())
        if widget in present and about.value_type == "file_uploader_state_value"
    ]
    if not uploads:
        return None
    states = [widget for widget in info.session._client_state.widget_states.widgets if widget.id in uploads]
    return {file.file_id for widget in states for file in widget.file_uploader_state_value.uploaded_file_info}


def end_lost_sessions(most: int = sys.maxsize) -> None:
    """End expired sessions without a browser, and the oldest others above ``most``.

    Streamlit checks them only when another browser disconnects. Call in the thread of the server's loop, like all
    functions for sessions.
    """
    if Runtime.exists() and (lost := getattr(Runtime.instance()._session_mgr, "_session_storage", None)):
        _expire_sessions(lost, most)


def end_forgotten_sessions() -> None:
    """Shut down the sessions that Streamlit's storage evicts when it saves another one.

    Its cache only drops them: they would hold descriptors, files and messages until a garbage collection.
    """
    save = MemorySessionStorage.save

    def let_go_and_save(storage: MemorySessionStorage, session_info: SessionInfo) -> None:
        with contained("end of lost sessions"):
            _expire_sessions(storage, storage._cache.maxsize - 1)  # type: ignore[attr-defined]
        save(storage, session_info)

    MemorySessionStorage.save = let_go_and_save  # type: ignore[assignment, method-assign]


def _expire_sessions(storage: MemorySessionStorage, most: int) -> None:
    cache: Any = storage._cache
    expired = [session for _, session in cache.expire()]
    while len(cache) > most:
        expired.append(cache.popitem()[1])
    for session in expired:
        with contained("end of lost sessions"):
            session.session.shutdown()
