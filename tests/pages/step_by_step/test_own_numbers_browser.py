"""Your own numbers and the puzzles in a real browser: typed, dragged, moved by keys, undone; on a phone."""

import re

import pytest
import torch
from playwright.sync_api import Page, expect

from pages.step_by_step.hand_pictures import format_number
from pages.step_by_step.own_numbers.example import OwnExample, presets
from pages.step_by_step.own_numbers.numbers import MOST, PROJECTED, of_matrices, to_code
from tests.browser.drive import PHONE, eventually, wait_run
from tests.browser.test_frame import is_wider_than_the_window
from tests.browser.test_history import go
from viz import limits
from viz.text import translator

START = presets()["three_rows"]
T = translator("en")


def number(page: Page, matrix: str, row: int, column: int):
    return page.locator(f'.three-words [data-place="{matrix} {row} {column}"]')


def shows(page: Page, numbers) -> None:
    """Weights and output, printed, are those of the core."""
    trace = OwnExample(words=("", "", ""), numbers=numbers).trace
    for name, values in (("a0", trace.weights[0]), ("o", trace.output)):
        cells = page.locator(f'.three-words [data-place^="{name} "]')
        expect(cells).to_have_text([format_number(value) for value in values.flatten().tolist()])


@pytest.mark.fast
def test_number_typing_drag_keys_undo(visit):
    page = visit("step-by-step", section="own_numbers", own=to_code(START))
    box, problem = number(page, "k", 1, 0), page.locator(".three-words .group:first-child .problem")
    shows(page, START)
    # What is no number stays as it was typed, with a sentence, also when another number changes.
    box.fill("abc")
    box.press("Enter")
    wrong = T("step_by_step.hand_problem", typed="abc", most=MOST, name="K, eat, number 1", before="0")
    expect(problem).to_have_text(wrong)
    expect(page.locator(".three-words .written.stale")).to_have_count(0)
    number(page, "q", 0, 0).fill("２,５")
    number(page, "q", 0, 0).press("Enter")
    wait_run(page)
    numbers = START.with_number("q", 0, 0, 2.5)
    shows(page, numbers)
    assert f"own={to_code(numbers)}" in page.url
    expect(box).to_have_value("abc")
    expect(problem).to_have_text(wrong)
    # A drag is seen at once, and sent when it is over: one entry of the history.
    box = number(page, "v", 2, 1)
    area = box.bounding_box()
    assert area is not None
    x, y = area["x"] + area["width"] / 2, area["y"] + area["height"] / 2
    before, entries = page.url, page.evaluate("history.length")
    page.mouse.move(x, y)
    page.mouse.down()
    for way in (10, 30, 45):
        page.mouse.move(x + way, y)
    dragged = numbers.with_number("v", 2, 1, 2.5)
    expect(box).to_have_value("2.50")
    shows(page, dragged)
    assert page.url == before
    page.mouse.up()
    expect(page).to_have_url(re.compile(f"own={re.escape(to_code(dragged))}"))
    wait_run(page)
    shows(page, dragged)
    assert page.evaluate("history.length") == entries + 1
    go(page, -1)
    shows(page, numbers)
    # Keys: 1 up, and a tenth down with Shift; then the number is still the one in focus.
    box.focus()
    box.press("ArrowUp")
    box.press("Shift+ArrowDown")
    wait_run(page)
    expect(page).to_have_url(re.compile(f"own={re.escape(to_code(numbers.with_number('v', 2, 1, 1.9)))}"))
    expect(box).to_be_focused()
    expect(box).to_have_value("1.90")


def test_puzzle_solved_by_typing(visit):
    page = visit("step-by-step", section="puzzles")
    verdict = page.locator(".st-key-verdict")
    expect(verdict).to_contain_text("0.198")
    number(page, "o", 0, 1).click()
    expect(page.locator(".three-words .line")).to_have_text(re.compile(r"^1\.60·0 \+ 0\.80·1 ≈ 0\.80$"))
    for column, value in ((0, "8"), (1, "-8")):
        number(page, "q", 1, column).fill(value)
        number(page, "q", 1, column).press("Enter")
        wait_run(page)
    expect(verdict).to_have_text(re.compile(r"^Solved: .* 0\.997 "))
    assert "puzzle_only_one=q321." in page.url
    go(page, -1)
    expect(verdict).to_have_text(re.compile("^Not yet"))


def test_largest_layer_on_phone_labelled(visit):
    n, d, heads = limits.OWN_WORDS, limits.OWN_WIDTH, limits.OWN_HEADS
    result = {name: torch.full((d if name.startswith("w_") else n, d), -12.34) for name in PROJECTED}
    words = "|".join(["<img src=x>", *["w" * limits.HAND_CHARACTERS] * 5])
    link = {"section": "own_numbers", "own": to_code(of_matrices(result, heads)), "own_words": words, "lang": "zh"}
    page = visit("step-by-step", viewport=PHONE, scheme="dark", **link)
    expect(number(page, "o", 5, 5)).to_be_visible()
    assert is_wider_than_the_window(page) == []
    assert page.locator(".three-words img").count() == 0
    expect(number(page, "w_q", 3, 4)).to_have_attribute("aria-label", "W Q，第 4 行，头 2 的第 1 个数")
    expect(number(page, "a1", 5, 0)).to_have_attribute(
        "aria-label", re.compile(r"^头 1 的 A，w+，<img src=x>[：:] ?0\.17$")
    )


def test_touch_drags_number_or_scrolls(visit):
    page = visit("step-by-step", section="own_numbers", own=to_code(START), viewport=PHONE)
    box, fingers = number(page, "q", 0, 1), page.context.new_cdp_session(page)
    fingers.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
    area = box.bounding_box()
    assert area is not None
    x, y = area["x"] + area["width"] / 2, area["y"] + area["height"] / 2

    def swipe(right: int, down: int) -> None:
        steps = [("touchStart", 0), *(("touchMove", part / 6) for part in range(1, 7)), ("touchEnd", 1)]
        for kind, part in steps:
            at = [] if kind == "touchEnd" else [{"x": x + right * part, "y": y + down * part}]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    swipe(60, 0)
    difference = float(box.input_value().replace("−", "-"))
    assert difference > 1
    shows(page, START.with_number("q", 0, 1, difference))
    wait_run(page)
    assert f"own={to_code(START.with_number('q', 0, 1, difference))}" in page.url
    swipe(0, -150)
    assert float(box.input_value()) == difference
    expect(page.locator(".three-words [data-place='q 0 1']:focus")).to_have_count(0)
    eventually(lambda: page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop > 50"))
