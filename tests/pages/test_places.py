"""A section's main control moves nothing that stands beside or below what it changes.

The browser holds what is drawn by its place. Where a sentence comes or goes, all that stands below it in the same
container has another place: it is sent again, and its pictures are made anew. So what is gone leaves ``st.empty()``.
"""

from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1.element_tree import ButtonGroup, Radio, SelectSlider, Slider

from tests.running import walk
from tests.sections import SECTIONS

Shape = list[tuple[str, Any]]


@pytest.fixture
def values(monkeypatch):
    """Options of list controls by key; AppTest sees only their labels."""
    result: dict[str, list[Any]] = {}
    for name in ("segmented_control", "pills", "radio", "select_slider"):
        draw = getattr(st, name)

        def note(label, options, *args, draw=draw, key=None, **more):
            result[key] = [*options]
            return draw(label, options, *args, key=key, **more)

        monkeypatch.setattr(st, name, note)
    return result


def section_of(app, name):
    """The section's container."""
    blocks = (element for element in walk(app.main) if hasattr(element, "children") and element.proto is not None)
    return next((element for element in blocks if getattr(element.proto, "id", "").endswith(f"-section_{name}")), None)


def change_control(section, values) -> bool:
    """Set the section's first control to another value; return False if it has none."""
    for kind in (Slider, SelectSlider, ButtonGroup, Radio):
        for control in walk(section):
            if not isinstance(control, kind) or (control.key or "").startswith("_footer_") or control.proto.disabled:
                continue
            if kind is Slider:
                alternatives = [end for end in (control.min, control.max) if end != control.value]
            else:
                now = control.value if isinstance(control.value, list) else [control.value]
                alternatives = [value for value in values[control.key or ""] if value not in now]
            if alternatives:
                control.set_value(alternatives[:1] if isinstance(control.value, list) else alternatives[0])
                return True
    return False


def shape(block) -> Shape:
    """Types and keys of a block's elements, nested."""
    return [
        (element.type, shape(element) if hasattr(element, "children") else getattr(element, "key", None))
        for _, element in sorted(block.children.items())
    ]


def moved_keys(before: Shape, after: Shape) -> list[str]:
    """Keys whose position changed."""
    keys = [[inside for _, inside in element if isinstance(inside, str)] for element in (before, after)]
    places = [{key: at for at, (_, key) in enumerate(element) if isinstance(key, str)} for element in (before, after)]
    result = [key for key in keys[0] if key in places[1] and places[0][key] != places[1][key]]
    for (kind, inside), (second, then) in zip(before, after, strict=False):
        if kind == second and isinstance(inside, list) and isinstance(then, list):
            result += moved_keys(inside, then)
    return result


@pytest.mark.fast("masks-decoding", "heads-all_heads", "positions-sinusoids")
@pytest.mark.parametrize(("page", "name"), SECTIONS)
def test_control_keeps_other_elements_in_place(page, name, open_app, values):
    app = open_app(page, section=name)
    section = section_of(app, name)
    if section is None or not change_control(section, values):
        return
    before = shape(section)
    app.run()
    assert not app.exception
    assert moved_keys(before, shape(section_of(app, name))) == []
