"""Terms in a browser: their pop-overs by pointer, finger and keyboard, and the links that lead on from them."""

import pytest
from playwright.sync_api import expect

from tests.browser.drive import PHONE, wait_run
from viz.text.glossary import terms

OPEN = "[popover]:popover-open"


@pytest.mark.fast
def test_term_opens_by_keyboard(page, app_url):
    """A term opens by the keyboard and leads on with the typed text."""
    loads = []
    page.on("load", lambda page_: loads.append(page_.url))
    page.goto(f"{app_url}/masks?section=mistakes&text=a+zebra+ran&layer=5&head=7&mask=window")
    wait_run(page)
    term, note = page.get_by_role("button", name="softmax", exact=True), page.locator("#term_softmax")
    term.focus()
    page.keyboard.press("Enter")
    expect(note).to_be_visible()
    expect(note).to_contain_text(terms()["softmax"].says["en"])
    assert note.evaluate("note => note.parentElement.role") == "status", "what is shown there is read out"
    page.keyboard.press("Escape")
    expect(page.locator(OPEN)).to_have_count(0)
    expect(term).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(note.get_by_role("link")).to_be_focused()
    page.keyboard.press("Enter")
    wait_run(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Step by step")
    expect(page.get_by_role("radio", name="Your text")).to_be_checked()
    expect(page.locator(".st-key-text textarea")).to_have_value("a zebra ran")
    link = {"section=steps", "text=a+zebra+ran", "layer=5", "mask=window", "head=7"}
    page.wait_for_function(
        "link => new Set(location.search.slice(1).split('&')).symmetricDifference(new Set(link)).size === 0",
        arg=[*link],
    )
    page.go_back()
    wait_run(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Masks")
    expect(page.locator(".st-key-text textarea")).to_have_value("a zebra ran")
    assert len(loads) == 1, "one visit"


def test_term_opens_on_phone_tap(visit):
    """On a phone a term opens on a tap, within the screen, and closes on a tap beside it."""
    page = visit("masks", section="mistakes", lang="zh", viewport=PHONE, scheme="dark", source="words", text="我 爱 猫")
    terms = page.locator(".says [popovertarget]").all()
    assert len(terms) > 1
    for term in terms:
        term.click()
        box = page.locator(OPEN).bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0] and box["y"] + box["height"] <= PHONE[1]
        page.mouse.click(5, 300)
        expect(page.locator(OPEN)).to_have_count(0)


def test_embedded_term_opens_new_tab(visit):
    """In an embedded page a term leads to Headlight in a new tab."""
    page = visit("masks", section="mistakes", embed="true", text="a zebra ran", source="words", seed=7)
    page.locator("[popovertarget=term_score]").click()
    with page.context.expect_page() as new_tab:
        page.locator(f"{OPEN} a").click()
    link = new_tab.value.url.partition("?")[2].split("&")
    assert {"section=steps", "text=a+zebra+ran", "source=words", "seed=7"} <= set(link)
    assert not any("embed" in part for part in link)
    expect(page.locator(".st-key-section_mistakes")).to_be_visible()
