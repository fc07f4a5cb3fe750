"""Every step in Chromium: the picture below the question, the answer's cells covered, and few tab stops."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, eventually, wait_run
from tests.modes.lesson.hands import FOCUSED
from tests.modes.lesson.test_covers import COVERED_STEPS
from viz.frame.sidebar import path_of
from viz.lessons.lesson import IN_THE_PAGE
from viz.lessons.lesson_file import lesson_named

AROUND = 8
"""Tab stops beside those in the picture, at most: the ways, the answers, three buttons."""
PICTURE = (
    ".head-grid, .maps, .matrix, .chart, .start, .three-words, .painter, .growing, .quadratic, .sharing, .kv-cache, "
    ".stPlotlyChart, .stDataFrame"
)
COVERS = """() => [...document.querySelectorAll("*")]
  .flatMap((host) => (host.shadowRoot ? [...host.shadowRoot.querySelectorAll("*")] : [host]))
  .map((at) => (at.headGrid ?? at.maps ?? at.matrix ?? at.bars ?? at.lines ?? at.painter ?? at.heads)?.data?.covers)
  .filter(Boolean)"""
LOCKED = """({ headGrid: { labels, locked } }) => [labels.rows[locked.query], labels.columns[locked.key]]"""


def stops(page: Page) -> list[str]:
    """Everything the Tab key comes to, once."""
    page.evaluate("document.activeElement?.blur()")
    positions: list[str] = []
    for _ in range(80):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED) + page.evaluate("document.activeElement.dataset.testid ?? ''")
        if at.startswith("BODY") or at in positions:
            break
        positions.append(at)
    return positions


def open_step(visit: Any, lesson: str, number: int, **options: Any) -> Page:
    step = lesson_named(lesson).steps[number - 1]
    page: Page = visit(path_of(step.page), lesson=lesson, lesson_step=number, lang="en", **options)
    return page


@pytest.mark.parametrize(("lesson", "number"), COVERED_STEPS)
def test_open_step_shows_covered_picture(visit, lesson, number):
    """The picture begins on the first screen; the answer's cells are covered until it is given."""
    page = open_step(visit, lesson, number, viewport=(1280, 720))
    picture = page.locator("[class*=st-key-section_]").locator(PICTURE).first
    expect(picture).to_be_visible()
    assert picture.bounding_box()["y"] < 360
    assert page.locator("[data-testid=stSidebar]").is_hidden() and page.locator(".st-key-tabs").is_hidden()
    around = [stop for stop in stops(page) if "bar: " in stop or "stMain" in stop]
    kind = lesson_named(lesson).steps[number - 1].ask.kind
    assert len(around) <= AROUND or kind == "order", around
    covered_cells = page.evaluate(COVERS)
    assert all(covers["open"] for covers in covered_cells)
    page.locator(".lesson [data-does=reveal]").click()
    wait_run(page)
    expect(page.locator(".lesson .reveal")).not_to_be_empty()
    eventually(lambda: check_uncovered(page))


def check_uncovered(page: Page) -> None:
    assert not any(covers["open"] for covers in page.evaluate(COVERS))


@pytest.mark.fast
def test_asked_cell_is_locked_and_spoken(visit):
    """Query and key are locked on the cell; pointing there and the keyboard say that it is covered, then the number."""
    page = open_step(visit, "ten_minutes", 3, viewport=(1280, 720))
    grid = page.locator(".head-grid")
    assert grid.evaluate(LOCKED) == ["animal", "it"]
    expect(grid.locator(".says")).to_contain_text("? (covered")
    page.locator(".lesson [data-does=reveal]").click()
    wait_run(page)
    expect(grid.locator(".says")).to_contain_text("0.0298")
    expect(page.locator(".lesson .reveal")).to_contain_text("back 0.03")
    assert grid.evaluate("root => root.headGrid.map.told.size") == 1


def test_own_reason_is_not_sent(visit):
    """After the answer a sentence is typed and compared; the server is sent nothing."""
    lesson, number = next((name, at) for name, at in COVERED_STEPS if lesson_named(name).steps[at - 1].why)
    page = open_step(visit, lesson, number, viewport=(1280, 720))
    expect(page.locator(".lesson .why textarea")).to_have_count(0)
    page.locator(".lesson [data-does=reveal]").click()
    wait_run(page)
    page.locator(".lesson .why textarea").fill("Because.")
    run = page.evaluate("document.querySelector('.stApp').dataset.testScriptState")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".lesson .model")).not_to_be_empty()
    assert page.evaluate("document.querySelector('.stApp').dataset.testScriptState") == run == "notRunning"


@pytest.mark.parametrize(("lesson", "number"), [("ten_minutes", 3), ("one_head", 2), ("does_it_explain", 2)])
def test_step_on_phone_shows_picture(visit, lesson, number):
    page = open_step(visit, lesson, number, viewport=PHONE)
    picture = page.locator("[class*=st-key-section_]").locator(PICTURE).first
    assert picture.bounding_box()["y"] < 480
    assert lesson_named(lesson).steps[number - 1].ask.kind not in IN_THE_PAGE
