"""The Step by step page in a real browser: keys, buttons, clicks on cells, the worked example, phones."""

import math
import re
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from pages.step_by_step.hand_pictures import format_number
from pages.step_by_step.own_numbers.example import OwnExample
from pages.step_by_step.own_numbers.numbers import to_code
from pages.step_by_step.three_words import default_numbers
from tests.browser.drive import PHONE, open_chip, wait_run
from tests.browser.test_frame import is_wider_than_the_window
from viz.frame import compute, specs
from viz.frame.examples import examples

TEXT = examples()[0].text
HEAD, IT, ANIMAL = 1, 10, 2


def heading(page: Page, n: int):
    return page.get_by_role("heading").filter(has_text=re.compile(rf"^{n}\. "))


def parameter(page: Page, name: str) -> str | None:
    result = re.search(rf"[?&]{name}=([^&]*)", page.url)
    return result and result[1]


def formulas_text(page: Page) -> str:
    """Every formula of the page as it was written, before KaTeX drew it."""
    return "\n".join(page.locator("annotation[encoding='application/x-tex']").all_text_contents())


def last_number(page: Page, symbol: str) -> float:
    line = next(line for line in formulas_text(page).splitlines() if line.startswith(symbol))
    digits, power = re.findall(r"(-?\d+\.\d+)(?:\\times 10\^\{(-?\d+)\})?", line)[-1]
    return float(f"{digits}e{power or 0}")


def click_cell(page: Page, name: str, row: int, column: int, n: int) -> None:
    """Click the middle of a cell of an n x n map."""
    matrix_view = page.locator(f".st-key-map_{name} .matrix")
    matrix_view.scroll_into_view_if_needed()
    assert matrix_view.evaluate("view => view.matrix.data.shape") == [n, n]
    at = "({ matrix: { place: { left, top, w, h } } }, [i, j]) => ({ x: left + (j + 0.5) * w, y: top + (i + 0.5) * h })"
    matrix_view.locator("canvas").click(position=matrix_view.evaluate(at, [row, column]))
    wait_run(page)


@pytest.mark.parametrize("section", ["three_words", "steps"])
def test_stepping_with_keys_and_buttons(visit, section):
    page = visit("step-by-step", section=section, step=1)
    expect(heading(page, 1)).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(heading(page, 2)).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(heading(page, 3)).to_be_visible()
    page.keyboard.press("ArrowRight")  # also with the button in focus
    expect(heading(page, 4)).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(heading(page, 3)).to_be_visible()
    page.get_by_role("button", name="8 A V").click()
    expect(heading(page, 8)).to_be_visible()
    wait_run(page)
    assert parameter(page, "step") == "8"


def test_arrow_keys_go_to_focused_control(visit):
    page = visit("step-by-step", step=7, section="steps")
    open_chip(page, "head")
    page.locator(".st-key-head").get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    wait_run(page)
    assert parameter(page, "head") == str(HEAD + 1)
    page.keyboard.press("Escape")
    page.locator(".st-key-text textarea").focus()
    page.keyboard.press("ArrowRight")
    wait_run(page)
    expect(heading(page, 7)).to_be_visible()


@pytest.mark.fast
def test_cell_click_selects_pair(visit):
    page = visit("step-by-step", step=7, section="steps")
    for query, key in ((6, 8), (0, 15), (15, 0)):
        click_cell(page, "A", query, key, 16)
        assert parameter(page, "query") == str(query)
        assert parameter(page, "key") in (str(key), None)  # left out where it is the query's strongest link
        trace = compute.read(specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)).multi_head(3)
        row = (trace.q[HEAD, query].double() @ trace.k[HEAD].double().T) / math.sqrt(32)
        weights = row.softmax(-1)
        assert last_number(page, f"A_{{{query},{key}}}") == pytest.approx(float(weights[key]), abs=1e-4)
        total = float((row - row.max()).exp().sum())
        assert last_number(page, rf"\textstyle\sum_m e^{{\tilde S_{{{query},m}}") == pytest.approx(total, abs=1e-4)


# --- Three words -------------------------------------------------------------------------------------------------


def line(page: Page):
    """The calculation on the page, and its subject."""
    return page.locator(".three-words .line"), page.locator(".three-words .says")


def number(page: Page, matrix: str, row: int, column: int):
    return page.locator(f'.three-words [data-place="{matrix} {row} {column}"]')


