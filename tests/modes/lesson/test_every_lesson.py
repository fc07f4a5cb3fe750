"""Lessons in Chromium from the list of lessons to its last step: by the keyboard alone, and by taps on a phone.

Each question is answered as somebody would who knows: in the bar, or in the picture itself.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, eventually, wait_run
from tests.browser.test_accessibility import EMPTY
from tests.modes.lesson.hands import Finger, Keyboard
from viz.lessons.lesson import Lesson, Step
from viz.lessons.lesson_file import lesson_named, lessons

STEPS = ("q", "scores", "weights", "head_outputs", "concat", "output")
BEFORE = [(0, 0), *((row, column) for row in range(1, 5) for column in (row - 1, row))]
ANSWER: dict[str, list[Any]] = {
    "ten_minutes": [
        *({"en": 2, "zh": 3}, {"en": "0.32", "zh": "0.33"}, "less", "first"),
        *({"en": (1, 8), "zh": (2, 6)}, "first", "less"),
    ],
    "does_it_explain": [(4, 5), "less", "less", "", {"en": "second", "zh": "first"}],
    "many_heads": ["32", "all", "64", "sum", STEPS, "same"],
    "masks_and_order": [(0, 1), "15", "1", "more", BEFORE, "words"],
}
"""Right answers on the lessons' first sentences: in the bar an option's code, a number as it is typed, or
the order; in the picture a head, a cell or cells to be open; of a sentence the step has an example itself."""
BY_HAND = tuple(ANSWER)


def bar(page: Page) -> dict[str, Any]:
    """The data of the bar."""
    data: dict[str, Any] = page.locator(".lesson").evaluate("bar => bar.lesson.data")
    return data


def until(page: Page, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until this holds of what the bar has been sent."""

    def now() -> None:
        assert holds(bar(page)), bar(page)

    eventually(now)
    return bar(page)


def answer(page: Page, hand: Keyboard | Finger, question: dict[str, Any], step: Step, right: Any, read: str) -> None:
    """Answer a step's question."""
    match question["kind"]:
        case "word" | "option":
            hand.choose([code for code, _ in question["options"]], right)
        case "number":
            hand.type(right)
        case "order":
            hand.order(question, right)
        case in_the_picture:
            pick(hand, in_the_picture, question, step.ask.arguments[read].get("example") or right)
            hand.check()  # at once: what was chosen may be on its way still


def pick(hand: Keyboard | Finger, kind: str, question: dict[str, Any], right: Any) -> None:
    """Choose in the page itself."""
    match kind:
        case "head":
            hand.head(right, question["picked"][0])
        case "cell":
            hand.cell(*right)
        case "mask":
            hand.paint(right)
        case "sentence":
            hand.write(right)


def is_at(number: int, state: dict[str, Any]) -> bool:
    """Return True if the bar is at this step, and asks."""
    return bool(state["number"] == number and state["kind"])


def do_lesson(page: Page, hand: Keyboard | Finger, lesson: Lesson, lang: str) -> None:
    """From the list of lessons to the last step, and back to the list."""
    hand.begin(lesson.title[lang])
    for number, (step, right) in enumerate(zip(lesson.steps, ANSWER[lesson.name], strict=True), 1):
        question = until(page, partial(is_at, number))
        wait_run(page)  # what is chosen while the page around the question is still on its way may be asked once more
        read = "en" if question["note"] else lang
        assert (question["kind"], question["done"], question["premise"]) == (step.ask.kind, "", "")
        assert question["question"] and not question["reveal"] and not question["verdict"]
        expect(page.locator(".st-key-lesson_cover")).to_have_count(int(step.covers))
        answer(page, hand, question, step, right[read] if isinstance(right, dict) else right, read)
        state = until(page, lambda state: state["done"] or state["verdict"])
        assert state["done"] == "right", (lesson.name, number, state["verdict"])
        # The second letter of d_k, W_Q and their like stands below.
        lowered = re.sub(r"(?<=\b[dW])_(?=(?:k|v|model|ff|[QKVO])\b)", "", state["reveal"])
        expect(page.locator(".lesson .said")).to_contain_text(lowered)
        assert not re.search(r"[{}]", f"{question['question']}{question['options']}{state['reveal']}"), (
            "all is filled in"
        )
        expect(page.locator(".st-key-lesson_cover")).to_have_count(0)
        if number < len(lesson.steps):
            hand.go_on()
    hand.finish(question["words"]["list"])
    expect(page.locator("ol.lessons")).to_contain_text(lesson.title[lang])


def without_figures(page: Page) -> None:
    """Leave out Streamlit's module for figures: no question is answered in one, and they take most of the time."""
    page.route("**/PlotlyChart.*.js", lambda route: route.fulfill(body=EMPTY, content_type="text/javascript"))


def test_lessons_by_hand_have_every_kind():
    """Of question; tests/modes/lesson/test_asked.py answers those of all other lessons without a browser."""
    kinds = {step.ask.kind for name in BY_HAND for step in lesson_named(name).steps}
    assert kinds == {step.ask.kind for lesson in lessons() for step in lesson.steps}


@pytest.mark.fast("ten_minutes")
@pytest.mark.parametrize("name", BY_HAND)
def test_lesson_works_by_keyboard_alone(visit, name):
    page, lesson = visit("lessons", viewport=(1280, 720)), lesson_named(name)
    without_figures(page)
    do_lesson(page, Keyboard(page), lesson, "en")
    expect(page.locator("ol.lessons li").filter(has_text=lesson.title["en"])).to_contain_text("✓ Done")
    page.go_back()
    wait_run(page)
    assert (bar(page)["number"], bar(page)["done"]) == (len(lesson.steps), "right"), "Back leads to the last step, done"


@pytest.mark.parametrize("name", BY_HAND)
def test_lesson_works_by_taps_on_phone(new_page, app_url, name):
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    without_figures(page)
    page.goto(f"{app_url}/lessons?lang=zh")
    wait_run(page)
    do_lesson(page, Finger(page), lesson_named(name), "zh")
