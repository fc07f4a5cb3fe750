"""The window with a presenter's notes, opened without a presentation."""

import json

import pytest

from pages import FIRST
from viz.components.view import component_name
from viz.text import LANGUAGES, translator

NOTES = component_name("present/notes")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", [FIRST, "heads", "glossary"])
def test_notes_alone_say_so(open_app, page, lang):
    """The view is sent the sentence that it shows until a presentation answers; it draws it in a shadow root."""
    app = open_app(page, notes=1, lang=lang)
    views = [view.proto for view in app.get("bidi_component") if view.proto.component_name == NOTES]
    assert [json.loads(view.json)[0]["words"]["alone"] for view in views] == [translator(lang)("present.bar_alone")]
    assert not app.exception and not app.error