def test_three_words_click_and_typing(visit):
    """Explain a clicked number at once; a typed one changes all results."""
    page = visit("step-by-step", section="three_words", step=4)
    sum_, sentence = line(page)
    expect(sum_).to_have_text("2·2 + 0·1 + 1·(−1) + 1·2 = 5")
    number(page, "S", 0, 0).click()
    expect(sum_).to_have_text("1·0 + 0·2 + 1·(−1) + 1·3 = 2")
    expect(sentence).to_contain_text("“cats” looks at “cats”")
    wait_run(page)
    assert parameter(page, "cell") == "0-0"
    page.keyboard.press("ArrowLeft")  # after a click the keys go on with the steps
    expect(heading(page, 3)).to_be_visible()
    number(page, "X", 0, 0).fill("-2.5")
    number(page, "X", 0, 0).press("Enter")
    wait_run(page)
    expect(sum_).to_have_text("(−2.50)·1 + 0·0 + 1·0 + 2·0 = −2.50")
    page.get_by_role("button", name="5 ÷√d").click()
    wait_run(page)
    numbers = default_numbers().with_number("x", 0, 0, -2.5)
    trace = OwnExample(words=("cats", "eat", "fish"), numbers=numbers).trace
    cells, expected = (
        ".three-words .result td.number",
        [format_number(value) for value in trace.scaled.flatten().tolist()],
    )
    expect(page.locator(cells)).to_have_text(expected)
    again = visit("step-by-step", **dict(part.split("=") for part in page.url.split("?")[1].split("&")))
    expect(again.locator(cells)).to_have_text(expected)
    again.get_by_role("button", name="As at the beginning").click()
    wait_run(again)
    assert parameter(again, "numbers") is None


def test_three_words_play_by_space(visit):
    """Numbers to come are not seen, the next step goes on, a pause shows all; less motion is a number at a time."""
    page = visit("step-by-step", section="three_words", step=4)
    later, place = page.locator(".three-words td.later"), page.locator(".three-words .place")
    expect(number(page, "S", 0, 0)).to_be_visible()
    page.locator(".three-words .speed").click()
    expect(page.locator(".three-words .speed")).to_have_attribute("aria-label", "Speed: 2×")
    page.locator(".three-words .speed").evaluate("button => button.blur()")
    page.keyboard.press(" ")
    expect(later).not_to_have_count(0)
    expect(heading(page, 5)).to_be_visible()
    expect(later).not_to_have_count(0)
    page.keyboard.press(" ")
    expect(later).to_have_count(0)
    page.emulate_media(reduced_motion="reduce")
    before = place.inner_text()
    page.locator(".three-words .play").click()
    expect(place).not_to_have_text(before)
    expect(later).to_have_count(0)


def test_three_words_keys_follow_focus(visit):
    page = visit("step-by-step", section="three_words", step=3)
    box = number(page, "W_K", 0, 0)
    box.focus()
    for key in ("ArrowRight", "ArrowLeft", "r"):
        box.press(key)
    expect(heading(page, 3)).to_be_visible()
    box.press("Escape")
    box.fill("5,1")
    box.press("Enter")
    problem = page.locator(".three-words .problem")
    expect(problem).to_have_text(re.compile("^“5,1” is not a number from −5 to 5"))
    expect(box).to_have_value("5,1")
    box.fill("1")
    expect(problem).to_be_empty()
    box.press("ArrowUp")
    expect(box).to_have_value("2")
    wait_run(page)
    selection = number(page, "Q", 1, 2)
    selection.focus()
    selection.press("ArrowUp")
    expect(number(page, "Q", 0, 2)).to_be_focused()
    wait_run(page)
    assert parameter(page, "cell") == "0-2"
    expect(heading(page, 3)).to_be_visible()
    expect(number(page, "Q", 0, 2)).to_be_focused()


def test_three_words_step_traffic(visit):
    page = visit("step-by-step")
    requests, sizes = [], []
    page.on("request", lambda request: requests.append(request.url))
    sockets = page.context.new_cdp_session(page)
    sockets.send("Network.enable")
    sockets.on("Network.webSocketFrameReceived", lambda event: sizes.append(len(event["response"]["payloadData"])))
    for n in range(2, 10):
        page.keyboard.press("ArrowRight")
        expect(heading(page, n)).to_be_visible()
        wait_run(page)
    assert page.locator(".three-words").count() == 1
    assert not [url for url in requests if url.endswith((".js", ".css"))], "no code is fetched from step to step"
    assert 0 < sum(sizes) / 8 < 60_000


@pytest.mark.parametrize("step", [1, 2, 3, 4, 7, 8, 9])
def test_three_words_fit_phone(visit, step):
    widest = replace(default_numbers(), hundredths=(-475,) * 76)
    numbers, words = to_code(widest), "<img src=x>|wwwwwwwwwwww|![x](h://a)"
    link = {"section": "three_words", "step": step, "numbers": numbers, "words": words, "lang": "zh"}
    page = visit("step-by-step", viewport=PHONE, scheme="dark", **link)
    expect(page.locator(".three-words td.number").first).to_be_visible()
    assert is_wider_than_the_window(page) == []
    assert page.locator(".three-words img").count() == 0
