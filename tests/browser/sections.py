"""The height of a section, and the place of its picture: measured where every section of a page is open anyway."""

from playwright.sync_api import Page, expect

from tests.browser.test_frame import is_wider_than_the_window

SCREEN = (1280, 720)
TALLEST = 2_000
"""Pixels a section may be high, with what stands above it."""

PICTURE = ":is(canvas, .js-plotly-plot, table, .stDataFrame, .block, .sharing, .kv-cache, .shapes, .paths)"
LINKS = {"block": {"block": "both"}, "convolution": {"learned": 40}}
"""Parameters with which a page's sections are longest."""
SHOWS_MORE = {"step_by_step": {"steps"}, "heads": {"all_heads"}, "masks": {"editor", "mistakes"}}
"""Sections that show all their parts on a whole page, and one of them alone."""


def begins_on_the_first_screen(page: Page, section: str) -> None:
    picture = page.locator(f".st-key-section_{section} {PICTURE} >> visible=true").first
    expect(picture).to_be_visible()
    box, content_height = (
        picture.bounding_box(),
        page.locator(".stMainBlockContainer").evaluate("main => main.scrollHeight"),
    )
    assert box
    assert box["y"] < SCREEN[1], section
    assert content_height < TALLEST, section
    assert is_wider_than_the_window(page) == [], section


AROUND = """() => {
    const main = document.querySelector('[data-testid=stMain]'), block = main.querySelector('.stMainBlockContainer');
    const all = [...document.querySelectorAll('[class*="st-key-section_"]')].map((one) => one.getBoundingClientRect());
    return [all[0].top + main.scrollTop, block.getBoundingClientRect().bottom - all.at(-1).bottom];
}"""
"""The elements above all sections of a page, and below them."""


def is_low_and_begins_on_the_first_screen(page: Page, section: str) -> None:
    """Of a page with all its sections: as high as this one would be alone, with what stands around all of them."""
    above, below = page.evaluate(AROUND)
    assert above > 100, "title, text and chips"
    section_box = page.locator(f".st-key-section_{section}")
    picture = section_box.locator(f"{PICTURE} >> visible=true").first
    expect(picture).to_be_visible()
    place, picture_box = section_box.bounding_box(), picture.bounding_box()
    assert place and picture_box
    assert above + picture_box["y"] - place["y"] < SCREEN[1], section
    assert above + place["height"] + below < TALLEST, (section, above, place, below)
    assert is_wider_than_the_window(page) == [], section
