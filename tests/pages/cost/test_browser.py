"""The Cost page in a real browser: heights and widths, ways between two words, and a measurement that is stopped."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.drive import PHONE
from tests.browser.test_frame import is_wider_than_the_window
from tests.sections import link_to
from viz.core.cost.architectures import ARCHITECTURES, Sizes
from viz.text import translator

WORDS = "one two three four five six seven eight nine ten eleven twelve"


@pytest.mark.parametrize(("section", "box"), [("table", ".stMarkdown:has(table)"), ("heads", ".dvn-scroller")])
def test_wide_table_shows_scroll_shadow(visit, section, box):
    """A shadow stands at its right edge until it has been moved to its end."""
    table = visit("cost", **link_to("cost", section), viewport=PHONE).locator(box).first
    expect(table).to_have_css("box-shadow", re.compile("-24px"))
    table.evaluate("box => box.scrollTo({left: box.scrollWidth})")
    expect(table).to_have_css("box-shadow", re.compile(r"none|rgba\(0, 0, 0, 0\)"))


def panels(page):
    expect(page.locator(".paths .panel[data-drawn]")).to_have_count(5)
    result = page.locator(".paths .panel").evaluate_all("boxes => boxes.map(box => ({...box.dataset}))")
    return {element["name"]: (element["steps"], element["drawn"]) for element in result}


def choose(page, **ends):
    for end, place in ends.items():
        page.locator(f".paths select[data-end={end}]").select_option(str(place))


@pytest.mark.parametrize("k", [3, 7])
def test_path_lengths_equal_core(visit, k):
    page = visit("cost", section="paths", source="words", text=WORDS, cost_k=k)
    sizes = Sizes(n=12, d=1, k=k)
    for start, end in ((0, 11), (11, 0), (4, 4), (3, 5), (9, 2)):
        choose(page, **{"from": start, "to": end})
        steps = {element.name: str(element.steps(sizes, abs(end - start))) for element in ARCHITECTURES}
        assert panels(page) == {name: (count, count) for name, count in steps.items()}


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


def test_one_word(visit):
    page = visit("cost", section="paths", source="words", text="one")
    assert panels(page) == {element.name: ("0", "0") for element in ARCHITECTURES}
