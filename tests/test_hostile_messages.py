"""Messages of views, on the pages that show them: valid ones that ask for too much, and invalid ones."""

import json
import random
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from tests.components.test_view import SENDING
from tests.messages import example, hostile
from viz.components.view import component_name
from viz.text import translator

SMALL = {"source": "words", "text": "one two three", "d_model": 8, "n_heads": 2, "lang": "en"}
PLACES: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "head_grid/head_grid": (("heads", SMALL),),
    "compare/compare": (("heads", {"section": "compare", "text_b": "one two", "lang": "en"}),),
    "matrix/matrix": (("next_word", {"section": "attribution", "lang": "en"}),),
    "maps/maps": (("masks", SMALL), ("positions", SMALL | {"section": "encodings"})),
    "masks/mask_painter": (("masks", SMALL),),
    "long/long_map": (("long_text", SMALL | {"section": "map"}),),
    "long/long_wall": (("long_text", SMALL | {"section": "wall"}),),
    "convolution/quadratic_heads": (
        ("convolution", SMALL | {"section": "windows"}),
        ("convolution", SMALL | {"section": "picture"}),
    ),
    "convolution/patch_heads": (("convolution", SMALL | {"section": "vision"}),),
    "positions/sinusoids": (("positions", SMALL | {"section": "sinusoids"}),),
    "step_by_step/three_words": (
        ("step_by_step", {"section": "three_words", "step": 3, "lang": "en"}),
        ("step_by_step", {"section": "own_numbers", "lang": "en"}),
    ),
    "next_word/word_grid": (("next_word", {"lang": "en"}),),
    "block/block": (("block", SMALL),),
    "start/arcs": (("start", {"lang": "en"}),),
    "start/story": (("start", {"lang": "en"}),),
    "lesson/lesson_bar": (("heads", {"lesson": "ten_minutes", "lesson_step": 1, "lang": "en"}),),
    "present/presenter": (("masks", SMALL | {"present": 1}),),
}
ON_NO_PAGE = {"share/share"}
"""Views that stand in what a click opens; ``tests/components/test_view.py`` sends to them, too."""
KINDS = {component_name(view.name): view.sends for view in SENDING}
ROUNDS = 3


def send(app: AppTest, message: Any) -> AppTest:
    """Run a page with ``message(kind)`` as the state of each message of each of its views."""
    widget_states = WidgetStates()
    for view in app.get("bidi_component"):
        if kinds := KINDS.get(view.proto.component_name):
            states = {name: message(kind) for name, kind in kinds.items()}
            widget_states.widgets.add(id=view.proto.id, json_value=json.dumps(states))
    return app._run(widget_states)


def test_every_sending_view_has_a_page():
    """A view that is new stands on no page here, and this says so."""
    assert PLACES.keys() | ON_NO_PAGE == {view.name for view in SENDING}


@pytest.mark.parametrize(
    ("name", "page", "link"), [(name, *place) for name, places in PLACES.items() for place in places]
)
def test_page_hostile_messages_change_nothing(open_app, name, page, link):
    """No exception; what is out of range is refused nowhere as a link, as no parameter has taken it over."""
    app, chance = open_app(page, **link), random.Random(name)
    assert component_name(name) in [view.proto.component_name for view in app.get("bidi_component")]
    before = dict(app.query_params)
    for _ in range(ROUNDS):
        send(app, lambda kind: chance.choice([value for value in hostile(kind) if not _is_message(kind, value)]))
        assert not app.exception, [value.message for value in app.exception]
        assert dict(app.query_params) == before
    send(app, lambda kind: {"value": example(kind, last=True), "sent": 1})
    assert not app.exception, [value.message for value in app.exception]
    after = {key: app.query_params[key] for key in app.query_params}
    note = translator("en")("note.refused", names="")
    again = open_app(page, **{**link, **after})
    assert not again.exception
    assert [value.value for value in again.info if value.value.startswith(note[:12])] == [], after


def _is_message(kind: Any, state: Any) -> bool:
    """Return whether a state happens to be a message that fits."""
    if not isinstance(state, dict) or type(state.get("sent")) is not int or not 0 <= state["sent"] < 2**53:
        return False
    try:
        kind(state.get("value"))
    except ValueError:
        return False
    return True
