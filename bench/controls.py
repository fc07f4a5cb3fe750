"""From a hand on a control to what it changes, for ``python -m bench``: each beside a bare page's one slider."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Locator, Page

from bench.reruns import WATCH, keys, open_together, opened, settled
from bench.table import Row
from bench.visit import click_to_paint, drawn
from tests.browser.drive import count, find_browser, open_chip, wait_run
from tests.sections import SECTIONS as PLACES
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import lessons

REPEATS = 3
MAIN = (
    "input[type=range]:not(:disabled)",
    ":not([class*=st-key-_footer_]) > .stButtonGroup [role=radio]",
    ".stRadio [role=radio]",
)
"""Selectors of a section's main control, in order of preference."""
BELOW = ".stButtonGroup [role=radio]"
"""Of a section without one: what opens the formula and the proof below it."""


def heads_controls() -> Iterator[Row]:
    """On Heads: another head, another mask, another text to try; to the changed picture."""
    with opened("bare") as page:
        bare = click_to_paint(page, "bare")
    times = {}
    with opened("app") as page:
        open_chip(page, "head")
        times["head"] = _measure_paint(
            page, cycle((partial(_press, page, "ArrowRight"), partial(_press, page, "ArrowLeft")))
        )
    with opened("app") as page:
        open_chip(page, "settings")
        times["mask"] = _measure_paint(
            page, cycle((partial(_choose, page, "mask", 1), partial(_choose, page, "mask", 0)))
        )
    with opened("app") as page:
        times["example"] = _measure_paint(page, cycle(partial(_choose, page, "_example", n) for n in (1, 2)))
    for name, milliseconds in times.items():
        yield Row(what=f"heads: {name}, to the changed picture / bare page", ours=milliseconds, theirs=bare, goal=2.5)


def _press(page: Page, key: str) -> Callable[[], None]:
    return partial(page.locator(".st-key-head input[type=range]").press, key)


def _choose(page: Page, name: str, place: int) -> Callable[[], None]:
    """Open a list; what is timed is the click on one of its options."""
    page.mouse.move(0, 0)  # off a note that opens below the mouse
    page.locator(f".st-key-{name} input").click()
    option = page.get_by_role("option").nth(place)
    option.wait_for()
    return option.click


def _measure_paint(page: Page, ready: Iterator[Callable[[], Callable[[], None]]]) -> float:
    """Milliseconds from an event to the changed picture; the first two of each are not counted."""
    times = []
    for number in range(REPEATS + 4):
        act = next(ready)()
        wait_run(page)
        page.wait_for_timeout(800)
        page.evaluate(f"""() => {{ {drawn("app")} const before = drawn();
            window.painted = new Promise((done) => {{
                const begin = (event) => {{
                    const look = () => drawn() === before ? requestAnimationFrame(look)
                        : requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp)));
                    requestAnimationFrame(look);
                }};
                for (const kind of ['keydown', 'click']) addEventListener(kind, begin, {{ once: true, capture: true }});
            }}) }}""")
        act()
        milliseconds = page.evaluate("() => window.painted")
        if number >= 4:
            times.append(milliseconds)
    return median(times)


def section_controls(places: list[tuple[str, str]] = PLACES) -> Iterator[Row]:
    """The main control of each section that has one, to the last change; and how many messages it takes."""
    with open_together("bare", "app") as (bare_page, page):
        bare_traffic, slider = count(bare_page), bare_page.locator("input[type=range]")
        bare_page.reload()
        wait_run(bare_page)
        bare_page.evaluate(WATCH)
        home, traffic, last = page.url.rpartition("/")[0], count(page), ""
        for name, section in places:
            if name != last:
                last, before = name, bare_traffic.messages
                bare, bare_messages = keys(bare_page, slider), (bare_traffic.messages - before) / 8
            page.goto(f"{home}/{path_of(name)}?{urlencode({'section': section})}")
            wait_run(page)
            page.evaluate(WATCH)
            before = traffic.messages
            control, milliseconds, times = _main(page, page.locator(f".st-key-section_{section}"))
            if not math.isnan(milliseconds):
                what, messages = f"{name}, {section}: {control}", (traffic.messages - before) / times
                yield Row(what=f"{what}, to the last change", ours=milliseconds, theirs=bare, goal=4.0)
                yield Row(what=f"{what}, messages", ours=messages, theirs=bare_messages, unit="")


def _main(page: Page, section: Locator) -> tuple[str, float, int]:
    """Find a section's main control, and measure it: milliseconds to the last change, and number of uses.

    NaN if it has none, or nothing changes.
    """
    for kind in (*MAIN, BELOW):
        control = section.locator(f"{kind} >> visible=true")
        if not control.count():
            continue
        which = "below it" if kind == BELOW else "main control"
        if "range" in kind:
            return which, keys(page, control.first, REPEATS), 2 * (REPEATS // 2 + 2)
        two = min(2, control.count())  # in turn, or the one there is, on and off
        times = [settled(page, control.nth(number % two).click) for number in (1, 2, 3, 4, 5)]
        return which, median(times[2:]), len(times)
    return "", math.nan, 0


def next_steps() -> Iterator[Row]:
    """The teacher's key in front of a class, through every lesson: to the last change, p50 and p95."""
    with opened("bare") as page:
        bare = keys(page, page.locator("input[type=range]"))
    times: list[float] = []
    with opened("app") as page:
        home = page.url.rpartition("/")[0]
        page.add_init_script(f"({WATCH})()")  # before the presentation, which keeps its keys to itself
        for lesson in lessons():
            link = urlencode({"present": 1, "lesson": lesson.name})
            page.goto(f"{home}/{path_of(lesson.steps[0].page)}?{link}")
            times += _presses(page)
    p50, p95 = (quantiles(times, n=20, method="inclusive")[place] for place in (9, -1))
    for name, milliseconds in (("p50", p50), ("p95", p95)):
        what = f"presenting: {len(times)} keys of {len(lessons())} lessons, {name} / bare slider"
        yield Row(what=what, ours=milliseconds, theirs=bare)


def _presses(page: Page) -> Iterator[float]:
    """Milliseconds from each key to the last change, to the end of the lesson that is presented."""
    progress_script = "bar => [bar.presenter.data.at, bar.presenter.data.of, bar.presenter.data.asks]"
    while True:
        wait_run(page)
        at, of, asks = page.locator(".presenter").evaluate(progress_script)
        if at == of and not asks:
            return
        page.wait_for_timeout(2000)  # somebody speaks meanwhile, and what comes next is computed
        yield settled(page, partial(page.keyboard.press, "PageDown"))


SECTIONS: tuple[Callable[[], Any], ...] = (heads_controls, section_controls, next_steps) if find_browser() else ()
