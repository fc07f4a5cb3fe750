"""Every page for those who hear it, have no mouse, see little or want no motion."""

from collections.abc import Sequence

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages import PAGES
from tests.browser.contrast import assert_choices_differ
from tests.browser.drive import PHONE, address, eventually, frame, open_chip, wait_run
from tests.browser.right_to_left import assert_words_are_isolated, record_drawn_words
from tests.browser.sections import (
    LINKS,
    SHOWS_MORE,
    begins_on_the_first_screen,
    is_low_and_begins_on_the_first_screen,
)
from tests.browser.test_clicks import assert_uncovered
from tests.browser.test_small_screens import ZOOMED, is_readable
from tests.sections import page_named
from viz.frame.sidebar import path_of
from viz.text import translator

SCREEN = (1280, 720)
AXE = {"resultTypes": ["violations"], "selectors": False, "preload": False, "rules": {"target-size": {"enabled": True}}}

HOSTILE = "<img src=x onerror=alert(1)> {query} $x$ **b** :red[w] #000001 猫 שלום, (של) word"

EMPTY = "export default () => null;"
"""The module of Streamlit's that draws figures, without them: they take most of the time, and look alike to axe."""

SMALL = """() => {
    const found = [], roots = [document];
    for (const root of roots) {
        for (const node of root.querySelectorAll('*')) if (node.shadowRoot) roots.push(node.shadowRoot);
        for (const node of root.querySelectorAll('button, a[href], input, select, textarea, summary, [tabindex="0"]')) {
            // What is touched of a hidden input is its label, or the slider's whole track.
            const hidden = node.matches('input') && node.closest('label, .stSlider [role=group] > [data-orientation]');
            const box = (hidden || node).getBoundingClientRect();
            const seen = box.width > 1 && box.right > 0 && node.checkVisibility({ visibilityProperty: true });
            if (seen && Math.min(box.width, box.height) < 23.9)
                found.push(`${node.outerHTML.slice(0, 150)}: ${box.width} x ${box.height}`);
        }
    }
    return found;
}"""
"""Clickable elements that are less than 24 pixels wide or high."""


def look(page: Page, rules: Sequence[str] = ()) -> None:
    """Fail if axe-core finds anything: by some of its rules, or by all of them."""
    # The view that mends Streamlit's lists is a file of its own, and comes when it comes.
    expect(page.get_by_test_id("stSidebarNavItems")).to_have_attribute("role", "none")
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = AXE | ({"runOnly": list(rules)} if rules else {})
    violations = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    report = {
        rule["id"]: [(node["html"][:200], node["failureSummary"]) for node in rule["nodes"]] for rule in violations
    }
    assert report == {}
    assert page.evaluate(SMALL) == []


@pytest.mark.fast("heads")
@pytest.mark.parametrize("name", PAGES)
def test_axe_passes_every_page(new_page, app_url, name):
    """Two of the eight ways to see a page, in which nothing is the same; the second on strange words, and readable.

    In the first every control receives a click, and what is chosen is seen under a contrast theme too.
    """
    page = new_page(viewport=SCREEN)
    record_drawn_words(page)
    page.goto(address(app_url, path_of(name), section="all", **LINKS.get(name, {})))
    wait_run(page)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    look(page)
    assert_uncovered(page)
    assert_choices_differ(page)
    page.set_viewport_size({"width": SCREEN[0], "height": SCREEN[1]})
    alone = SHOWS_MORE.get(name, set())
    for section in {section.name for section in page_named(name).sections} - alone:
        eventually(lambda section=section: is_low_and_begins_on_the_first_screen(page, section))
    for section in alone:
        page.goto(address(app_url, path_of(name), section=section))
        wait_run(page)
        eventually(lambda section=section: begins_on_the_first_screen(page, section))
    page.route("**/PlotlyChart.*.js", lambda route: route.fulfill(body=EMPTY, content_type="text/javascript"))
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    strange = {"source": "words", "text": HOSTILE, "target": HOSTILE, "lang": "zh", "section": "all"}
    page.goto(address(app_url, path_of(name), **strange, **LINKS.get(name, {})))
    wait_run(page)
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.get_by_role("heading", level=1)).to_have_text(translator("zh")(f"{name}.title"))
    for section in page_named(name).sections:
        expect(page.locator(f".st-key-section_{section.name}")).to_be_attached()
    look(page)
    assert_words_are_isolated(page)
    for width, height in (PHONE, ZOOMED):
        page.set_viewport_size({"width": width, "height": height})
        frame(page)
        eventually(lambda: is_readable(page))
    assert page.locator(".stMainBlockContainer img:not([src^='data:'])").count() == 0


