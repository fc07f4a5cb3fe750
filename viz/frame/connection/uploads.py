"""Files that users upload. Streamlit keeps them in the memory of one server, and not for good."""

from typing import Any

import streamlit as st

from viz.params.memory import Remembered
from viz.text import Translate


def file_uploader(label: str, key: str, **options: Any) -> None:
    """Draw the control for a file; :func:`uploaded_bytes` reads what is uploaded."""
    st.file_uploader(label, key=key, **options)


def uploaded_bytes(key: str) -> bytes | None:
    """Return the uploaded file; None if there is none, or if it is lost."""
    file = _uploaded_file(key)
    return None if file is None or is_lost(key) else file.getvalue()


def is_lost(key: str) -> bool:
    """Return True if the browser shows a file that this server does not have.

    It was sent to another replica, or the browser was away for longer than files are kept. Streamlit then has a
    placeholder for the file, which has no content.
    """
    file = _uploaded_file(key)
    return file is not None and not hasattr(file, "getvalue")


def _uploaded_file(key: str) -> Any:
    return Remembered(key, default=None).read()


def say_missing(t: Translate, key: str, none: str) -> None:
    """Say that there is no file: that it is lost, or the sentence ``none`` where nothing was uploaded."""
    if is_lost(key):
        st.warning(t("error.upload_lost"))
    else:
        st.caption(t(none))
