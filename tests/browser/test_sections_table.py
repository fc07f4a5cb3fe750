"""The place of a picture, and that the first screen shows all of it, as the table of all sections measures it."""

import pytest

from tests.browser.drive import address, eventually, wait_run
from tools.sections_table import BEGINS_BY, SIZES, measure
from viz.frame.sidebar import path_of

HIGH = (("block", "diagram"), ("positions", "real_head"), ("heads", "arrivals"))
"""Sections that stack nothing above their picture: a page's first, one with a text, two without."""
FITTED = (("heads", "all_heads"), ("heads", "joined"), ("masks", "decoding"), ("stacking", "gradient"))
"""One for each kind of picture that fits into the window: maps, a matrix, a picture of its own, a chart."""


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("name", "section"), HIGH)
def test_first_picture_begins_high(app_url, new_page, name, section, size):
    page = new_page(viewport=size)
    page.goto(address(app_url, path_of(name), section=section))
    wait_run(page)
    box = measure(page, section)
    assert box.top is not None
    assert box.top <= BEGINS_BY[size[0]]


@pytest.mark.parametrize(("name", "section"), FITTED)
def test_picture_fits_into_the_window(app_url, new_page, name, section):
    """It is whole on the first screen, and follows a lower window; where there is room it is as large as before."""
    page = new_page(viewport=(1280, 720))
    page.goto(address(app_url, path_of(name), section=section))
    wait_run(page)
    assert measure(page, section).is_whole
    page.set_viewport_size({"width": 1280, "height": 660})

    def has_followed() -> None:
        lower = measure(page, section)
        assert lower.is_whole

    eventually(has_followed)
    heights = []
    for high in (2000, 3000):
        page.set_viewport_size({"width": 1280, "height": high})
        page.wait_for_timeout(300)
        box_ = measure(page, section)
        assert box_.top is not None and box_.bottom is not None
        heights.append(box_.bottom - box_.top)
    assert heights[0] == heights[1]
