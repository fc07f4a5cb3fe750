"""The lesson bar in Chromium: a lesson from its first step to its last by the keyboard; a step on a phone by touch."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, wait_run
from tests.browser.test_accessibility import look

FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return `${at.tagName} ${at.type ?? ""} ${at.dataset.does ?? ""} ${at.className}`;
}"""
TOP = "() => document.querySelector('[class*=st-key-section_]').getBoundingClientRect().top"


def bar(page: Page) -> dict[str, Any]:
    """What the bar has been sent."""
    sent: dict[str, Any] = page.locator(".lesson").evaluate("bar => bar.lesson.data")
    return sent


def tab_to(page: Page, *wanted: str) -> None:
    """Go on by the Tab key, to what has all of this."""
    for _ in range(80):
        if all(part in page.evaluate(FOCUSED) for part in wanted):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} is not reached")


def press(page: Page, *keys: str) -> dict[str, Any]:
    for key in keys:
        page.keyboard.press(key)
    wait_run(page)
    return bar(page)


def answer_by_keyboard(page: Page) -> None:
    """Answer the step's question: what is chosen first, then what comes after it, until it is right."""
    asked = bar(page)
    if asked["kind"] == "head":
        tab_to(page, "BUTTON", "reveal")
        press(page, "Enter")
    elif asked["kind"] == "number":
        page.keyboard.type("0.32")
        press(page, "Enter")
    else:
        told = press(page, "Space", "Enter")
        for _ in asked["options"]:
            if told["done"]:
                break
            assert told["verdict"] and told["is_right"] is False, "each wrong answer has its reason"
            told = press(page, "ArrowRight", "Enter")
    assert bar(page)["done"]


def test_a_lesson_is_done_by_the_keyboard_alone(visit):
    page = visit("heads", lesson="ten_minutes", viewport=(1280, 720))
    tab_to(page, "INPUT", "radio")
    status = page.locator(".lesson .said")
    expect(status).to_have_attribute("role", "status")
    expect(status).to_have_attribute("aria-live", "polite")
    look(page)
    for number in range(1, 8):
        assert bar(page)["number"] == number
        expect(page.locator(".st-key-lesson_cover")).to_have_count(0 if number == 5 else 1)
        answer_by_keyboard(page)
        expect(status).to_contain_text(bar(page)["reveal"])
        expect(page.locator(".st-key-lesson_cover")).to_have_count(0)
        assert page.evaluate(TOP) < 500, "the picture begins on the first screen"
        assert "A" in page.evaluate(FOCUSED).split() and "main" in page.evaluate(FOCUSED), "the way on has the keyboard"
        page.keyboard.press("Enter")
        wait_run(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Lessons")
    expect(page.locator("ol.lessons")).to_contain_text("7 of 7")
    page.go_back()
    wait_run(page)
    assert (bar(page)["number"], bar(page)["done"]) == (7, "right"), "Back leads to the step, which is done"


def test_on_a_phone_a_step_is_answered_explored_and_come_back_to(visit):
    page = visit("lessons", viewport=PHONE, scheme="dark")
    page.get_by_role("link", name="Attention in ten minutes").click()
    wait_run(page)
    box = page.locator(".lesson").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0]
    for part in page.locator(".lesson :is(button, label, a)").all():
        assert part.bounding_box()["height"] >= 24, "a finger's width"
    page.get_by_role("radio", name="street", exact=True).check()
    page.get_by_role("button", name="Check").click()
    wait_run(page)
    expect(page.locator(".lesson .said")).to_contain_text("“street” gets 0.05")
    page.get_by_role("button", name="Hint").click()
    wait_run(page)
    expect(page.locator(".lesson .said")).to_contain_text("Hint:")
    page.get_by_role("radio", name="All heads").click()
    wait_run(page)
    expect(page.locator(".lesson")).to_contain_text("You are exploring")
    page.get_by_role("link", name="Back to the step").click()
    wait_run(page)
    assert page.locator(".lesson .option input:checked").evaluate("input => input.value") == "8", (
        "the answer is still there"
    )
    page.get_by_role("button", name="Show the answer").click()
    wait_run(page)
    expect(page.locator(".lesson .said")).to_contain_text("0.68")
    expect(page.locator(".stPlotlyChart")).to_have_count(1)
