"""A table of all sections as a browser shows them: ``python -m tools.sections_table``.

For each section, at each size of the window: where its first picture begins, how much of it the first screen shows,
the words of prose, and the controls. With ``--lessons``, each step of a lesson too, with the stops of the Tab key.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.drive import FLAGS, ROOT, address, find_browser, listen, serve, wait_run
from tests.sections import SECTIONS
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import ORDER, lesson_named

SIZES = ((1280, 720), (390, 844))
BEGINS_BY = {1280: 260, 390: 360}
"""Largest top edge of a picture, in pixels, by the width of the window."""

LOOKS, BETWEEN = 8, 150
"""Samples of a page at most until it is stable, and the milliseconds between two of them."""

MEASURE = (Path(__file__).parent / "sections_table.js").read_text("utf8")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """A section, or a lesson's step, in a window of one size.

    Args:
        name: of the page and the section, or of the lesson and the step.
        top: of the first picture, in pixels; None where there is none.
        bottom: of the lowest picture of the same view.
        height: of the window.
        words: of prose, with the default text and nothing unfolded.
        controls: buttons, boxes and links of the page, without the sidebar.
        stops: of the Tab key, on the whole page.
    """

    name: str
    top: int | None
    bottom: int | None
    height: int
    words: int
    controls: int
    stops: int

    @property
    def is_whole(self) -> bool:
        """True if the first screen shows the whole picture."""
        return self.bottom is not None and self.bottom <= self.height


def measure(page: Page, name: str) -> Measurement:
    """Measure the page that is open, when its picture has been drawn and keeps its place."""
    measurement, before = page.evaluate(MEASURE), None
    for _ in range(LOOKS):
        if measurement == before and measurement["top"] is not None:
            break
        page.wait_for_timeout(BETWEEN)
        measurement, before = page.evaluate(MEASURE), measurement
    return Measurement(name=name, **measurement)


def measure_sections(browser: Browser, url: str, size: tuple[int, int], pages: Sequence[str]) -> Iterator[Measurement]:
    """Open each section with the default text, and measure it."""
    with _window(browser, size) as page:
        for name, section in SECTIONS:
            if not pages or name in pages:
                page.goto(address(url, path_of(name), section=section, lang="en"))
                wait_run(page)
                yield measure(page, f"{name}/{section}")


def measure_lessons(browser: Browser, url: str, size: tuple[int, int], pages: Sequence[str]) -> Iterator[Measurement]:
    """Open each step of each lesson before it is answered, and measure it."""
    with _window(browser, size) as page:
        for lesson in ORDER:
            for number, step in enumerate(lesson_named(lesson).steps, 1):
                if not pages or step.page in pages:
                    page.goto(address(url, path_of(step.page), lesson=lesson, lesson_step=number, lang="en"))
                    wait_run(page)
                    yield measure(page, f"{lesson} {number}: {step.page}/{step.section}")


@contextmanager
def _window(browser: Browser, size: tuple[int, int]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme="light", locale="en-US")
    try:
        yield listen(context.new_page())
    finally:
        context.close()


def lines_of(measurements: Sequence[Measurement], latest: int) -> Iterator[str]:
    """The table of one size, and its medians."""
    width = max(len(row.name) for row in measurements)
    yield f"{'':{width}}  {'y':>5} {'bottom':>6}  whole  words  controls  stops"
    for row in measurements:
        top, bottom = ("-" if place is None else place for place in (row.top, row.bottom))
        yield (
            f"{row.name:{width}}  {top:>5} {bottom:>6}  {'yes' if row.is_whole else 'no':>5}  {row.words:>5}  "
            f"{row.controls:>8}  {row.stops:>5}"
        )
    tops = [row.top for row in measurements if row.top is not None]
    yield ""
    yield (
        f"{len(measurements)} rows. Medians: y {median(tops):.0f}, "
        f"words {median(row.words for row in measurements):.0f}, "
        f"controls {median(row.controls for row in measurements):.0f}, "
        f"stops {median(row.stops for row in measurements):.0f}."
    )
    yield (
        f"Picture by y = {latest}: {sum(top <= latest for top in tops)}. Whole on the first screen: "
        f"{sum(row.is_whole for row in measurements)}. "
        f"At most 120 words: {sum(row.words <= 120 for row in measurements)}."
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="names of pages; all of them, if none is given")
    parser.add_argument("--lessons", action="store_true", help="measure the steps of the lessons too")
    parser.add_argument("--app", type=Path, default=ROOT / "app.py", help="of another checkout with the same sections")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(options.app.resolve(), Path(folder) / "server.log") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        for what in (measure_sections, *([measure_lessons] if options.lessons else [])):
            for size in SIZES:
                print(f"\n## {what.__name__.removeprefix('measure_')}, {size[0]} x {size[1]}\n")  # noqa: T201
                rows = list(what(browser, server.url, size, options.pages))
                print("\n".join(lines_of(rows, BEGINS_BY[size[0]])) if rows else "none", flush=True)  # noqa: T201
        browser.close()


if __name__ == "__main__":
    main()
