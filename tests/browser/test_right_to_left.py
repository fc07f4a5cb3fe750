"""A text from right to left: the box, the strip of its tokens, and a saved file.

Every page is looked at in ``test_accessibility.py``, where it is open anyway.
"""

import re

import pytest
from playwright.sync_api import expect

import viz
from tests.browser.drive import frame, wait_run
from tests.browser.right_to_left import assert_words_are_isolated, record_drawn_words
from tests.browser.test_take_away import READY, maps
from viz.text import translator

TEXTS = {
    "he": ["שלום", "עולם", ",", "2024", "Python", "(של)", "."],
    "ar": ["القطة", "جلست", "على", "12%", "Python", "السجادة", "؟"],
}
"""Words of seven tokens, with signs, numbers and Latin letters among them."""
LEFTS = ".head-grid .token"
PLACES = "tokens => tokens.map(token => token.getBoundingClientRect().left)"


@pytest.mark.parametrize("words", TEXTS.values(), ids=TEXTS)
def test_text_from_right_runs_leftwards(visit, words):
    """Its box and its strip begin at the right; a sign takes the direction of the text, Latin letters keep theirs."""
    page = visit("heads", source="words", text=" ".join(words))
    expect(page.locator(".st-key-text_row textarea")).to_have_css("direction", "rtl")
    tokens = page.locator(LEFTS)
    places = tokens.evaluate_all(PLACES)
    assert places == sorted(places, reverse=True)
    directions = dict(tokens.evaluate_all("tokens => tokens.map(token => [token.textContent, token.dir])"))
    assert directions["Python"] == "ltr"
    assert {way for word, way in directions.items() if word != "Python"} == {"rtl"}


def test_text_from_left_runs_rightwards(visit):
    """A word from right to left in it does not turn it over."""
    page = visit("heads", source="words", text="The word שלום (peace) is Hebrew.")
    expect(page.locator(".st-key-text_row textarea")).to_have_css("direction", "ltr")
    places = page.locator(LEFTS).evaluate_all(PLACES)
    assert places == sorted(places)


def test_saved_file_isolates_words(page, tmp_path):
    """Strip, map, lines and sentences."""
    record_drawn_words(page)
    widget = viz.show(maps(), TEXTS["he"], layer=1, head=2, query=3)
    page.goto(widget.save_html(tmp_path / "heads.html").as_uri())
    page.wait_for_function(READY)
    for name in ("lines", "across", "map"):
        page.locator(f".head-grid [data-code={name}]").click()
        frame(page)
        assert_words_are_isolated(page)
    places = page.locator(LEFTS).evaluate_all(PLACES)
    assert places == sorted(places, reverse=True)


def test_start_takes_text_from_right(visit):
    """The box of the first page, the arcs that it shows, and the page that it leads to."""
    page = visit("")
    box = page.locator(".start form input")
    box.fill("שלום עולם.")
    expect(box).to_have_css("direction", "rtl")
    box.press("Enter")
    expect(page.locator(".start .word").first).to_contain_text("ש")
    places = page.locator(".start .word").evaluate_all(PLACES)
    assert len(places) > 1 and places == sorted(places, reverse=True)
    to_heads = page.locator(".story").get_by_role("link", name=translator("en")("start.story_heads_more"))
    to_heads.scroll_into_view_if_needed()
    expect(to_heads).to_have_attribute("href", re.compile("%D7"))
    to_heads.click()
    wait_run(page)
    expect(page.locator(".st-key-text_row textarea")).to_have_css("direction", "rtl")
