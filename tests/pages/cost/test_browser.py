"""The Cost page in a real browser: heights and widths, ways between two words, and a measurement that is stopped."""

import pytest
from playwright.sync_api import expect

from tests.browser.drive import PHONE
from tests.browser.test_frame import is_wider_than_the_window
from viz.text import translator

WORDS = "one two three four five six seven eight nine ten eleven twelve"


def panels(page):
    expect(page.locator(".paths .panel[data-drawn]")).to_have_count(5)
    result = page.locator(".paths .panel").evaluate_all("boxes => boxes.map(box => ({...box.dataset}))")
    return {element["name"]: (element["steps"], element["drawn"]) for element in result}


@pytest.mark.fast
def test_the_pointer_chooses_words(visit):
    page = visit("cost", section="paths", source="words", text=WORDS)
    canvas = page.locator(".paths .panel[data-name=recurrence] canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    cell = (box["width"] - 12 - 40) / 12
    canvas.click(position={"x": 12 + 2.5 * cell, "y": 10})
    canvas.hover(position={"x": 12 + 7.5 * cell, "y": 10})
    sentence = translator("en")("cost.path_says", **{"from": "three", "to": "eight", "distance": 5})
    expect(page.locator(".paths .says")).to_have_text(sentence)
    assert panels(page)["recurrence"] == ("5", "5")
    assert panels(page)["self_attention"] == ("1", "1")


def test_words_that_never_meet(visit):
    page = visit("cost", section="paths", source="words", text=WORDS, cost_k=1, lang="zh")
    expect(page.locator(".paths .panel[data-name=convolution] b")).to_have_text(translator("zh")("cost.path_never"))
    assert panels(page)["recurrence"] == ("11", "11")


def test_long_text_scrolls_within_frame(visit):
    page = visit("cost", section="paths", source="words", text=" ".join(["word"] * 200), viewport=PHONE, lang="zh")
    expect(page.locator(".paths .panel")).to_have_count(5)
    sizes = page.locator(".st-key-sizes [data-testid=stElementContainer]").evaluate_all(
        "boxes => boxes.map((box) => box.getBoundingClientRect().y)"
    )
    assert len(sizes) == 4
    assert max(sizes) - min(sizes) < 120, "two rows of two"
    frame = page.locator(".paths .scroll")
    assert frame.evaluate("box => box.scrollWidth > box.clientWidth")
    assert is_wider_than_the_window(page) == []
    assert panels(page)["window"] == ("199", "199")
