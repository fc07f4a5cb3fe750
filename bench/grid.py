"""Numbers of the head grid for ``python -m bench``: each section yields rows, measured in one browser."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from bench.grid_pages import source_of
from bench.table import Row
from tests.browser.drive import FLAGS, PATIENCE, ROOT, WIDE, find_browser, listen, serve, wait_run
from viz.frame import specs
from viz.frame.compute import head_grid

FRAME = 1000 / 60
BARE = "import streamlit as st\nst.text(st.slider('n', 0, 9, key='n'))\n"
GRID, SUBPLOTS = (
    f"""import sys
import streamlit as st
from starlette.middleware import Middleware
sys.path.insert(0, {str(ROOT)!r})
from bench.grid_pages import {draw} as draw
from viz.host.files import Files
if __name__ == "__main__":
    draw()
else:
    app = st.App(__file__, middleware=[Middleware(Files)])
"""
    for draw in ("draw_grid", "draw_subplots")
)
FIND = """
const find = (root, what) => {
  for (const node of root.querySelectorAll('*')) {
    if (node.matches(what)) return node;
    const inside = node.shadowRoot && find(node.shadowRoot, what);
    if (inside) return inside;
  }
  return null;
};
const grid = () => find(document, '.head-grid')?.headGrid;
"""
STATES = {  # what of a page changes when it is painted anew
    "bare": "find(document, '[data-testid=stText]')?.textContent",
    "grid": "grid()?.thumbs?.painted",
    "subplots": "document.querySelectorAll('.heatmaplayer image').length === 72"
    " && Array.from(document.querySelectorAll('.heatmaplayer image'), (one) => one.getAttribute('href')).join()",
}


@contextmanager
def _pages(**scripts: str) -> Iterator[Callable[..., Page]]:
    """Serve each script; give a function that opens one in a browser with nothing cached."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        with _serving(Path(name), scripts) as urls:

            def visit(script: str, link: str = "") -> Page:
                page = listen(browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}).new_page())
                page.set_default_timeout(PATIENCE)
                page.goto(urls[script] + link)
                page.wait_for_function(f"() => {{ {FIND} return {STATES[script]} }}", polling="raf")
                return page

            yield visit
        browser.close()


@contextmanager
def _serving(folder: Path, scripts: dict[str, str]) -> Iterator[dict[str, str]]:
    if not scripts:
        yield {}
        return
    (name, code), *remaining = scripts.items()
    script = folder / f"{name}.py"
    script.write_text(code)
    with serve(script, folder / f"{name}.txt") as running, _serving(folder, dict(remaining)) as urls:
        yield {name: running.url, **urls}


def _click(page: Page, script: str, key: str) -> float:
    """Milliseconds from a key on the slider to the page painted anew: the change, one more frame, one more task."""
    page.evaluate(f"""() => {{ {FIND} const before = {STATES[script]};
        window.painted = new Promise((done) => addEventListener('keydown', (event) => {{
            const look = () => {{
                const now = {STATES[script]};
                if (!now || now === before) requestAnimationFrame(look);
                else requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp)));
            }};
            requestAnimationFrame(look);
        }}, {{ once: true, capture: true }})) }}""")
    page.locator(".st-key-n input[type=range]").press(key)
    milliseconds: float = page.evaluate("() => window.painted")
    wait_run(page)
    page.wait_for_timeout(150)
    return milliseconds


def grid_clicks() -> Iterator[Row]:
    """A new text: 72 heads of 64 x 64 painted, beside a page with one number and beside 72 subplots; taken in turn."""
    with _pages(bare=BARE, grid=GRID, subplots=SUBPLOTS) as visit:
        pages = {script: visit(script) for script in STATES}
        times: dict[str, list[float]] = {script: [] for script in pages}
        for turn in range(14):
            for script, page in pages.items():
                page.bring_to_front()
                took = _click(page, script, "ArrowLeft" if turn % 2 else "ArrowRight")
                if turn >= 4:  # the first warm up caches
                    times[script].append(took)
        ours, bare, plotly = (median(times[script]) for script in ("grid", "bare", "subplots"))
        yield Row(what="wall of 72 heads, 64 tokens: click to paint / bare rerun", ours=ours, theirs=bare, goal=1.5)
        yield Row(what="the same / 72 plotly subplots", ours=ours, theirs=plotly, goal=0.1)


