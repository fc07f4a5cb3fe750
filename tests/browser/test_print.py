"""On paper: nothing to press, nothing cut off, and of a lesson's step a sheet with room to write."""

import re

from playwright.sync_api import Page, expect

from tests.browser.drive import frame, wait_run
from viz.text import translator

T = translator("en")
PAPER = {"A4": (794, 1123), "Letter": (816, 1056)}
"""In CSS pixels, 96 to the inch."""


def pages(page: Page, paper: str) -> int:
    """How many sheets a page takes."""
    return len(re.findall(rb"/Type /Page\b", page.pdf(format=paper)))


def is_cut_off(page: Page) -> list[str]:
    """What reaches beyond the paper; where plotly takes the pointer is nothing to see."""
    return page.evaluate("""() => [...document.querySelectorAll('.stMain *')]
        .filter((node) => node.checkVisibility() && !node.closest('.draglayer'))
        .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
        .map((node) => node.outerHTML.slice(0, 80))""")


def test_a_step_is_a_worksheet_and_with_its_answer_a_key(visit):
    page = visit("heads", lesson="ten_minutes", lesson_step=1)
    page.emulate_media(media="print")
    bar, cover = page.locator(".lesson"), page.locator(".st-key-lesson_cover")
    expect(bar.get_by_text("Which word does “it” look at most")).to_be_visible()
    expect(bar.locator(".option").first).to_be_visible()
    for away in (".lesson button", ".st-key-section", ".st-key-neighbours", '[data-testid="stSidebar"]'):
        expect(page.locator(away).first).not_to_be_visible()
    expect(cover.get_by_text(T("lesson.covered"))).to_have_css("visibility", "hidden")
    assert cover.bounding_box()["height"] > 300, "room to write"
    expect(page.locator(".stPlotlyChart")).to_have_count(0)
    for paper, (width, height) in PAPER.items():
        page.set_viewport_size({"width": width - 106, "height": height})  # what the margins leave
        frame(page)
        assert (is_cut_off(page), pages(page, paper)) == ([], 1)
    page.emulate_media(media="screen")
    bar.locator("[data-does=reveal]").click()
    wait_run(page)
    page.emulate_media(media="print")
    expect(bar.get_by_text("of its attention")).to_be_visible()
    expect(page.locator(".stPlotlyChart")).to_be_visible()
    frame(page)
    assert (is_cut_off(page), pages(page, "Letter")) == ([], 1)
