"""A page that the browser has translated: later numbers replace the translated ones."""

from functools import partial

import pytest
from playwright.sync_api import Page, Route, expect

from pages import FIRST
from tests.browser.drive import address, answered, eventually, wait_run
from viz.frame.sidebar import path_of

TRANSLATE = """() => {
    const found = [], read = (root) => {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            if (walk.currentNode.shadowRoot) read(walk.currentNode.shadowRoot);
            if (walk.currentNode.nodeType === Node.TEXT_NODE) found.push(walk.currentNode);
        }
    };
    const kept = 'script, style, textarea, option, svg, font, code, [translate=no], .notranslate';
    read(document.body);
    for (const text of found) {
        const parent = text.parentElement;
        if (!text.data.trim() || !parent || parent.closest(kept)) continue;
        const font = document.createElement('font');
        font.textContent = '«' + text.data + '»';
        parent.replaceChild(font, text);
    }
    return document.querySelectorAll('font').length;
}"""
"""The translator of a browser puts an element in the place of each text."""

READ = """() => {
    const lines = [], read = (node) => {
        if (node.nodeType === Node.TEXT_NODE) lines.push(node.data);
        else if (node.nodeType === Node.ELEMENT_NODE || node.nodeType === Node.DOCUMENT_FRAGMENT_NODE) {
            if (node.matches?.('style, script, svg, textarea, .stSlider, .js-plotly-plot')) return;
            if (node.shadowRoot) read(node.shadowRoot);
            for (const child of node.childNodes) read(child);
            if (node.matches?.('p, div, td, th, li, h1, h2, h3, button, label, figcaption, caption')) lines.push('\\n');
        }
    };
    read(document.querySelector('.stMain'));
    return lines.join('').replace(/[«»]/g, '').split('\\n').map((line) => line.trim()).filter(Boolean);
}"""
"""The lines of text on a page, as if nothing had been translated."""

MARK = """() => {
    const seen = (list) => [...document.querySelectorAll(list)].find((one) => one.checkVisibility() && !one.disabled);
    const lists = ['.stMain textarea', '.stMain input[type=range]', '.stMain .stTextInput input',
        '.stMain [data-testid=stSidebar] button[aria-checked=false]', '.stMain [role=radio][aria-checked=false]'];
    const found = seen(lists[0]) ?? seen(lists[1]) ?? seen(lists[2]) ?? seen(lists[3]) ?? seen(lists[4]);
    found?.setAttribute('data-to-change', found.matches('textarea, [type=text]') ? 'text' : found.type);
    return found?.getAttribute('data-to-change') ?? '';
}"""
"""Mark a control: the text if there is one, a slider, a box to search in, a choice of several."""


CODE_OF_VIEWS = "**/_stcore/bidi-components/**"
PAGES_WITH_SECTIONS = ("heads", "stacking", "two_sequences")
"""Their sections have every kind of view."""


def change_control(page: Page) -> None:
    """Change the first control of a page; of one that has none, the language."""
    kind, control = page.evaluate(MARK), page.locator("[data-to-change]")
    if kind == "text":
        control.fill("Padding sleeps well.")
        control.press("Control+Enter" if control.evaluate("control => control.tagName") == "TEXTAREA" else "Enter")
    elif kind == "range":
        control.press("ArrowRight")
    elif kind:
        control.click()
    else:
        change_language(page)
    wait_run(page)


def change_language(page: Page) -> None:
    """Have the page in Chinese: every sentence is another one, and so is the number of its parts."""
    page.locator(".st-key-lang button").last.click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")


def assert_like_opened_anew(page: Page, fresh_page: Page) -> None:
    """Compare a page with the one that its link opens."""
    fresh_page.goto(page.url)
    wait_run(fresh_page)
    eventually(partial(_assert_same_lines, page, fresh_page))


def _assert_same_lines(page: Page, fresh_page: Page) -> None:
    assert page.evaluate(READ) == fresh_page.evaluate(READ)


@pytest.mark.parametrize("name", [FIRST, *PAGES_WITH_SECTIONS, "glossary"])
def test_translated_page_shows_new_numbers(visit, new_page, name):
    """After a change the page says what its link says when it is opened anew."""
    page = visit("" if name == FIRST else path_of(name), **({"section": "all"} if name in PAGES_WITH_SECTIONS else {}))
    assert page.evaluate(TRANSLATE) > 20
    change_control(page)
    assert_like_opened_anew(page, new_page())


@pytest.mark.parametrize("name", [FIRST, "heads"])
def test_page_translated_before_views_are_there(new_page, app_url, name):
    """A translator that comes before any code of a view leaves no old heading."""
    page, waiting = new_page(), list[Route]()

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(CODE_OF_VIEWS, hold)
    with page.expect_request(CODE_OF_VIEWS):  # it may be asked for only after the app has answered
        page.goto(address(app_url, "" if name == FIRST else path_of(name)))
    expect(page.locator(".stApp h1").first).to_be_visible()
    answered(page)
    assert page.evaluate(TRANSLATE) > 10
    for route in waiting:
        route.continue_()
    page.unroute_all()
    wait_run(page)
    change_language(page)
    wait_run(page)
    assert_like_opened_anew(page, new_page())