def test_axe_passes_opened_panels(visit):
    """Parts that are on no page with all sections: a step of many, an open chip, the code below a picture."""
    page = visit("step-by-step", viewport=SCREEN)
    page.locator(".st-key-next button").click()
    wait_run(page)
    page.locator(".st-key-_footer_three_words").get_by_text(translator("en")("footer.why")).click()
    wait_run(page)
    page.locator(".st-key-next button").hover()
    look_at_both_themes(page)
    page.get_by_test_id("stSidebarNav").get_by_text(translator("en")("masks.title"), exact=True).click()
    expect(page.locator(".painter")).to_be_visible()
    wait_run(page)
    page.locator(".st-key-_footer_editor").get_by_text(translator("en")("footer.code")).click()
    wait_run(page)
    expect(page.locator(".stCode").first).to_be_visible()
    open_chip(page, "source")
    look_at_both_themes(page)


def look_at_both_themes(page: Page) -> None:
    look(page)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        frame(page)
        look(page, rules=("color-contrast",))


RING = """node => {
    const around = [node, node.closest('label'), node.parentElement, node.parentElement.parentElement].filter(Boolean);
    const looks = around.map((one) => getComputedStyle(one));
    return looks.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
}"""


def test_keyboard_focus_is_visible(visit):
    page = visit("heads", viewport=SCREEN)
    open_chip(page, "layer")
    page.keyboard.press("Tab")  # from now on the browser takes what has the focus to have it from the keyboard
    places = (
        '[data-testid="stSidebarNav"] a', ".st-key-lang button", ".st-key-chip_layer button", ".st-key-section button",
        '[class*="st-key-_footer_"] button', ".st-key-neighbours a", ".head-grid .thumb", ".head-grid .large",
        ".head-grid .segments button", ".head-grid select", ".head-grid .temperature input",
        ".st-key-layer input[type=range]", ".stTooltipIcon button",
    )  # fmt: skip
    for place in places:
        node = page.locator(place).first
        node.focus()
        expect(node).to_be_focused()
        assert node.evaluate(RING), place


def test_reduced_motion_stops_animations(new_page, app_url):
    page = new_page(reduced_motion="reduce")
    page.goto(address(app_url, "masks", section="decoding"))
    wait_run(page)
    durations = page.evaluate("""() => [...document.querySelectorAll('.stApp, .stApp *')].flatMap(node =>
        ['transitionDuration', 'animationDuration'].map(name => parseFloat(getComputedStyle(node)[name]) || 0))""")
    assert max(durations) < 0.001
    growing = page.locator(".growing")
    at = "view => [view.growing.player.at, Boolean(view.growing.player.timer)]"
    before, _ = growing.evaluate(at)
    button = growing.get_by_role("button", name=translator("en")("masks.growing.next"))
    button.click()
    assert growing.evaluate(at) == [before + 1, False], "one step for each press, and nothing runs on"
    button.click()
    assert growing.evaluate(at) == [before + 2, False]


LIVE = """() => [...document.querySelectorAll('.stMain [aria-live]')].map((node) => ({
    text: node.innerText, politeness: node.ariaLive, whole: node.ariaAtomic,
    inAnother: !!node.parentElement.closest('[aria-live], [role=status], [role=alert]'),
}))"""


def test_changed_sentence_is_announced_once(visit):
    """The finding is a polite live region before it changes, inside no other one; the footer is none."""
    page = visit("many-heads", section="inputs")
    live_region = page.locator(".st-key-section_inputs [aria-live]", has_text="Without number")
    live_region.wait_for(state="attached")  # the view that says so of Streamlit's sentences may come last
    page.evaluate("""() => {
        window.heard = [];
        for (const node of document.querySelectorAll('.st-key-section_inputs [aria-live]'))
            new MutationObserver(() => node.innerText && heard.push(node.innerText))
                .observe(node, { childList: true, characterData: true, subtree: true });
    }""")
    page.locator(".st-key-input_off input[type=range]").press("ArrowRight")
    expect(live_region).to_contain_text("Without number 1 ")
    wait_run(page)
    assert set(page.evaluate("heard")) == {live_region.inner_text()}, "of the sentences only the one that changed"
    page.locator(".st-key-_footer_inputs").get_by_text(translator("en")("footer.why")).click()
    expect(page.locator(".st-key-section_inputs .stMarkdown", has_text="one product")).to_be_visible()
    wait_run(page)
    for region in page.evaluate(LIVE):
        assert (region["politeness"], region["whole"], region["inAnother"]) == ("polite", "true", False), region
        assert "one product" not in region["text"]
