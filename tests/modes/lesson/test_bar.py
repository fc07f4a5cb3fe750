"""The lesson bar in Chromium: a step by the keyboard, and one on a phone; of all of them is test_every_lesson.py."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, wait_run
from tests.browser.test_accessibility import look
from viz.text import translator

T = translator("en")
TOP = "() => document.querySelector('[class*=st-key-section_]').getBoundingClientRect().top"


def bar(page: Page) -> dict[str, Any]:
    """The data of the bar."""
    data: dict[str, Any] = page.locator(".lesson").evaluate("bar => bar.lesson.data")
    return data


@pytest.mark.fast
def test_answers_show_reason_or_picture(visit):
    """A wrong answer gets its reason; the right one shows the picture on the first screen."""
    page = visit("heads", lesson="ten_minutes", viewport=(1280, 720))
    status = page.locator(".lesson .said")
    expect(status).to_have_attribute("role", "status")
    expect(status).to_have_attribute("aria-live", "polite")
    look(page)
    page.locator(".lesson").get_by_role("radio").first.focus()
    for key in ("Space", "Enter"):
        page.keyboard.press(key)
    wait_run(page)
    state = bar(page)
    assert state["verdict"] and state["is_right"] is False
    expect(status).to_contain_text(state["verdict"])
    for key in ("ArrowRight", "Enter"):
        page.keyboard.press(key)
    wait_run(page)
    assert bar(page)["done"] == "right"
    assert page.evaluate(TOP) < 500, "the picture begins on the first screen"


def test_step_on_phone_is_resumed(visit):
    """On a phone a step is answered, explored and resumed."""
    page = visit("lessons", viewport=PHONE, scheme="dark")
    page.locator("ol.lessons").get_by_role("link", name="Reading real heads").click()
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
    expect(page.locator(".st-key-tabs")).to_be_hidden()
    page.get_by_role("button", name="Explore").click()
    wait_run(page)
    page.locator(".st-key-tabs").get_by_role("radio").nth(1).click()
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
    expect(page.locator(".bars")).to_have_count(1)


def test_second_answer_after_return_counts(visit):
    """A step that was answered wrongly, left for the lessons, and opened again by Back; its card knows it for good."""
    page = visit("lessons")
    page.locator("ol.lessons").get_by_role("link", name="One head by hand").click()
    wait_run(page)
    field, check = page.locator(".lesson fieldset input"), page.get_by_role("button", name="Check")
    field.fill("7")
    check.click()
    wait_run(page)
    assert bar(page)["verdict"] and not bar(page)["done"]
    page.locator(".lesson").get_by_role("link", name="All lessons").click()
    expect(page.locator("ol.lessons")).to_be_visible()
    wait_run(page)
    page.go_back()
    wait_run(page)
    expect(field).to_have_value("7")
    field.fill("3")
    check.click()
    wait_run(page)
    assert bar(page)["done"] == "right"
    page.goto(page.url.partition("?")[0].replace("step-by-step", "lessons?lang=en"))
    card = page.locator("ol.lessons li.next")
    expect(card).to_contain_text(f"{T('lessons.card.go_on')}One head by hand")
    expect(card).to_contain_text(T("lessons.card.done", done=1, steps=6))
    expect(card.locator("a.alone")).to_have_attribute("href", re.compile("lesson=one_head&lesson_step=2"))
