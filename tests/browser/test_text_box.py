"""The text box: Enter applies what was typed, also on a phone; Shift and Enter begin a line."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.drive import PHONE, address, answered, wait_run

BOXES = {
    "text": ("masks", {"source": "words", "text": "one two"}),
    "target": ("two-sequences", {"source": "words", "section": "cross_attention"}),
    "text_b": ("heads", {"section": "compare", "text": "one two"}),
}
"""Boxes for a text, and where each is."""


def open_box(page: Page, url: str, name: str = "text") -> Locator:
    path, link = BOXES[name]
    page.goto(address(url, path, **link))
    wait_run(page)
    box = page.locator(f".st-key-{name} textarea")
    box.click()
    box.press("End")
    return box


@pytest.mark.fast("text")
@pytest.mark.parametrize("name", BOXES)
def test_enter_applies_typed_text(app_url, new_page, name):
    page = new_page()
    box = open_box(page, app_url, name)
    page.keyboard.type(" three")
    expect(page.get_by_test_id("InputInstructions").locator("visible=true")).to_have_count(0)
    page.keyboard.press("Enter")
    wait_run(page)
    expect(page).to_have_url(re.compile(rf"{name}=[^&]*[+]three(&|$)"))
    expect(box).to_be_focused()
    page.keyboard.type(" four")
    expect(box).to_have_value(re.compile("three four$"))


def test_shift_enter_begins_a_line(app_url, new_page):
    page = new_page()
    box = open_box(page, app_url)
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("three")
    answered(page)
    expect(box).to_have_value("one two\nthree")
    assert "three" not in page.url
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("three"))


def test_enter_on_phone_applies_text(app_url, new_page):
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    box = open_box(page, app_url)
    page.keyboard.type(" three")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("text=one[+]two[+]three"))
    expect(box).not_to_be_focused()


def test_enter_while_composing_applies_nothing(app_url, new_page):
    """An input method's Enter takes over what it has composed; the next one applies."""
    page = new_page()
    box = open_box(page, app_url)
    devices = page.context.new_cdp_session(page)
    devices.send("Input.imeSetComposition", {"text": "ni hao", "selectionStart": 6, "selectionEnd": 6})
    devices.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Enter", "windowsVirtualKeyCode": 229})
    answered(page)
    expect(box).to_be_focused()
    assert "text=one+two&" in f"{page.url}&"
    devices.send("Input.insertText", {"text": "你好"})
    expect(box).to_have_value("one two你好")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("%E4%BD%A0%E5%A5%BD"))
