"""Every visible control receives a mouse click at its middle, at four widths and in every mode."""

from collections import Counter
from functools import partial

import pytest
from playwright.sync_api import Page

from pages import EVERY, FIRST, PAGES
from tests.browser.contrast import assert_choices_differ
from tests.browser.drive import eventually, frame, open_chip
from viz.frame.sidebar import path_of

SCREENS = ((390, 844), (800, 600), (1280, 720), (1920, 1080))

FIND_COVERED = """(scope) => {
    const controls = 'button, a[href], input, textarea, select, summary, label, [tabindex="0"], ' +
        '[role=button], [role=radio], [role=checkbox], [role=switch], [role=tab], [role=option], [role=menuitem]';
    const roots = [document.querySelector(scope)], covered = [];
    let n_controls = 0;
    for (const root of roots)
        for (const node of root.querySelectorAll('*')) if (node.shadowRoot) roots.push(node.shadowRoot);
    const parent = (node) => (node.parentNode instanceof ShadowRoot ? node.parentNode.host : node.parentNode);
    const contains = (outer, node) => {
        for (let at = node; at; at = parent(at)) if (at === outer) return true;
        return false;
    };
    const topmost = (x, y) => {
        let hit = document.elementFromPoint(x, y);
        for (let inner; (inner = hit?.shadowRoot?.elementFromPoint(x, y)) && inner !== hit; hit = inner);
        return hit;
    };
    const atMiddle = (node) => {
        const { left, top, width, height } = node.getClientRects()[0];
        return topmost(left + width / 2, top + height / 2);
    };
    const isHit = (node) => {
        const hit = atMiddle(node);
        // A slider's input lies behind its thumb, a table's canvas behind what scrolls it, a box behind its label.
        return contains(node, hit) || contains(node.closest('label, .stSlider, .stDataFrame') ?? node, hit);
    };
    const isInside = (node, selector) => {
        for (let at = node; at; at = at.getRootNode().host) if (at.closest(selector)) return true;
        return false;
    };
    const describe = (node) => {
        const text = node && (node.getAttribute('aria-label') || node.textContent || '').trim().slice(0, 40);
        return node ? `<${node.tagName.toLowerCase()}> ${text}` : 'nothing';
    };
    const visible = { opacityProperty: true, visibilityProperty: true };
    for (const root of roots)
        for (const node of root.querySelectorAll(controls)) {
            const box = node.getBoundingClientRect();
            if (node.disabled || isInside(node, '.stSidebar[data-collapsed=true]')) continue;
            if (Math.min(box.width, box.height) < 4 || !node.checkVisibility(visible)) continue;
            if (getComputedStyle(node).pointerEvents === 'none') continue;
            n_controls += 1;
            if (isHit(node)) continue;  // where it stands already: to scroll to each would take most of the time
            node.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
            if (!isHit(node)) covered.push(`${describe(node)} under ${describe(atMiddle(node))}`);
        }
    window.scrollTo(0, 0);
    document.querySelector('.stMain')?.scrollTo(0, 0);
    return { covered, n_controls };
}"""
"""Controls below a selector that something else lies over, each with what lies there; and how many are looked at."""


def assert_uncovered(page: Page, scope: str = "body", screens: tuple[tuple[int, int], ...] = SCREENS) -> Counter[int]:
    """Look at every control below a selector, at every width; return how many there are at each."""
    n_controls: Counter[int] = Counter()
    for width, height in screens:
        page.set_viewport_size({"width": width, "height": height})
        frame(page)
        eventually(partial(_assert_at_this_width, page, scope, width, n_controls))
    return n_controls


def _assert_at_this_width(page: Page, scope: str, width: int, n_controls: Counter[int]) -> None:
    result = page.evaluate(FIND_COVERED, scope)
    n_controls[width] = result["n_controls"]
    assert result["n_controls"] > 0
    assert not result["covered"], f"at {width} px, {page.url}: {result['covered']}"


@pytest.mark.parametrize("name", [FIRST, "heads", *(name for name in EVERY if name not in PAGES and name != FIRST)])
def test_controls_of_opened_page_are_uncovered(visit, name):
    """A page with one of its sections, and those without sections; test_accessibility.py has all sections of all."""
    page = visit("" if name == FIRST else path_of(name))
    assert_uncovered(page)
    assert_choices_differ(page)


LINKS = {
    "lesson": {"lesson": "ten_minutes", "lesson_step": 1},
    "presented": {"present": 1},
    "embedded": {"embed": 1},
}


@pytest.mark.parametrize("link", LINKS)
def test_controls_in_every_mode_are_uncovered(visit, link):
    """The bar of a lesson, a presentation, one section in a frame."""
    assert_uncovered(visit("heads", **LINKS[link]))


@pytest.mark.parametrize("chip", ["source", "layer", "settings"])
def test_controls_in_open_chip_are_uncovered(visit, chip):
    """The panel itself lies over the page on purpose."""
    page = visit("heads")
    open_chip(page, chip)
    assert_uncovered(page, "[data-testid=stPopoverBody]")


def test_probe_reports_a_covered_control(visit):
    """The probe would have found Share under the title."""
    page = visit("heads", viewport=(1280, 720))
    page.add_style_tag(content="[data-testid=stLayoutWrapper]:has(> .st-key-share_view) { z-index: auto !important; }")
    assert any("Share" in control for control in page.evaluate(FIND_COVERED, "body")["covered"])
