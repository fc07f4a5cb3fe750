"""What goes wrong unexpectedly: a sentence for the visitor, the place in the code for the log, nobody's text."""

import logging
from typing import Any

import streamlit as st

from viz.scheduler.job import where
from viz.text import translator


def say(error: Exception) -> bool:
    """Tell the visitor, whose text and settings are still there; True: Streamlit need not."""
    t = translator(st.session_state.get("lang", "en"))
    st.error(t("error.failed", kind=type(error).__name__))
    return True


def keep_texts_out_of_the_log() -> None:
    """Tracebacks end in the error's message, which may quote a visitor: every record keeps the place alone."""
    make = logging.getLogRecordFactory()

    def without_message(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if record.exc_info and record.exc_info[1] is not None:
            record.msg, record.args = f"{record.getMessage()}: {where(record.exc_info[1])}", ()
            record.exc_info = record.exc_text = None
        return record

    logging.setLogRecordFactory(without_message)
