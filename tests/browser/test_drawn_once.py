"""A picture is drawn once for each of Python's messages."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.drive import address, eventually, wait_run
from viz.frame.sidebar import path_of

WATCH = """
let isFrame = false;
const inFrame = (call) => (...given) => {
    isFrame = true;
    try {
        return call(...given);
    } finally {
        isFrame = false;
    }
};
const request = requestAnimationFrame;
window.requestAnimationFrame = (call) => request(inFrame(call));
window.ResizeObserver = class extends ResizeObserver {
    constructor(call) {
        super(inFrame(call));
    }
};
window.late = new Set();
for (const name of ["drawImage", "fillRect", "stroke", "fill", "fillText", "putImageData"]) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
        if (isFrame && this.canvas.isConnected) late.add(this.canvas.className);
        return draw.apply(this, given);
    };
}
"""
"""Drawing while the browser makes a frame, and not when Python has sent it."""

SECTIONS = (
    ("heads", "all_heads"),
    ("masks", "editor"),
    ("masks", "decoding"),
    ("positions", "sinusoids"),
    ("long_text", "map"),
    ("convolution", "windows"),
    ("stacking", "oversmoothing"),
)
"""One for each kind of picture."""


@pytest.fixture
def open_page(app_url, new_page):
    def open_section(name: str, section: str) -> Page:
        page = new_page()
        page.add_init_script(WATCH)
        page.goto(address(app_url, path_of(name), section=section))
        wait_run(page)
        expect(page.locator(f".st-key-section_{section} canvas >> visible=true").first).to_be_visible()
        return page

    return open_section


@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_reported_size_causes_no_redraw(open_page, name, section):
    """Nothing is drawn again when the browser reports its size."""

    def drawn_late() -> list[str]:
        page = open_page(name, section)
        page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(0)), 300))")
        return page.evaluate("() => [...late]")

    # On a busy machine what lies above a picture may come after it, and move it: twice is a fault.
    assert not (drawn_late() and drawn_late())


@pytest.mark.parametrize(("name", "section"), SECTIONS)
def test_narrower_window_causes_redraw(open_page, name, section):
    page = open_page(name, section)
    page.set_viewport_size({"width": 420, "height": 800})

    def has_followed() -> None:
        assert page.evaluate("() => late.size")

    eventually(has_followed)
