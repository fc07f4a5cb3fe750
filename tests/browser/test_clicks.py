"""Every visible control receives a mouse click at its middle, on every page and at four widths.

``HEADLIGHT_SWEEP=1 pytest -o timeout=3000 tests/browser/test_clicks.py`` opens each section, and each of its views,
alone at all widths, not at one; ``--junitxml=FILE`` records how many controls received a click.
"""

import os
from collections import Counter
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from pages import EVERY, FIRST, PAGES
from tests.browser.contrast import assert_choices_differ
from tests.browser.drive import WIDE, address, eventually, frame, open_chip, open_section, wait_run
from tests.sections import page_named, section_views
from viz.frame.header.section import Section
from viz.frame.sidebar import path_of
from viz.text import translator

SWEEP = os.environ.get("HEADLIGHT_SWEEP") == "1"
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


def assert_sections_uncovered(page: Page, name: str) -> Counter[int]:
    """Open each section by the mouse; look at it at one width after the other, which are shared out among all pages."""
    t, n_controls, problems = translator("en"), Counter[int](), list[str]()
    for place, section in enumerate(page_named(name).sections, start=PAGES.index(name)):
        screen = SCREENS[place % len(SCREENS)]
        page.set_viewport_size({"width": screen[0], "height": screen[1]})
        open_section(page, t(f"{name}.{section.name}.title"))
        for view in section_views(section)[: None if SWEEP else 1]:
            _open_view(page, section, view)
            for width_and_height in SCREENS if SWEEP else (screen,):
                try:
                    n_controls += assert_uncovered(page, screens=(width_and_height,))
                except AssertionError as error:
                    problems.append(f"{view.name}: {error}")
    assert not problems, "\n".join(problems)
    return n_controls


def _open_view(page: Page, section: Section, view: Section) -> None:
    """Press the button of a view, unless it is the one that the section opens with."""
    if section.switch and view.name != section.name:
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        place = section.opened_view.options().index(view.name)
        page.locator(f".st-key-{section.switch} [role=radio]").nth(place).click()
    expect(page.locator(f".st-key-section_{view.name}")).to_be_visible()
    expect(page.locator('[class*="st-key-section_"]')).to_have_count(1)
    wait_run(page)


def click_middle(page: Page, control: Locator) -> None:
    """Click with the mouse at a control's middle, on the topmost element."""
    box = control.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.mark.fast("masks")
@pytest.mark.parametrize("name", EVERY)
def test_controls_on_every_page_are_uncovered(visit, name, record_property):
    """As a page opens, with all its sections and with each alone; what is chosen is seen under a contrast theme."""
    path = "" if name == FIRST else path_of(name)
    page = visit(path)
    record_property("as it opens", dict(assert_uncovered(page)))
    if name in PAGES:
        page.goto(address(page.url.partition("?")[0], section="all"))
        wait_run(page)
        record_property("all sections", dict(assert_uncovered(page)))
    assert_choices_differ(page)
    if name in PAGES:
        record_property("each alone", dict(assert_sections_uncovered(page, name)))


@pytest.mark.fast("heads")
@pytest.mark.parametrize("name", EVERY)
def test_share_opens_by_mouse(visit, name):
    """At every width, on every page."""
    page = visit("" if name == FIRST else path_of(name))
    panel = page.get_by_test_id("stPopoverBody")
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        frame(page)
        click_middle(page, page.locator(".st-key-share_view button"))
        expect(panel).to_be_visible()
        wait_run(page)
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        wait_run(page)


LINKS = {
    "lesson": {"lesson": "ten_minutes", "lesson_step": 1},
    "presented": {"present": 1},
    "embedded": {"embed": 1},
    "in Chinese": {"lang": "zh"},
    "seeded": {"source": "words"},
}


@pytest.mark.parametrize("link", LINKS)
def test_controls_in_every_mode_are_uncovered(visit, link):
    """The bar of a lesson, a presentation, one section in a frame."""
    assert_uncovered(visit("heads", **LINKS[link]))


@pytest.mark.parametrize("chip", ["source", "layer", "mask"])
def test_controls_in_open_chip_are_uncovered(visit, chip):
    """The panel itself lies over the page on purpose."""
    page = visit("heads")
    open_chip(page, chip)
    assert_uncovered(page, "[data-testid=stPopoverBody]")


@pytest.mark.fast
def test_probe_reports_a_covered_control(visit):
    """The probe would have found Share under the title."""
    page = visit("heads", viewport=(1280, 720))
    page.add_style_tag(content="[data-testid=stLayoutWrapper]:has(> .st-key-share_view) { z-index: auto !important; }")
    assert any("Share" in control for control in page.evaluate(FIND_COVERED, "body")["covered"])
