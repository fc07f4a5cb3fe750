"""Unexpected errors: a message for the user, the code location for the log, no user text in either."""

import logging
import re
from typing import Any

import streamlit as st

from viz.frame.shared import LANG
from viz.scheduler.job import where
from viz.text import LANGUAGES, translator


def on_script_error(error: Exception) -> bool:
    """Show the error to the user; return True, so that Streamlit does not show it as well."""
    lang = (
        LANG.value if LANG.has_value else ""
    )  # what the browser says: nobody may have looked at it before this failed
    t = translator(lang if lang in LANGUAGES else "en")
    st.error(t("error.failed", kind=type(error).__name__))
    return True


SESSION = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
"""A session id: with it a session can be taken over."""


def redact_log() -> None:
    """Tracebacks end in the error's message, which may quote a visitor: every record keeps the place alone.

    What a session is called is left out too, wherever it stands.
    """
    make = logging.getLogRecordFactory()

    def without_message(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            record.msg, record.args = f"{message}: {where(record.exc_info[1])}", ()
            record.exc_info = record.exc_text = None
        if SESSION.search(message):
            record.msg, record.args = SESSION.sub("(a session)", record.getMessage()), ()
        return record

    logging.setLogRecordFactory(without_message)
