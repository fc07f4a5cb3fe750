"""The steps before and after a step of a presentation."""

import pytest

from viz.modes.present.steps import beside

SECTIONS = {"a": ["x", "y"], "b": ["z"], "c": ["u", "v"]}


@pytest.mark.parametrize(
    ("page", "at", "before", "after"),
    [
        ("a", 0, None, ("a", "y")),
        ("a", 1, ("a", "x"), ("b", "z")),
        ("b", 0, ("a", "y"), ("c", "u")),
        ("c", 1, ("c", "u"), None),
        ("elsewhere", 0, None, ("a", "x")),
    ],
)
def test_neighbours_cross_ends_of_pages(page, at, before, after):
    """The section before and the one after cross the ends of pages."""
    sections = {**SECTIONS, "elsewhere": []}
    assert beside(page, at, list(SECTIONS), sections.__getitem__) == (before, after)
