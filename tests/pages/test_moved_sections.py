"""Links to sections of earlier versions, opened in the app."""

import pytest

from viz.frame.connection.moved import moved_sections

MOVED_SECTIONS = [
    (page, name, place)
    for page, sections in moved_sections().items()
    for name, place in sections.items()
    if not place.page  # to open another page takes a browser
]


@pytest.mark.parametrize(
    ("page", "name", "target"), MOVED_SECTIONS, ids=[f"{page}-{name}" for page, name, _ in MOVED_SECTIONS]
)
@pytest.mark.usefixtures("without_source_checks")
def test_moved_section_opens_where_it_is(open_app, page, name, target):
    """The section of now is open, with the switches set, and the link says so in today's words."""
    app = open_app(page, section=name)
    assert not app.exception
    assert app.session_state["section"] == target.section
    for parameter, value in target.parameters.items():
        state = app.session_state[parameter]
        assert str(int(state) if isinstance(state, bool) else state) == value
    assert app.query_params.get("section", target.section) in (target.section, [target.section])
