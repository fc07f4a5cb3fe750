"""The log of a public server holds the location of an error, and no user's text or session id."""

import logging

import pytest

from viz.host import errors
from viz.host.errors import redact_log
from viz.text import translator

SESSION = "9972244e-270a-4eab-b5e9-ddfea1f13b7e"


@pytest.fixture
def log(caplog):
    make = logging.getLogRecordFactory()
    redact_log()
    yield caplog
    logging.setLogRecordFactory(make)


def test_log_omits_session_id(log):
    """Streamlit logs the id when a browser reconnects; a reader of the log could resume that session."""
    logger = logging.getLogger("test")
    logger.warning("Session with id %s is already connected! Reconnecting to existing session.", SESSION)
    logger.error(f"PUT /_stcore/upload_file/{SESSION.upper()}/{SESSION}")
    try:
        raise KeyError(SESSION)
    except KeyError:
        logger.exception("Lost %s", SESSION)
    assert SESSION not in log.text.lower()
    assert "Session with id (a session) is already connected!" in log.text
    assert log.text.count("(a session)") == 4
    assert "Lost (a session): KeyError in " in log.text


def test_unreadable_record_is_no_error(log):
    """The code that logs goes on; Python's own handlers contain such an error too."""
    logging.getLogger("test").warning("%d of them", "what a user typed")
    assert "a record that cannot be read" in log.text and "user" not in log.text


def test_other_records_stay_as_they_are(log):
    logging.getLogger("test").warning("%d examples computed in %.1f s", 7, 1.25)
    assert log.records[-1].args == (7, 1.25)
    assert "7 examples computed in 1.2 s" in log.text


def test_unknown_language_error_is_english(monkeypatch):
    """The browser says which it is, and what goes wrong may go wrong before the page has looked at that."""
    alerts = []
    monkeypatch.setattr(errors.st, "session_state", {"lang": "../../okapi"})
    monkeypatch.setattr(errors.st, "error", alerts.append)
    assert errors.on_script_error(ValueError())
    assert alerts == [translator("en")("error.failed", kind="ValueError")]
