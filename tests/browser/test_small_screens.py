"""Every page on a phone and on a projector at 150 %: nothing is wider than the screen, no control is cut off."""

import re

from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, open_section, wait_run
from tests.browser.test_frame import is_wider_than_the_window
from viz.text import translator

T = translator("en")

ZOOMED = (853, 480)
"""CSS pixels of a projector with 1280 x 720, at 150 %."""

CUT_OFF = """() => {
    const found = [], roots = [document];
    for (const root of roots) {
        for (const node of root.querySelectorAll('*')) if (node.shadowRoot) roots.push(node.shadowRoot);
        for (const node of root.querySelectorAll('button, label, [role=radio], summary, a, .stMarkdownEllipsis')) {
            const seen = node.clientWidth > 1 && node.textContent.trim() && !node.closest('.stSidebar');
            if (seen && node.scrollWidth > node.clientWidth + 2) found.push(node.textContent.trim().slice(0, 60));
        }
    }
    return found;
}"""


def is_readable(page: Page) -> None:
    assert is_wider_than_the_window(page) == []
    assert page.evaluate(CUT_OFF) == []


IS_ON_TOP = """title => {
    const letters = document.createRange(); letters.selectNodeContents(title);
    const { left, right, top, bottom } = letters.getBoundingClientRect();
    title.style.pointerEvents = "auto";
    return [left + 2, right - 2].every(x => title.contains(document.elementFromPoint(x, (top + bottom) / 2)));
}"""


def test_header_covers_no_title(visit):
    """A title's first and last letter are seen on a phone, also where it stands in the header's row."""
    for path in ("", "attention-today"):
        assert visit(path, lang="zh", viewport=PHONE).locator(".stMainBlockContainer h1").evaluate(IS_ON_TOP), path


def test_control_keeps_focus_on_phone(visit):
    """A section that waits for its picture is hidden, and loses the focus; one without a picture never is."""
    page = visit("cost", viewport=PHONE)
    box = page.locator("input[type=number]").first
    box.fill("300")
    box.press("Enter")
    wait_run(page)
    expect(box).to_be_focused()


def test_plotly_buttons_leave_figure_uncovered(visit):
    page = visit("atlas", section="spread", viewport=PHONE, view="scatter")
    expect(page.locator(".stPlotlyChart .main-svg").first).to_be_visible()
    expect(page.locator(".modebar-container").first).to_be_hidden()


def test_wide_content_has_scroll_shadow(visit):
    """Content wider than a phone has a shadow until it has been scrolled to its end."""
    small = (320, 640)
    places = {"cost": ("table", ".stMarkdown:has(table)"), "heads": ("all_heads", ".st-key-chips")}
    for path, (section, selector) in places.items():
        content = visit(path, section=section, viewport=small).locator(selector).first
        content.evaluate("node => node.scrollTo(0, 0)")
        expect(content).to_have_css("box-shadow", re.compile("inset"))
        content.evaluate("node => node.scrollTo(node.scrollWidth, 0)")
        expect(content).not_to_have_css("box-shadow", re.compile(r"rgba\(136, 136, 136, 0\.8\)"))


def test_wide_grid_has_scroll_shadow(visit):
    """A table of Streamlit's has the shadow within, until it has been scrolled to its end."""
    table = visit("cost", section="heads", viewport=PHONE).locator(".dvn-scroller").first
    expect(table).to_have_css("box-shadow", re.compile("-24px"))
    table.evaluate("box => box.scrollTo({left: box.scrollWidth})")
    expect(table).to_have_css("box-shadow", re.compile(r"none|rgba\(0, 0, 0, 0\)"))


def test_long_row_of_pills_wraps(visit):
    page = visit("convolution", section="vision", viewport=PHONE)
    for section, row, n in (("vision", "digit", 10), ("picture", "kernel", 8)):
        open_section(page, T(f"convolution.{section}.title"))
        pills = page.locator(f".st-key-{row} button")
        expect(pills).to_have_count(n)
        assert page.locator(f".st-key-{row} [role=radiogroup]").evaluate("row => row.scrollWidth <= row.clientWidth")
        assert pills.last.bounding_box()["x"] + pills.last.bounding_box()["width"] <= PHONE[0]
