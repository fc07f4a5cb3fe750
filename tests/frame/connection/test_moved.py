"""Links to sections of earlier versions open what those are now."""

import pytest

from tests.sections import SECTIONS
from viz.frame.connection import moved
from viz.frame.connection.moved import NewPlace, moved_sections, where_now


@pytest.fixture
def two_moved(monkeypatch):
    """A section that is on the same page, and one that is on another."""
    table = {
        "block": {"points": NewPlace(section="diagram", parameters={"show": "points"})},
        "step_by_step": {"compare": NewPlace(section="compare", page="heads")},
    }
    monkeypatch.setattr(moved, "moved_sections", lambda: table)


def test_where_now_opens_current_section(two_moved):
    """With what shows there what was asked for, and with all that the link says itself."""
    assert where_now("block", {"section": "points", "head": "2"}) == (
        "block",
        {"section": "diagram", "show": "points", "head": "2"},
    )
    assert where_now("step_by_step", {"section": "compare"}) == ("heads", {"section": "compare"})


def test_where_now_keeps_current_links(two_moved):
    """A section that is there is opened as it stands, and so is a link without one."""
    for page, link in (("block", {"section": "diagram"}), ("heads", {"section": "points"}), ("block", {})):
        assert where_now(page, link) == (page, link)


def test_every_moved_section_leads_somewhere():
    """Each place of now is a section that there is; no place of before is."""
    for page, sections in moved_sections().items():
        for name, where in sections.items():
            assert (where.page or page, where.section) in SECTIONS, (page, name)
            assert (page, name) not in SECTIONS


def test_where_now_reads_old_links(monkeypatch):
    """A link that names no section means the one whose parameter it carries; "name=value" is gone from it then."""
    table = {
        "heads": {"row": NewPlace(section="all_heads", parameters={"heads_view": "row"}, asked=("part=row",))},
        "masks": {"too_late": NewPlace(section="mistakes", asked=("mask_late",))},
    }
    monkeypatch.setattr(moved, "moved_sections", lambda: table)
    assert where_now("heads", {"part": "row", "query": "3"}) == (
        "heads",
        {"section": "all_heads", "heads_view": "row", "query": "3"},
    )
    assert where_now("heads", {"part": "off"}) == ("heads", {"part": "off"})
    assert where_now("masks", {"mask_late": "1"}) == ("masks", {"section": "mistakes", "mask_late": "1"})
    assert where_now("masks", {"mask_late": "1", "section": "editor"})[1]["section"] == "editor"
