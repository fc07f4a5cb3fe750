"""Back and Forward undo and redo one choice, on every page and from page to page."""

import re
from urllib.parse import urlparse

from playwright.sync_api import Page, expect

from tests.browser.drive import address, open_chip, wait_run
from viz.text import translator

T = translator("en")
HOLDING = """window.held = null; window.WebSocket = class extends WebSocket {
    constructor(...given) {
        super(...given);
        this.addEventListener("message", (came) => {
            if (!held) return;
            came.stopImmediatePropagation();
            held.push(() => this.dispatchEvent(new MessageEvent("message", { data: came.data })));
        });
    }
};"""
"""A page that can hold back what the server says, as a slow network would."""


def at(page: Page) -> str:
    """The address after the server's name; parameters in the order of the alphabet."""
    wait_run(page)
    parts = urlparse(page.url)
    return parts.path + (f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else "")


def entries(page: Page) -> int:
    return page.evaluate("history.length")


def go(page: Page, places: int) -> str:
    """Back (-1) or Forward (1), and what the address bar says then."""
    page.evaluate("places => new Promise(done => { onpopstate = done; history.go(places); }).then(() => 0)", places)
    return at(page)


def to_page(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNav").get_by_text(T(f"{name}.title"), exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(T(f"{name}.title"))
    wait_run(page)


def to_section(page: Page, name: str) -> None:
    page.locator(".st-key-section").get_by_text(T(name + ".title"), exact=True).click()
    wait_run(page)


def test_back_undoes_single_steps(visit):
    """Back undoes steps, sections, heads and pages one at a time."""
    page = visit("step-by-step", text="a cat sat on it", section="steps", step=1)
    text, step = "text=a+cat+sat+on+it", page.locator(".st-key-section_steps h3")
    before = entries(page)
    for n in (2, 3):
        page.locator(".st-key-next button").click()
        expect(step).to_have_text(re.compile(rf"^{n}\."))
    assert at(page) == f"/step-by-step?section=steps&step=3&{text}"
    for places, n in ((-1, 2), (-1, 1), (1, 2)):
        go(page, places)
        expect(step).to_have_text(re.compile(rf"^{n}\."))
    to_section(page, "step_by_step.split")
    to_page(page, "heads")
    expect(page).to_have_url(re.compile(rf"/heads\?{re.escape(text)}$"))
    page.locator(".head-grid .thumb").nth(40).click()
    expect(page).to_have_url(re.compile("&head=4$"))
    to_section(page, "heads.switched_off")
    assert entries(page) == before + 5, "1 to 2, then a section, a page, a head and another section: one entry each"
    # and all of it back again, and forward
    assert go(page, -1) == f"/heads?head=4&{text}"
    title = page.locator(".head-grid .title")
    expect(title).to_have_text("layer 3, head 4")
    assert go(page, -1) == f"/heads?{text}"
    expect(title).to_have_text("layer 3, head 1")
    assert go(page, -1) == f"/step-by-step?section=split&{text}"
    expect(page.locator(".st-key-section [aria-checked=true]")).to_have_text(T("step_by_step.split.title"))
    assert go(page, -2) == f"/step-by-step?section=steps&step=1&{text}"
    expect(step).to_have_text(re.compile(r"^1\."))
    assert go(page, 4) == f"/heads?head=4&{text}"
    expect(title).to_have_text("layer 3, head 4")
    page.reload()
    assert at(page) == f"/heads?head=4&{text}"
    expect(title).to_have_text("layer 3, head 4")
    assert entries(page) == before + 5


def test_back_undoes_sliders_and_texts(visit):
    """Back undoes sliders and texts, and skips what changed nothing."""
    page = visit(layer=99, unknown=1)
    expect(page).to_have_url(re.compile("/heads$"))
    before = entries(page)
    chip, box = page.locator(".st-key-chip_layer"), page.locator(".st-key-text textarea")
    slider = page.locator(".st-key-layer input[type=range]")
    open_chip(page, "layer")
    slider.press("ArrowRight")
    assert at(page) == "/heads?layer=4"
    page.keyboard.press("Escape")
    page.locator(".st-key-_footer_all_heads").get_by_text(T("footer.code")).click()
    wait_run(page)
    box.fill("one two")
    box.press("Control+Enter")
    assert at(page) == "/heads?layer=4&text=one+two"
    assert entries(page) == before + 2, "what opens in the footer is no entry"
    assert go(page, -1) == "/heads?layer=4"
    expect(box).to_have_value(re.compile("^The animal"))
    assert go(page, -1) == "/heads"
    expect(chip).to_have_text(re.compile("layer 3"))
    assert go(page, 1) == "/heads?layer=4"
    expect(chip).to_have_text(re.compile("layer 4"))
    open_chip(page, "layer")
    expect(slider).to_have_value("4")
    slider.press("ArrowRight")
    slider.press("ArrowLeft")  # two that undo each other, the second before the answer to the first
    assert at(page) == "/heads?layer=4"
    expect(chip).to_have_text(re.compile("layer 4"))


def test_back_without_navigation_api(new_page, app_url):
    """Browsers before 2026 do not say in time that the history leads somewhere: the app is asked twice."""
    page = new_page()
    page.add_init_script("delete window.navigation")
    page.goto(address(app_url, "step-by-step", text="a cat", section="steps", step=1))
    wait_run(page)
    assert page.evaluate("window.navigation === undefined")
    step, before = page.locator(".st-key-section_steps h3"), entries(page)
    page.locator(".st-key-next button").click()
    expect(step).to_have_text(re.compile(r"^2\."))
    assert at(page) == "/step-by-step?section=steps&step=2&text=a+cat"
    for places, n in ((-1, 1), (1, 2), (-1, 1)):
        go(page, places)
        expect(step).to_have_text(re.compile(rf"^{n}\."))
        assert at(page) == f"/step-by-step?section=steps&step={n}&text=a+cat"
    assert entries(page) == before + 1
