"""→ goes through the steps inside a section before it leaves, and ← back."""

from typing import Any

from playwright.sync_api import Page, expect

from pages import PAGES
from tests.browser.drive import eventually, wait_run
from tests.modes.present.test_presenter import presenter_state, press


def place(page: Page) -> str:
    """The place as the strip says it."""
    return page.locator(".presenter .at").inner_text()


def test_three_words_are_walked_by_arrows(visit):
    """Nine steps, one a press; the tenth press opens the next section, at its own beginning."""
    page = visit("step-by-step", section="three_words", present=1, viewport=(1280, 720))
    steps = []
    for _ in range(9):
        inner = presenter_state(page)["inner"]
        steps.append(inner["at"])
        expect(page.get_by_role("figure").first).to_be_visible()
        press(page, "ArrowRight")
    assert steps == [*range(1, 10)]
    after = presenter_state(page)
    assert (after["at"], after["inner"]) == (2, None)
    assert "step=" not in page.url


def test_three_words_are_walked_back(visit):
    """← goes to the step before; Page Down and Page Up, which a presenter's remote sends, do the same."""
    page = visit("step-by-step", section="three_words", step=3, present=1, viewport=(1280, 720))
    assert [press(page, key)["inner"]["at"] for key in ("ArrowLeft", "PageDown", "PageUp", "ArrowLeft")] == [2, 3, 2, 1]
    assert press(page, "ArrowLeft")["inner"]["at"] == 1, "there is nothing before the first"


def test_shift_arrow_skips_inner_steps(visit):
    """Shift skips the nine steps and opens the next section at once."""
    page = visit("step-by-step", section="three_words", present=1, viewport=(1280, 720))
    assert press(page, "Shift+ArrowRight")["at"] == 2


def test_all_nine_at_once_are_left(visit):
    """If all steps are visible, → opens the next section and ← the last step."""
    page = visit("step-by-step", section="three_words", step=0, present=1, viewport=(1280, 720))
    assert press(page, "ArrowLeft")["inner"]["at"] == 9


def test_growing_text_is_walked_by_tokens(visit):
    """The decoding begins at the first token, and grows by one a press."""
    page = visit("masks", section="decoding", present=1, viewport=(1280, 720))
    at = "root => [root.growing.player.at, root.growing.player.n]"
    growing = page.locator(".growing")
    (first, n) = growing.evaluate(at)
    assert first == 1
    for expected in (2, 3, 2):
        page.keyboard.press("ArrowLeft" if expected == 2 and growing.evaluate(at)[0] == 3 else "ArrowRight")
        assert growing.evaluate(at)[0] == expected
    growing.evaluate("(root, n) => root.growing.player.go(n)", n)
    before = presenter_state(page)["step"]
    assert press(page, "ArrowRight")["step"] != before, "behind the last token the section is left"


def test_lesson_step_is_no_walk(visit):
    """A lesson says where each of its steps begins: → goes to its next one."""
    page = visit("step-by-step", lesson="one_head", lesson_step=1, present=1, viewport=(1280, 720))
    assert presenter_state(page)["inner"] is None
    press(page, "PageDown")  # the answer
    assert press(page, "ArrowRight")["at"] == 2


def closing(page: Page) -> Any:
    """The last slide."""
    return page.locator(".closing")


def test_lesson_ends_on_closing_slide(visit):
    """It says what was shown and where to go on; → does nothing there, and ← goes back to the last step."""
    page = visit("step-by-step", lesson="one_head", lesson_step=6, present=1, viewport=(1280, 720))
    if presenter_state(page)["asks"]:
        press(page, "ArrowRight")
    expect(closing(page)).not_to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(closing(page)).to_be_visible()
    expect(closing(page).locator("li").first).to_be_visible()
    address = page.url
    for key in ("ArrowRight", "PageDown", "ArrowRight"):
        page.keyboard.press(key)
    wait_run(page)
    expect(closing(page)).to_be_visible()
    assert page.url == address
    page.keyboard.press("ArrowLeft")
    expect(closing(page)).not_to_be_visible()
    assert presenter_state(page)["at"] == 6


def test_closing_slide_opens_next_lesson(visit):
    """The link on it presents another lesson from its first step."""
    page = visit("step-by-step", lesson="one_head", lesson_step=6, present=1, viewport=(1280, 720))
    if presenter_state(page)["asks"]:
        press(page, "ArrowRight")
    page.keyboard.press("ArrowRight")
    closing(page).locator("a").first.click()
    wait_run(page)
    eventually(lambda: _assert_first_step(page))


def _assert_first_step(page: Page) -> None:
    assert presenter_state(page)["at"] == 1 and "present=1" in page.url


def test_last_page_ends_on_closing_slide(visit):
    """The course has an end: its last section's → says so, and opens nothing."""
    last = PAGES[-1].replace("_", "-")
    page = visit(last, present=1, viewport=(1280, 720))
    for _ in range(presenter_state(page)["of"] - presenter_state(page)["at"]):
        press(page, "Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(closing(page)).to_be_visible()
    page.keyboard.press(".")
    expect(page.locator(".dark")).to_be_visible()
