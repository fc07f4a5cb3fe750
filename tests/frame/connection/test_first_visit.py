"""The first visitor of a server comes by a link that Streamlit does not understand yet."""

from types import SimpleNamespace

import pytest

from viz.frame.connection import first_visit

NEEDED = {"start": [], "masks": ["viz.frame.page", "pages.masks.page"]}
STREAMLIT = (
    "work_less",
    "send_changes_only",
    "tidy_after_the_last_run",
    "send_together",
    "pages_are_no_scripts",
)


class EndError(Exception):
    """The run ends here."""


def end() -> None:
    raise EndError


@pytest.mark.parametrize(
    ("path", "opened", "imported"),
    [
        ("base/masks", ["base/masks?text=a"], [("viz.frame.page", "pages.masks.page")]),
        ("start", ["start?text=a"], []),
        ("nowhere", [], []),
        ("", [], []),
    ],
)
def test_the_page_is_opened_once_more_and_what_it_needs_imported_meanwhile(monkeypatch, path, opened, imported):
    asked, begun = [], []
    for name in STREAMLIT:
        monkeypatch.setattr(first_visit, name, lambda: None)
    monkeypatch.setattr(first_visit, "takes_pages_for_scripts", lambda: True)
    monkeypatch.setattr(first_visit.loading, "begin_to_import", lambda *modules: begun.append(modules))
    monkeypatch.setattr(first_visit, "mount", lambda _, key, data: asked.append(data["address"].removeprefix("/")))
    context = SimpleNamespace(url=f"http://127.0.0.1:8501/{path}")
    link = SimpleNamespace(to_dict=lambda: {"text": "a"})
    monkeypatch.setattr(first_visit, "st", SimpleNamespace(context=context, query_params=link, stop=end, rerun=end))
    with pytest.raises(EndError):
        first_visit.use_own_pages(NEEDED)
    assert (asked, begun) == (opened, imported)
