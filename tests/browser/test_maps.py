"""Maps side by side: a choice is drawn into the existing canvases, and reading by keyboard continues."""

import pytest
from playwright.sync_api import expect

from tests.browser.drive import wait_run

SAME = "({ maps: { panels } }, before) => panels.every(({ picture }, i) => picture === before[i])"
PLACES = "({ maps: { panels } }) => panels.map(({ picture }) => picture)"


@pytest.mark.parametrize("by", ["keyboard", "pointer"])
def test_selected_map_keeps_focus(visit, by):
    """A selected map keeps the focus and is read off further."""
    page = visit("positions", section="encodings", source="words", text="a b c")
    maps = page.locator(".st-key-section_encodings .maps")
    picture, value = maps.locator(".picture").nth(2), maps.locator(".value").nth(2)
    expect(picture).to_have_attribute("aria-pressed", "false")
    before = maps.evaluate_handle(PLACES)
    if by == "keyboard":
        picture.focus()
        for key in ("ArrowDown", "ArrowDown", "Enter"):
            page.keyboard.press(key)
    else:
        picture.click()
    read = value.inner_text()
    assert read
    wait_run(page)
    expect(picture).to_have_attribute("aria-pressed", "true")
    assert maps.evaluate(SAME, before)
    expect(picture).to_be_focused()
    expect(value).to_have_text(read)


def test_new_numbers_have_their_own_names(visit):
    """Other numbers in the same places are drawn under their own names."""
    page = visit("positions", section="encodings", source="words", text="a b c")
    maps = page.locator(".st-key-section_encodings .maps")
    pixels = "({ maps: { panels } }) => panels.map(({ canvas }) => canvas.toDataURL())"
    expect(maps.locator(".name").first).to_be_visible()
    names, before = maps.locator(".name").all_inner_texts(), maps.evaluate(pixels)
    places = maps.evaluate_handle(PLACES)
    assert len(set(names)) == len(names) == len(set(before))
    page.locator(".st-key-look_at").get_by_role("radio").nth(1).click()
    wait_run(page)
    assert maps.evaluate("({ maps: { data } }) => data.what") == "scores"
    assert maps.locator(".name").all_inner_texts() == names
    assert not set(maps.evaluate(pixels)) & set(before)
    assert maps.evaluate(SAME, places)
