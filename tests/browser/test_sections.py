"""Every section of every page, one after the other in one tab: how high it is, where it begins, and how wide.

On a phone and a projector at 150 %: tests/browser/test_accessibility.py, which opens every section there anyway.
"""

import pytest
from playwright.sync_api import Page, expect

from pages import PAGES
from tests.browser.drive import eventually, frame, wait_run
from tests.browser.test_frame import is_wider_than_the_window
from tests.sections import page_named
from viz.frame.sidebar import path_of
from viz.text import translator

SCREEN = (1280, 720)
TALLEST = 2_000
"""Pixels a section may be high, with what stands above it."""

PICTURE = (
    ":is(canvas, .js-plotly-plot, table, .stDataFrame, .block, .sharing, .kv-cache, .shapes, .paths, .st-key-measure)"
)
LINKS = {"block": {"block": "both"}, "convolution": {"learned": 40}}
"""What makes a page's sections as long as they get."""


def open_section(page: Page, title: str) -> None:
    """Open a section by its name in the bar, and scroll up to it."""
    page.locator(".st-key-section").get_by_role("radio", name=title, exact=True).click()
    wait_run(page)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    frame(page)


def begins_on_the_first_screen(page: Page, section: str) -> None:
    picture = page.locator(f".st-key-section_{section} {PICTURE} >> visible=true").first
    expect(picture).to_be_visible()
    box, whole = picture.bounding_box(), page.locator(".stMainBlockContainer").evaluate("main => main.scrollHeight")
    assert box
    assert box["y"] < SCREEN[1], section
    assert whole < TALLEST, section
    assert is_wider_than_the_window(page) == [], section


@pytest.mark.parametrize("name", PAGES)
def test_a_section_is_not_high_and_its_picture_is_on_the_first_screen(visit, name):
    page, t = visit(path_of(name), viewport=SCREEN, **LINKS.get(name, {})), translator("en")
    for section in page_named(name).sections:
        if len(page_named(name).sections) > 1:
            open_section(page, t(f"{name}.{section.name}.title"))
        eventually(lambda section=section: begins_on_the_first_screen(page, section.name))
