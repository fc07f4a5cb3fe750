"""A patch of Streamlit that fails gives way to Streamlit's own code, for that session and from then on.

Most patches run between Streamlit and a browser, in the one loop that sends all users their messages: an exception
there would end it for everybody. A session in which one has failed is served without any of them.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from streamlit.logger import get_logger
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

T = TypeVar("T")

FAULTS = Counter[str]()
"""Failures by the patch that failed."""
_MARK = "_headlight_failed"
_log = get_logger(__name__)


def has_failed(session: Any) -> bool:
    """Return whether a patch has failed in this session."""
    return _MARK in session.__dict__


def attempt(
    patch: str,
    session: Any,
    act: Callable[[], T],
    instead: Callable[[], T],
    passes: tuple[type[Exception], ...] = (),
) -> T:
    """Return what a patch gives; if it fails, or one has failed in this session, what Streamlit's own code gives.

    An exception that Streamlit's own code raises as well is no failure of the patch, and is passed on.

    Args:
        patch: its name in the log and in the metrics.
        session: an AppSession, or another object that the patch serves alone.
        act: the patch.
        instead: Streamlit's own code; it may be called after a part of ``act``.
        passes: exceptions that are an answer and no failure.
    """
    if has_failed(session):
        return instead()
    try:
        return act()
    except passes:
        raise
    except Exception as error:
        result = instead()
        session.__dict__[_MARK] = True
        FAULTS[patch] += 1
        # A public server's log has the place alone, without the message, which may quote a user (viz/host/errors.py).
        _log.error("A patch of Streamlit (%s) failed; Streamlit's own code goes on in its place", patch, exc_info=error)
        return result


class _NoSession:
    """Stands for the session where there is none: its browser is gone, or a test runs the script by itself."""


def current_session() -> Any:
    """Return the AppSession whose script runs in this thread."""
    session = None
    with suppress(Exception):  # to look for it must not fail where the patch would work
        context = get_script_run_ctx(suppress_warning=True)
        session = context and Runtime.instance().get_app_session(context.session_id)
    return session or _NoSession()
