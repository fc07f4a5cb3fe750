"""From a click to the last change of the page, for ``python -m bench``: each beside a bare page's one slider."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Locator, Page

from bench.table import Row
from bench.visit import browser_and_scripts, new_context
from pages import PAGES
from tests.browser.drive import ROOT, address, find_browser, listen, open_chip, serve, wait_run
from viz.text import translator

CONTROLS = ROOT / "bench" / "controls_alone.py"
CONTROLS_ALONE = ("More controls", "Controls")
"""Its two pages, in the order they are chosen."""
VISITS = 8
"""Of each page; the first is not counted. With three that were, one slow moment decided over a page."""
QUIET = 700
"""Milliseconds without a change after which there will be none."""
WATCH = """() => {
    window.last = {};
    const changed = () => { last.change = performance.now(); last.first ||= last.change; };
    const isSeen = ({ target, type, attributeName }) => {
        const node = target.closest ? target : target.parentElement;
        const isInCanvas = (type === 'childList' ? node : node?.parentElement)?.closest('canvas');
        return node?.closest('.stMain') && !isInCanvas && !/^aria-|^tabindex$/.test(attributeName ?? '');
    };
    new MutationObserver((changes) => changes.some(isSeen) && changed()).observe(document,
        { subtree: true, childList: true, attributes: true, characterData: true });
    for (const name of ['putImageData', 'drawImage', 'fillRect']) {
        const draw = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (...given) {
            changed();
            last.picture ||= last.change;
            return draw.apply(this, given);
        };
    }
    addEventListener('headlight-view', (event) => {
        if (event.composedPath()[0].view.asTables) queueMicrotask(() => last.picture ||= performance.now());
    }, { capture: true });
    for (const name of ['keydown', 'click'])
        addEventListener(name, (event) => { last = { begin: event.timeStamp }; }, { capture: true });
}"""
"""Note when anything seen in the page's main part changes, what is drawn on a canvas too; and the first picture.

That is the first that is drawn on a canvas, or a view that has numbers to take away, once it has been handed them.
What stands inside a canvas, in aria attributes or in a tabindex is not seen: a table puts its cells there 300 ms later.
"""


def settled(page: Page, act: Callable[[], Any]) -> float:
    """Milliseconds from what is done to the last change."""
    act()
    wait_run(page)
    page.wait_for_timeout(QUIET)
    begin, change = page.evaluate("() => [last.begin, last.change ?? NaN]")
    return float(change - begin)


def keys(page: Page, thumb: Locator, repeats: int = 5) -> float:
    """The arrow keys on a slider, to and fro, both ends warm."""
    pressed = ("ArrowRight", "ArrowLeft") * (repeats // 2 + 2)
    times = [settled(page, partial(thumb.press, key)) for key in pressed]
    return median(times[2:])


@contextmanager
def opened(script: str) -> Iterator[Page]:
    with browser_and_scripts() as (browser, scripts), _page(browser, scripts, script) as page:
        yield page


@contextmanager
def open_together(*scripts: str) -> Iterator[list[Page]]:
    """These scripts in one browser, to be measured in turn: a slow moment of the machine hits all."""
    with browser_and_scripts() as (browser, paths), ExitStack() as stack:
        paths |= {"controls": CONTROLS}
        yield [stack.enter_context(_page(browser, paths, script)) for script in scripts]


@contextmanager
def _page(browser: Browser, scripts: Mapping[str, Path], script: str) -> Iterator[Page]:
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(scripts[script], Path(folder) / "log.txt") as server,
        new_context(browser) as context,
    ):
        page = listen(context.new_page())
        page.goto(address(server.url, "heads" if script == "app" else ""))
        wait_run(page)
        page.evaluate(WATCH)
        yield page


def reruns() -> Iterator[Row]:
    """Every page chosen in the navigation when it is warm, and the layer's slider on every page that has one."""
    t, last, picture = translator("en"), dict[str, list[float]](), dict[str, list[float]]()
    bares, layers = list[float](), dict[str, float]()
    with open_together("bare", "app") as (bare_page, page):
        slider, navigation = bare_page.locator("input[type=range]"), page.get_by_test_id("stSidebarNav")
        for visit in range(VISITS):
            for name in PAGES:
                bares.append(settled(bare_page, partial(slider.press, ("ArrowRight", "ArrowLeft")[visit % 2])))
                link = navigation.get_by_text(t(f"{name}.title"), exact=True)
                last.setdefault(name, []).append(settled(page, link.click))
                picture.setdefault(name, []).append(page.evaluate("() => last.picture - last.begin"))
                if visit == VISITS - 1 and page.locator(".st-key-chip_layer").is_visible():
                    open_chip(page, "layer")
                    layers[name] = keys(page, page.locator(".st-key-layer input[type=range]"))
                    page.keyboard.press("Escape")
                    wait_run(page)
    bare = median(bares[len(PAGES) :])  # the first visit of each page is not counted
    for what, samples, goal in (("last change", last, 8.0), ("first picture", picture, 5.0)):
        for name in PAGES:
            yield Row(
                what=f"{name}: chosen, to its {what} / bare slider",
                ours=median(samples[name][1:]),
                theirs=bare,
                goal=goal,
            )
    for name, milliseconds in layers.items():
        yield Row(what=f"{name}: layer, to the last change / bare slider", ours=milliseconds, theirs=bare, goal=4.0)


def controls_alone() -> Iterator[Row]:
    """A page of Streamlit's own controls chosen, as many as Heads has, to its last change: no picture is sooner."""
    bares, alone = list[float](), list[float]()
    with open_together("bare", "controls") as (bare_page, page):
        slider, navigation = bare_page.locator("input[type=range]"), page.get_by_test_id("stSidebarNav")
        for visit in range(30):
            bares.append(settled(bare_page, partial(slider.press, ("ArrowRight", "ArrowLeft")[visit % 2])))
            alone.append(settled(page, navigation.get_by_text(CONTROLS_ALONE[visit % 2], exact=True).click))
    what = "a page of as many controls, no picture / bare slider"
    yield Row(what=what, ours=median(alone[2:]), theirs=median(bares[2:]))


SECTIONS: tuple[Callable[[], Any], ...] = (reruns, controls_alone) if find_browser() else ()
