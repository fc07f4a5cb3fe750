"""A run begins where Streamlit takes the folder of pages for its old kind of app, and where it does not."""

from types import SimpleNamespace

import pytest

from viz.frame.connection import runs


@pytest.mark.parametrize(("taken", "calls"), [(True, ["pages_are_no_scripts", "rerun"]), (False, [])])
def test_begin_run_with_old_pages_reruns(monkeypatch, taken, calls):
    """Once for the process: the run after it is one of the app's own."""
    made = []
    monkeypatch.setattr(runs, "takes_pages_for_scripts", lambda: taken)
    monkeypatch.setattr(runs, "pages_are_no_scripts", lambda: made.append("pages_are_no_scripts"))
    monkeypatch.setattr(runs, "st", SimpleNamespace(rerun=lambda: made.append("rerun")))
    runs.begin_run()
    assert made == calls
