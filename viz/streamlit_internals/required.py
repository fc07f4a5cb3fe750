"""Startup check that refuses to run a public server if a private name that its safety depends on is missing.

Most would fail silently: a renamed hook of uvicorn is never called, and sessions without a mark can be taken over. A
local server does not need them.
"""

from collections.abc import Iterator
from dis import get_instructions
from importlib import import_module
from importlib.metadata import version
from inspect import getmembers, signature
from operator import attrgetter
from typing import Any

from viz.streamlit_internals.version import end_start

NAMES = {
    "streamlit.proto.BackMsg_pb2:BackMsg": (
        *("rerun_script", "file_urls_request", "backend_operation_request", "WhichOneof", "FromString"),
    ),
    "streamlit.proto.ClientState_pb2:ClientState": (
        *("query_string", "widget_states", "page_script_hash", "fragment_id"),
    ),
    "streamlit.proto.NewSession_pb2:NewSession": ("main_script_path", "initialize"),
    "streamlit.proto.NewSession_pb2:Initialize": ("user_info", "environment_info"),
    "streamlit.proto.ClientState_pb2:ContextInfo": ("locale", "timezone"),
    "streamlit.proto.ForwardMsg_pb2:ForwardMsg": ("delta", "metadata", "script_finished", "new_session", "WhichOneof"),
    "streamlit.proto.Element_pb2:Element": ("heading", "exception", "alert"),
    "streamlit.proto.Alert_pb2:Alert": ("format", "ERROR"),
    "streamlit.proto.WidgetStates_pb2:WidgetState": ("id", "json_value", "json_trigger_value", "WhichOneof"),
    "streamlit.runtime:Runtime": (
        *("exists", "instance", "_session_mgr", "uploaded_file_mgr", "stopped"),
        *("connect_session", "close_session", "handle_backmsg", "is_active_session"),
    ),
    "streamlit.runtime.session_manager:SessionClient": ("write_forward_msg",),
    "streamlit.runtime.websocket_session_manager:WebsocketSessionManager": (
        *("get_session_info", "connect_session", "_session_storage"),
    ),
    "streamlit.runtime.session_manager:SessionInfo": ("session",),
    "streamlit.runtime.memory_session_storage:MemorySessionStorage": ("save", "_cache"),
    "streamlit.runtime.app_session:AppSession": (
        *("_create_new_session_message", "_user_info", "_client_state", "session_state"),
        *("request_rerun", "_fragment_storage", "flush_browser_queue"),
    ),
    "streamlit.runtime.fragment:MemoryFragmentStorage": ("contains",),
    "streamlit.runtime.forward_msg_queue:ForwardMsgQueue": ("clear", "_queue"),
    "streamlit.runtime.state.session_state:SessionState": ("_old_state", "_new_widget_state"),
    "streamlit.runtime.state.session_state:WStates": (
        *("__getitem__", "set_widget_metadata", "states", "widget_metadata"),
    ),
    "streamlit.runtime.state.session_state:Serialized": ("value",),
    "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager": ("file_storage", "remove_file"),
    "uvicorn.server:Server": ("startup", "config"),
    "uvicorn.config:Config": ("http_protocol_class", "ws_protocol_class", "h11_max_incomplete_event_size"),
    "uvicorn.protocols.http.h11_impl:h11": ("LocalProtocolError",),
    "uvicorn.protocols.http.auto:AutoHTTPProtocol": (
        *("connection_made", "data_received", "pause_writing", "resume_writing", "handle_websocket_upgrade"),
        *("connection_lost", "cycle", "client", "transport"),
    ),
    "uvicorn.protocols.websockets.websockets_sansio_impl:WebSocketsSansIOProtocol": (
        *("handle_connect", "data_received", "send_receive_event_to_app", "receive", "connection_lost", "scope"),
        "curr_msg_data_type",
        *("conn", "frames", "queue", "transport", "handshake_initiated", "disconnected", "close_sent", "read_paused"),
    ),
    "websockets.protocol:Protocol": ("max_message_size", "reader", "fail", "data_to_send"),
    "websockets.streams:StreamReader": ("buffer",),
}
"""Attributes by module and class."""
CALLS = {
    "streamlit.runtime:Runtime.connect_session": (("runtime", "browser"), ("user_info",)),
    "streamlit.runtime:Runtime.close_session": (("runtime", "session"), ()),
    "streamlit.runtime:Runtime.handle_backmsg": (("runtime", "session", "message"), ()),
    "streamlit.runtime.websocket_session_manager:WebsocketSessionManager.get_session_info": (
        ("manager", "session"),
        (),
    ),
    "streamlit.runtime.fragment:MemoryFragmentStorage.contains": (("storage", "fragment"), ()),
    "streamlit.runtime.state.session_state:WStates.__getitem__": (("states", "widget"), ()),
    "streamlit.runtime.state.session_state:WStates.set_widget_metadata": (("states", "about"), ()),
    "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.remove_file": (
        *(("manager", "session", "file"), ()),
    ),
}
"""Positional and keyword arguments of calls, by function."""
OPTIONS = ("server.trustedUserHeaders",)
"""Settings of Streamlit's that are not documented."""


def missing_names() -> list[str]:
    """Return the missing names, as in "AppSession._user_info"."""
    return [*_missing_attributes(), *_changed_calls(), *_missing_options()]


def _missing_attributes() -> Iterator[str]:
    for place, names in NAMES.items():
        module, name = place.split(":")
        try:
            owner = attrgetter(name)(import_module(module))
        except (ImportError, AttributeError):
            yield name
        else:
            yield from (f"{name}.{attribute}" for attribute in names if not has_attribute(owner, attribute))


def _changed_calls() -> Iterator[str]:
    for place, (by_place, by_name) in CALLS.items():
        module, name = place.split(":")
        try:
            signature(attrgetter(name)(import_module(module))).bind(*by_place, **dict.fromkeys(by_name))
        except (ImportError, AttributeError):
            continue
        except TypeError:
            yield f"{name}({', '.join((*by_place[1:], *by_name))})"


def _missing_options() -> Iterator[str]:
    import streamlit as st

    for option in OPTIONS:
        try:
            st.get_option(option)
        except RuntimeError:
            yield option


def has_attribute(owner: Any, name: str) -> bool:
    """Return whether a class has an attribute or a message's field, or sets it for its objects."""
    fields = getattr(getattr(owner, "DESCRIPTOR", None), "fields_by_name", ())
    return hasattr(owner, name) or name in fields or any(sets(member, name) for _, member in getmembers(owner))


def sets(member: Any, name: str) -> bool:
    """Return whether a method sets an attribute of this name."""
    steps = get_instructions(member) if hasattr(member, "__code__") else ()
    return any(step.opname == "STORE_ATTR" and step.argval == name for step in steps)


def required_problem() -> str:
    """Say which names are missing; "" if none is."""
    if not (missing := missing_names()):
        return ""
    installed = ", ".join(f"{package} {version(package)}" for package in ("streamlit", "uvicorn", "websockets"))
    return (
        f"A public server cannot protect its users without {', '.join(missing)}, not found in {installed}. "
        "requirements.txt has the versions that it is tested with: pip install -r requirements.txt"
    )


if problem := required_problem():
    end_start(problem)
