"""One's own lesson in Chromium: put together from any page, kept by the browser alone, passed on, given by keyboard."""

from random import Random

from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, eventually, wait_run
from tests.modes.lesson.hands import Keyboard
from tests.modes.lesson.test_bar import bar
from viz import limits
from viz.lessons.custom_lesson import own_lesson
from viz.text import translator

T = translator("en")
HOSTILE = "<b>{why}</b> **this** $x$?"


def add_view(page: Page, number: int) -> None:
    """By the Share panel."""
    page.get_by_role("button", name=T("share.title")).click()
    wait_run(page)
    page.get_by_role("button", name=T("share.bar_add")).click()
    expect(page.get_by_text(T("share.bar_added", n=number))).to_be_visible()


def test_lesson_is_edited_saved_and_shared(visit, new_page):
    """A lesson is written, saved, shared and given."""
    page = visit("masks", mask="causal", source="words", viewport=PHONE)
    add_view(page, 1)
    page.goto(page.url.replace("masks?", "positions?"))
    wait_run(page)
    add_view(page, 2)
    page.get_by_role("link", name=T("share.bar_my_lesson")).click()
    wait_run(page)
    page.reload()
    wait_run(page)
    steps = page.locator(".mine li")
    expect(steps).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    page.get_by_label(T("my_lesson.title")).fill("My <i>class</i>")
    first, second = T("my_lesson.step", n=1), T("my_lesson.step", n=2)
    page.get_by_role("button", name=f"{first}: {T('my_lesson.down')}").press("Enter")
    expect(page.get_by_role("button", name=f"{second}: {T('my_lesson.up')}")).to_be_focused()
    steps.nth(1).get_by_label(T("my_lesson.question")).fill(HOSTILE)
    expect(steps.nth(1).get_by_role("checkbox")).to_be_checked()

    def assert_saved() -> None:
        lesson = own_lesson(page.locator(".mine .link").input_value().partition("own_lesson=")[2].partition("&")[0])
        assert lesson.title["en"] == "My <i>class</i>"
        assert [(step.page, step.covers, step.ask.question["en"]) for step in lesson.steps] == [
            ("positions", False, ""),
            ("masks", True, HOSTILE),
        ]
        assert lesson.steps[1].shows["en"] == {"mask": "causal", "source": "words"}

    eventually(assert_saved)
    link = page.locator(".mine .link").input_value()
    for number, field in enumerate(page.locator(".mine :is(input[type=text], textarea)").all()):
        longest = int(field.get_attribute("maxlength"))
        field.fill("".join(map(chr, Random(number).choices(range(0x4E00, 0x9FA5), k=longest))))
    expect(page.locator(".mine .long")).to_contain_text(str(limits.OWN_LESSON_LINK))
    expect(page.locator(".mine .link")).to_have_count(0)
    page.get_by_role("button", name=T("my_lesson.clear")).click()
    page.locator("[data-does=sure]").click()
    expect(steps).to_have_count(0)
    page.goto("about:blank")

    pupil_page = new_page(viewport=(1280, 720))
    pupil_page.goto(link.replace("positions?", "masks?").replace("lesson_step=1", "lesson_step=2"))
    wait_run(pupil_page)
    expect(pupil_page.locator(".lesson legend")).to_have_text(HOSTILE)
    expect(pupil_page.locator(".st-key-lesson_cover")).to_be_visible()
    assert bar(pupil_page)["title"] == "My <i>class</i>"
    hands = Keyboard(pupil_page)
    hands.tab_to("TEXTAREA")
    pupil_page.keyboard.type("because .f n")
    hands.tab_to("BUTTON", "reveal")
    hands.press("Enter")
    wait_run(pupil_page)
    expect(pupil_page.locator(".st-key-lesson_cover")).to_have_count(0)
    expect(pupil_page.locator(".lesson textarea")).to_have_value("because .f n")
