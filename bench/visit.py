"""Numbers of a visit for ``python -m bench``: everything beside a bare Streamlit page in the same browser."""

import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.table import Row
from tests.browser.drive import (
    FLAGS,
    MISSING,
    PATIENCE,
    ROOT,
    WIDE,
    address,
    count,
    find_browser,
    listen,
    serve,
    wait_run,
)

BARE = "import streamlit as st\nst.text(st.slider('n', 0, 99, key='layer'))\n"
PATHS = {"": "start page", "heads": "heads"}
DRAWN_SCRIPT = """
const drawn = () => {  // what canvases show across their middle, the arcs of the start page, or the bare page's number
  const found = [], seek = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) seek(node.shadowRoot);
      if (bare && node.matches('[data-testid=stText]')) found.push(node.textContent);
      if (!bare && node.matches('.sentence path') && Number(node.style.opacity)) found.push(node.getAttribute('d'));
      if (bare || root === document || !node.matches('canvas') || !node.width || !node.height) continue;
      const strip = node.getContext('2d').getImageData(0, node.height >> 1, node.width, 2);
      const sum = new Uint32Array(strip.data.buffer).reduce((sum, pixel) => (sum * 31 + pixel) | 0, 0);
      if (sum) found.push(sum);
    }
  };
  seek(document);
  return found.join(' ');
};
"""
"""Paint: this has changed, and one more frame and one task have passed. It is empty while nothing is there."""

BARE_PAGE = "bare", ""
FIRST_PAGES = {(script, path): f"{name}, {script}.py" for path, name in PATHS.items() for script in ("app", "serve")}
"""Pages that are compared with the bare page: two pages of ours, each served at a desk and for many."""


@contextmanager
def browser_and_scripts() -> Iterator[tuple[Browser, dict[str, Path]]]:
    """A browser, and the scripts that are compared: the app at a desk, the same for many users, and a bare page."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        bare = Path(name) / "bare.py"
        bare.write_text(BARE)
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        yield browser, {"app": ROOT / "app.py", "serve": ROOT / "serve.py", "bare": bare}
        browser.close()


def new_context(browser: Browser) -> BrowserContext:
    return browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})


def drawn(script: str) -> str:
    return f"const bare = {str(script == 'bare').lower()}; {DRAWN_SCRIPT}"


def _wait_until_drawn(page: Page, script: str) -> None:
    page.wait_for_function(f"() => {{ {drawn(script)} return drawn() !== '' }}", polling="raf", timeout=PATIENCE)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def _first_paint(page: Page) -> float:
    """Seconds from the request to the first text or picture on the screen."""
    entry = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"  # comes after the frame
    return page.wait_for_function(entry, polling="raf", timeout=PATIENCE).json_value() / 1000


def _wait_until_ready(url: str) -> None:
    """Until what computes beside a server has ended; a page that has none is ready."""
    while True:
        try:
            with urllib.request.urlopen(f"{url}/readyz", timeout=PATIENCE / 1000):
                return
        except urllib.error.HTTPError:
            time.sleep(0.1)


def _medians(measure: Callable[[str, str], float], repeats: int) -> dict[tuple[str, str], float]:
    """Each in turn, so that a slow moment of the machine hits all."""
    samples: dict[tuple[str, str], list[float]] = {place: [] for place in (*FIRST_PAGES, BARE_PAGE)}
    for _ in range(repeats):
        for place, times in samples.items():
            times.append(measure(*place))
    return {place: median(times) for place, times in samples.items()}


def starts() -> Iterator[Row]:
    """From the start of a server's process to its first picture, in a browser that has nothing cached."""
    with browser_and_scripts() as (browser, scripts), tempfile.TemporaryDirectory() as folder:

        def start(script: str, path: str) -> float:
            began = time.perf_counter()
            with serve(scripts[script], Path(folder) / "log.txt") as server, new_context(browser) as context:
                page = context.new_page()
                page.goto(address(server.url, path))
                _wait_until_drawn(page, script)
                return time.perf_counter() - began

        medians = _medians(start, 3)
        for place, name in FIRST_PAGES.items():
            what = f"server start to painted {name} / bare page"
            yield Row(what=what, ours=medians[place], theirs=medians[BARE_PAGE], unit="s", goal=3.0)


