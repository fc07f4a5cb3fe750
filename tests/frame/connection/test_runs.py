"""A run begins where Streamlit still takes the folder of pages for its old kind of app, and where it does not."""

from types import SimpleNamespace

import pytest

from viz.frame.connection import runs

LESS = ("work_less", "send_changes_only", "tidy_after_the_last_run", "send_together")


@pytest.mark.parametrize(("own", "told"), [(False, [*LESS, "pages_are_no_scripts", "rerun"]), (True, list(LESS))])
def test_a_run_that_streamlit_took_for_another_kind_is_begun_again(monkeypatch, own, told):
    said = []
    for name in (*LESS, "pages_are_no_scripts"):
        monkeypatch.setattr(runs, name, lambda name=name: said.append(name))
    monkeypatch.setattr(runs, "takes_pages_for_scripts", lambda: not own)
    monkeypatch.setattr(runs, "st", SimpleNamespace(rerun=lambda: said.append("rerun")))
    runs.begin_run()
    assert said == told
