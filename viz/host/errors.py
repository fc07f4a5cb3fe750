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
    lang = LANG.value if LANG.has_value else ""  # unset if the run failed before it read the language
    t = translator(lang if lang in LANGUAGES else "en")
    st.error(t("error.failed", kind=type(error).__name__))
    return True


SESSION = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
"""A session id, which would let a reader of the log take the session over."""


def redact_log() -> None:
    """Log the code location of an error instead of its traceback, whose message may quote a user's text.

    Session ids are replaced in all records.
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
