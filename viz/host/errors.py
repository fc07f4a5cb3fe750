"""Unexpected errors: a message for the user, the code location for the log, no user text in either."""

import asyncio
import logging
import re
import threading
from typing import Any

import streamlit as st

from viz.background import contained, failures, where
from viz.frame.shared import LANG
from viz.text import LANGUAGES, translator

_log = logging.getLogger("headlight")


def on_script_error(error: Exception) -> bool:
    """Show the error to the user; return True, so that Streamlit does not show it as well."""
    # A fragment inside the one that failed has shown it, and hands it on inside another one.
    if any(isinstance(part, Exception) for part in error.args):
        return True
    # The language is unset if the run failed before it was read.
    lang = LANG.value if LANG.has_value else ""
    t = translator(lang if lang in LANGUAGES else "en")
    st.error(t("error.failed", kind=type(error).__name__))
    return True


SESSION = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
"""A session id, which would let a reader of the log take the session over."""


def redact_log() -> None:
    """Log the code location of an error instead of its traceback, whose message may quote a user's text.

    Session ids are replaced in all records. Errors are counted by the first part of the logger's name.
    """
    make = logging.getLogRecordFactory()

    def without_message(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        # An error here would otherwise be raised in the code that logs.
        with contained("log"):
            _redact(record)
            return record
        record.msg, record.args, record.exc_info = "a record that cannot be read", (), None
        return record

    logging.setLogRecordFactory(without_message)


def _redact(record: logging.LogRecord) -> None:
    message = record.getMessage()
    if record.exc_info and record.exc_info[1] is not None:
        record.msg, record.args = f"{message}: {where(record.exc_info[1])}", ()
        record.exc_info = record.exc_text = None
        failures[record.name.partition(".")[0]] += 1
    if SESSION.search(message):
        record.msg, record.args = SESSION.sub("(a session)", record.getMessage()), ()


def log_uncaught() -> None:
    """Log what no other code catches, in a thread or a callback of the loop; the defaults would quote arguments."""

    def log_callback(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        _log.error("a callback failed" if error else context["message"], exc_info=error)

    def log_thread(thread: threading.ExceptHookArgs) -> None:
        if thread.exc_type is not SystemExit:
            _log.error("a thread failed", exc_info=thread.exc_value)

    asyncio.get_running_loop().set_exception_handler(log_callback)
    threading.excepthook = log_thread
