"""Somebody who does a lesson in Chromium: with the keyboard alone, or with a finger."""

from typing import Any

from playwright.sync_api import Page

from tests.browser.drive import eventually, frame, wait_run
from tests.browser.test_head_grid import place

FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const inBar = at.getRootNode().host && at.closest(".lesson") ? "bar: " : "";
  const does = at.dataset.does ?? at.dataset.tool ?? "", link = at.tagName === "A" ? at.textContent : "";
  return `${inBar}${at.tagName} ${at.type ?? ""} ${does} ${at.className} ${at.ariaLabel ?? link}`;
}"""


class Keyboard:
    """Tab, arrows, Enter, Space, and what is typed."""

    def __init__(self, page: Page) -> None:
        self.page, self.press = page, page.keyboard.press

    def tab_to(self, *target: str, key: str = "Tab") -> None:
        """Go on to what has all of this."""
        for _ in range(120):
            if all(part in self.page.evaluate(FOCUSED) for part in target):
                return
            self.press(key)
        raise AssertionError(f"{target} is not reached")

    def times(self, key: str, number: int) -> None:
        for _ in range(number):
            self.press(key)

    def begin(self, title: str) -> None:
        self.tab_to("see alone", title)
        self.press("Enter")

    def is_at(self, target: str) -> None:
        """Wait until the question has the keyboard: the bar may be drawn once more."""

        def now() -> None:
            assert target in self.page.evaluate(FOCUSED), "the question has the keyboard"

        eventually(now)

    def choose(self, codes: list[Any], code: Any) -> None:
        self.is_at("bar: INPUT radio")
        self.press("Space")
        self.times("ArrowRight", codes.index(code))
        self.press("Enter")

    def type(self, number: str) -> None:
        self.is_at("bar: INPUT text")
        self.page.keyboard.type(number)
        self.press("Enter")

    def order(self, question: dict[str, Any], target: tuple[str, ...]) -> None:
        labels = dict(question["options"])
        now = [*labels]
        for to, code in enumerate(target):
            self.tab_to("bar: BUTTON", f"{labels[code]}: {question['words']['up']}")
            self.times("Enter", now.index(code) - to)
            now.remove(code)
            now.insert(to, code)
        self.check()

    def head(self, target: tuple[int, int], at: tuple[int, int]) -> None:
        layer, head = target
        self.tab_to("thumb")
        self.times("ArrowUp" if layer < at[0] else "ArrowDown", abs(layer - at[0]))
        self.times("ArrowLeft" if head < at[1] else "ArrowRight", abs(head - at[1]))
        self.press("Enter")

    def cell(self, row: int, column: int) -> None:
        self.tab_to("DIV", "large")
        self.times("ArrowUp", 5)
        self.times("ArrowLeft", 5)
        self.times("ArrowDown", row)
        self.times("ArrowRight", column)
        self.press("Enter")

    def paint(self, cells: list[tuple[int, int]]) -> None:
        self.tab_to("BUTTON", "close")
        self.press("Enter")
        self.tab_to("CANVAS", "mask")
        self.times("ArrowUp", 5)
        self.times("ArrowLeft", 5)
        at = (0, 0)
        for row, column in cells:
            self.times("ArrowDown", row - at[0])
            self.times("ArrowRight" if column > at[1] else "ArrowLeft", abs(column - at[1]))
            self.press("Space")
            at = (row, column)

    def write(self, sentence: str) -> None:
        self.tab_to("TEXTAREA", key="Shift+Tab")
        self.press("Control+a")
        self.page.keyboard.type(sentence)
        self.press("Control+Enter")

    def check(self) -> None:
        self.tab_to("bar: BUTTON", "check")
        self.press("Enter")

    def go_on(self) -> None:
        focused = self.page.evaluate(FOCUSED)
        assert "bar: A" in focused and "main" in focused, "the way on has the keyboard"
        self.press("Enter")

    def finish(self, to: str) -> None:
        """Open the card at the end, and leave it for the list of lessons."""
        focused = self.page.evaluate(FOCUSED)
        assert "bar: BUTTON" in focused and "end" in focused, "the card has the keyboard"
        self.press("Enter")
        self.tab_to("bar: A", to)
        self.press("Enter")


class Finger:
    """Taps, and what is typed where one has tapped."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def begin(self, title: str) -> None:
        self.page.locator("ol.lessons").get_by_role("link", name=title, exact=True).tap()

    def choose(self, codes: list[Any], code: Any) -> None:
        self.page.locator(".lesson label.option").nth(codes.index(code)).tap()
        self.check()

    def type(self, number: str) -> None:
        self.page.locator(".lesson fieldset input").tap()
        self.page.keyboard.type(number)
        self.check()

    def order(self, question: dict[str, Any], target: tuple[str, ...]) -> None:
        now = [code for code, _ in question["options"]]
        for to, code in enumerate(target):
            for _ in range(now.index(code) - to):
                self.page.locator(f".lesson li[data-code={code}] button").first.tap()
            now.remove(code)
            now.insert(to, code)
        self.check()

    def head(self, target: tuple[int, int], at: tuple[int, int]) -> None:
        del at
        layer, head = target
        self.page.locator(".head-grid .thumb").nth(12 * layer + head).tap()

    def cell(self, row: int, column: int) -> None:
        grid = self.page.locator(".head-grid")
        grid.locator(".large").scroll_into_view_if_needed()
        self.page.touchscreen.tap(*place(grid, row, column))

    def paint(self, cells: list[tuple[int, int]]) -> None:
        self.page.locator(".painter [data-tool=close]").tap()
        wait_run(self.page)  # the bar says what is painted: its answer may move the picture
        canvas = self.page.locator(".painter canvas.mask")
        canvas.scroll_into_view_if_needed()
        for row, column in cells:
            frame(self.page)  # what is said above the picture follows each tap
            x, y = self.page.locator(".painter").evaluate(
                """(root, [row, column]) => {
                    const { left, w } = root.painter.square, box = root.painter.maskCanvas.getBoundingClientRect();
                    return [[box.left, column], [box.top, row]].map(([from, n]) => from + left + (n + 0.5) * w);
                }""",
                [row, column],
            )
            self.page.touchscreen.tap(x, y)

    def write(self, sentence: str) -> None:
        box = self.page.locator(".st-key-text textarea")
        box.tap()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(sentence)
        self.page.locator(".lesson legend").tap()  # beside it: the box is left

    def check(self) -> None:
        self.page.locator(".lesson [data-does=check]").tap()

    def go_on(self) -> None:
        self.page.locator(".lesson a.main").tap()

    def finish(self, to: str) -> None:
        """Open the card at the end, and leave it for the list of lessons."""
        self.page.locator(".lesson [data-does=end]").tap()
        self.page.locator(".lesson .row").get_by_role("link", name=to).tap()
