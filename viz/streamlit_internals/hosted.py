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
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.session_manager import SessionInfo

_NAME = re.compile(r"[\w:.-]{0,64}", re.ASCII)
_WIDGET = re.compile(r"\$\$ID-[0-9a-f]+-[ -~]{1,200}")


def message_type(data: bytes, most: Mapping[str, int]) -> str | None:
    """Return the type of a browser's message; of a backend operation, its payload's type.

    Raises:
        google.protobuf.message.DecodeError: if it is none.
        ValueError: if what it calls pages, fragments, requests and controls are no names (Streamlit logs some), or if
            it holds too much (:func:`check_size`).
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
    """Refuse a message that holds too much: in a session its parts take up to 70 times its bytes.

    Args:
        message: from a browser.
        most: controls, bytes of the link, its parameters, bytes of all states of components, names of files.

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
    """Have Streamlit's first message to a browser leave out what only its statistics need: the machine, its paths.

    Streamlit's version stays: a page that was open while it changed is loaded again.
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
            part.SetInParent()  # the page expects the part itself
        return message

    AppSession._create_new_session_message = create_less  # type: ignore[assignment, method-assign]


def answer_unknown_fragments() -> None:
    """Have Streamlit draw the whole page where a browser names a fragment that its session does not have.

    That may have been replaced while the message was on its way. Streamlit drops the message, with all that the user
    changed, and writes a line into the log; the browser waits for an answer.
    """
    request = AppSession.request_rerun

    def request_known(session: AppSession, client_state: ClientState | None) -> None:
        if client_state and client_state.fragment_id and not session.has_fragment(client_state.fragment_id):
            client_state.fragment_id = ""
        request(session, client_state)

    AppSession.request_rerun = request_known  # type: ignore[assignment, method-assign]


_MARK = "mark"


def bind_sessions_to_header(header: str) -> None:
    """Have Streamlit open each session under what this header says, and let nobody go on in it who says otherwise.

    It compares what it knows of a visitor when somebody names a session to go on in; the header is all it knows.
    """
    config.set_option("server.trustedUserHeaders", {header: _MARK})


def session_owner(session: str) -> str | None:
    """Under which mark a session was opened; None if there is no such session, or it has none."""
    info = Runtime.instance()._session_mgr.get_session_info(session) if Runtime.exists() else None
    mark = info.session._user_info.get(_MARK) if info else None
    return mark if isinstance(mark, str) else None


def uploaded_files() -> dict[str, dict[str, int]]:
    """The files that visitors have uploaded and Streamlit still holds: their bytes, by session and by the file's id."""
    if not Runtime.exists():
        return {}
    manager: Any = Runtime.instance().uploaded_file_mgr
    storage: Mapping[str, Mapping[str, Any]] = manager.file_storage
    return {
        session: {file: len(record.data) for file, record in list(files.items())}
        for session, files in list(storage.items())
    }


def forget_file(session: str, file: str) -> None:
    """Let go of an uploaded file."""
    manager = Runtime.instance().uploaded_file_mgr
    if isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(session, file)


def files_shown(session: str) -> set[str] | None:
    """The files that a visitor's page shows as uploaded; None if it has no place to upload one, or is not there."""
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
    """End the sessions whose browsers were gone for longer than they are kept; Streamlit looks when another one goes.

    To be called in the thread of the server's loop, as all that concerns sessions.

    Args:
        most: sessions that may still wait for their browsers; of more, those that have waited longest end.
    """
    if Runtime.exists() and (lost := getattr(Runtime.instance()._session_mgr, "_session_storage", None)):
        _expire_sessions(lost, most)


def end_forgotten_sessions() -> None:
    """Have Streamlit end the sessions that its storage lets go of, before it keeps another one.

    Its cache drops them without a word. They would hold their descriptors, files and messages until a collection.
    """
    save = MemorySessionStorage.save

    def let_go_and_save(storage: MemorySessionStorage, session_info: SessionInfo) -> None:
        _expire_sessions(storage, storage._cache.maxsize - 1)  # type: ignore[attr-defined]
        save(storage, session_info)

    MemorySessionStorage.save = let_go_and_save  # type: ignore[assignment, method-assign]


def _expire_sessions(storage: MemorySessionStorage, most: int) -> None:
    cache: Any = storage._cache
    expired = [session for _, session in cache.expire()]
    while len(cache) > most:
        expired.append(cache.popitem()[1])
    for session in expired:
        session.session.shutdown()