def grid_bytes() -> Iterator[Row]:
    """Size of one picture's payload, beside the limits, in MB."""
    for n, limit, what in ((128, 2.5, "exact"), (512, 1.5, "pooled")):
        source = source_of(n)
        wall = head_grid.wall(source, specs.Mask(), specs.View())
        assert (wall.pool == 1) == (what == "exact")
        megabytes = len(wall.data) / 1e6
        yield Row(
            what=f"bytes, 72 heads, {n} tokens, {what} / limit", ours=megabytes, theirs=limit, unit="MB", goal=1.0
        )
        head = len(head_grid.head_scores(source, 3, 1, specs.Mask(), specs.View()).data) / 1e6
        yield Row(what=f"bytes, the chosen head, {n} tokens / limit", ours=head, theirs=0.6, unit="MB", goal=1.0)
        if n == 128:
            yield Row(what="bytes, 72 heads, 128 tokens / BertViz (PEERS.md)", ours=megabytes, theirs=53.5, unit="MB")


def _frames(page: Page, act: str, frames: int = 120) -> tuple[float, float]:
    """Do something in each of many frames: the median of its work, style and layout included, and of a frame, in ms."""
    work, frame = page.evaluate(f"""async () => {{ {FIND}
        const one = grid(), root = one.root, work = [], at = [];
        const act = {act};
        await new Promise((done) => {{ const next = (time) => {{
            at.push(time);
            const start = performance.now();
            act(one, root, at.length);
            root.getBoundingClientRect();
            work.push(performance.now() - start);
            if (at.length < {frames}) requestAnimationFrame(next); else done();
        }}; requestAnimationFrame(next); }});
        const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];
        return [middle(work), middle(at.slice(1).map((time, i) => time - at[i]))];
    }}""")
    return work, frame


def grid_frames() -> Iterator[Row]:
    """Pointing, and dragging the temperature, in every frame; beside the time there is at 60 frames a second."""
    point = "(one, root, i) => { one.hover = { query: i % 50, key: (3 * i) % 50 }; one.light(); }"
    drag = "(one, root, i) => { one.choice.temperature = 0.3 + (i % 60) / 20; one.warm(); }"
    with _pages(grid=GRID) as visit:
        for n in (64, 128, 256, 512):
            page = visit("grid", f"/?tokens={n}")
            wait_run(page)
            page.wait_for_timeout(500)
            if n == 128:
                work, frame = _frames(page, point)
                yield Row(what="pointing, 128 tokens: work a frame / 4 ms", ours=work, theirs=4.0, goal=1.0)
                yield Row(what="pointing, 128 tokens: time a frame / 16.7", ours=frame, theirs=FRAME, goal=1.1)
            work, frame = _frames(page, drag)
            yield Row(what=f"temperature, {n} tokens: work a frame / 8 ms", ours=work, theirs=8.0, goal=1.0)
            yield Row(what=f"temperature, {n} tokens: time a frame / 16.7", ours=frame, theirs=FRAME, goal=1.1)
            page.context.close()


def grid_first_paint() -> Iterator[Row]:
    """A cold browser's first picture of 512 tokens from a server that has read them, beside a bare page."""
    with _pages(bare=BARE, grid=GRID) as visit:
        visit("grid", "/?tokens=512").context.close()
        times_by_script: dict[str, list[float]] = {"bare": [], "grid": []}
        for _ in range(3):
            for script, times in times_by_script.items():
                start = time.perf_counter()
                page = visit(script, "/?tokens=512" if script == "grid" else "")
                page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
                times.append(time.perf_counter() - start)
                page.context.close()
        ours, theirs = (median(times_by_script[script]) for script in ("grid", "bare"))
        yield Row(what="first paint, 512 tokens / bare page", ours=ours, theirs=theirs, unit="s", goal=1.7)


SECTIONS: tuple[Callable[[], Any], ...] = (grid_clicks, grid_bytes, grid_frames, grid_first_paint)
