"""The parameters that all pages share."""

import pytest

from viz.frame.links import see
from viz.modes.share import panel
from viz.text import translator
from viz.text.glossary import terms

T = translator("en")


@pytest.fixture
def open_with_panel(open_app, monkeypatch):
    """Open a page, and return what its share panel sends, and the link of the term "token"."""
    messages = []

    def offer(t, page):
        with monkeypatch.context() as patch:
            patch.setattr(panel.SHARE, "mount", lambda *, data, **_: messages.append(data))
            panel._draw(t, page)
        messages.append(see(t, "en", terms()["token"]))

    monkeypatch.setattr(panel, "offer", offer)

    def open_mode(name, **link):
        messages.clear()
        open_app(name, **link)
        return messages

    return open_mode


def test_share_panel_names_open_section(open_with_panel):
    """The panel's title and its step of a lesson are those of the section that is open."""
    data, _ = open_with_panel("heads", section="joined")
    assert data["title"] == f"{T('heads.joined.title')} · Headlight"
    assert data["step"]["section"] == "joined"


def test_share_panel_without_section(open_with_panel):
    """A page that has no sections, and one that shows all of them, are passed on by their own title."""
    for page, link in (("glossary", {}), ("heads", {"section": "all"})):
        data, _ = open_with_panel(page, **link)
        assert (data["title"], data["step"]) == (f"{T(f'{page}.title')} · Headlight", None)


def test_term_of_open_section_unlinked(open_with_panel):
    """A term links to the section where it can be touched, except in that section."""
    *_, last_message = open_with_panel("heads", section="all_heads")
    *_, elsewhere = open_with_panel("heads", section="joined")
    *_, other_page = open_with_panel("glossary")
    assert last_message == "" and "all_heads" in elsewhere and "<a" in other_page
