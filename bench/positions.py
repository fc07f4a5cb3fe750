"""Frames of the sinusoid explorer while its base is dragged, for ``python -m bench``."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright

from bench.table import Row
from tests.browser.drive import FLAGS, ROOT, WIDE, address, find_browser, listen, serve, wait_run

FRAME = 1000 / 60
SIZES = ((64, 64), (256, 256), (512, 512))
"""Positions and dimensions: as the page opens, a whole text of a small model, and the most there are."""
DRAG = """async (root, [n, width]) => {
    const slider = (name) => root.querySelector(`input[data-name=${name}]`);
    const move = (name, value) => {
        slider(name).value = value;
        slider(name).dispatchEvent(new Event("input"));
    };
    const frame = () => new Promise(requestAnimationFrame);
    move("n", n);
    move("d_model", width);
    await frame();
    await frame();
    const times = [], pictures = new Set();
    let last = await frame();
    for (let i = 0; i < 90; i++) {
        move("base", 3 + 2.5 * Math.sin(i / 9));
        const now = await frame();
        times.push(now - last);
        last = now;
        pictures.add(root.dataset.drawn);
    }
    return { times, pictures: [...pictures] };
}"""


def sinusoids() -> Iterator["Row"]:
    """A frame while the base is dragged, against 60 a second; every frame must show another base."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        with serve(ROOT / "app.py", Path(folder) / "log") as server:
            page = listen(browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]}))
            page.goto(server.url)
            wait_run(page)
            page.goto(address(server.url, "positions", section="sinusoids", source="words"))
            wait_run(page)
            explorer = page.locator(".sinusoids")
            explorer.scroll_into_view_if_needed()
            for n, width in SIZES:
                frames = explorer.evaluate(DRAG, [n, width])
                times, pictures = frames["times"], frames["pictures"]
                assert len(pictures) > 0.9 * len(times), "the picture does not follow the finger"
                assert pictures[0].startswith(f"{width},{n},")
                what = f"a frame while dragging the base, {n} x {width}"
                yield Row(what=what, ours=median(times), theirs=FRAME, goal=1.1)
        browser.close()


SECTIONS: tuple[Callable[[], Iterator["Row"]], ...] = (sinusoids,)