def visits() -> Iterator[Row]:
    """A browser that has nothing cached, and a server that is warm; and what a first and a second visit bring."""
    with browser_and_scripts() as (browser, scripts), tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        servers = {
            script: stack.enter_context(serve(path, Path(folder) / f"{script}.txt")) for script, path in scripts.items()
        }
        _wait_until_ready(servers["serve"].url)

        readable: dict[tuple[str, str], list[float]] = {place: [] for place in (*FIRST_PAGES, BARE_PAGE)}

        def visit(script: str, path: str) -> float:
            with new_context(browser) as context:
                page, began = context.new_page(), time.perf_counter()
                page.goto(address(servers[script].url, path), wait_until="commit")
                _wait_until_drawn(page, script)
                seconds = time.perf_counter() - began
                readable[script, path].append(_first_paint(page))
                return seconds

        _medians(visit, 1)
        medians = _medians(visit, 7)
        for place, name in FIRST_PAGES.items():
            what = f"cold browser to painted {name} / bare page"
            yield Row(what=what, ours=medians[place], theirs=medians[BARE_PAGE], unit="s", goal=2.0)
            first = median(readable[place][1:]), median(readable[BARE_PAGE][1:])
            yield Row(what="the same, to the first paint", ours=first[0], theirs=first[1], unit="s", goal=1.0)
        for (script, path), name in FIRST_PAGES.items():
            with new_context(browser) as context:
                for number, limit in (("first", 1.5), ("second", 0.1)):
                    page = context.new_page()
                    traffic = count(page)
                    page.goto(address(servers[script].url, path))
                    _wait_until_drawn(page, script)
                    what = f"bytes of a {number} visit, {name} / limit"
                    yield Row(what=what, ours=traffic.n_bytes / 1e6, theirs=limit, unit="MB", goal=1.0)


def slider() -> Iterator[Row]:
    """A key on the layer's slider to the changed picture."""
    with browser_and_scripts() as (browser, scripts), tempfile.TemporaryDirectory() as folder:
        medians = {}
        for script in ("app", "bare"):
            with serve(scripts[script], Path(folder) / "log.txt") as server, new_context(browser) as context:
                page = listen(context.new_page())
                page.goto(address(server.url, "heads" if script == "app" else ""))
                wait_run(page)
                medians[script] = click_to_paint(page, script)
        yield Row(
            what="layer slider to changed picture / bare page", ours=medians["app"], theirs=medians["bare"], goal=2.5
        )


def click_to_paint(page: Page, script: str, repeats: int = 10) -> float:
    """Milliseconds from a key to the changed picture, median of visits to two layers, both warm."""
    thumb = page.locator(".st-key-layer input[type=range]")
    if not thumb.is_visible():
        page.locator(".st-key-chip_layer button").first.click()
    times = []
    for number in range(repeats + 2):
        wait_run(page)
        page.wait_for_timeout(1000)
        page.evaluate(f"""() => {{ {drawn(script)} const before = drawn();
            window.painted = new Promise((done) => addEventListener('keydown', (event) => {{
                const look = () => drawn() === before ? requestAnimationFrame(look)
                    : requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp)));
                requestAnimationFrame(look);
            }}, {{ once: true, capture: true }})) }}""")
        thumb.press("ArrowLeft" if number % 2 else "ArrowRight")
        times.append(page.evaluate("() => window.painted"))
    return median(times[2:])


SECTIONS: tuple[Callable[[], Any], ...] = (starts, visits, slider) if find_browser() else ()
if not SECTIONS:
    print(MISSING)  # noqa: T201
