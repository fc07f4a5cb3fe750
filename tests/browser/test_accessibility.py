"""Every page for those who hear it, have no mouse, see little or want no motion."""

from collections.abc import Sequence
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from pages import FIRST, PAGES
from tests.browser.drive import PHONE, address, frame, wait_run
from viz.frame.sidebar import path_of
from viz.text import LANGUAGES, translator

SCREEN = (1280, 720)
AXE = {"resultTypes": ["violations"], "selectors": False, "preload": False, "rules": {"target-size": {"enabled": True}}}

LOOKS = ("color-contrast", "target-size", "scrollable-region-focusable", "link-in-text-block")
"""The rules about what is seen; the others find in each theme and width what they find in the other."""
OTHER: dict[str, Literal["light", "dark"]] = {"en": "dark", "zh": "light"}
"""The theme a page goes over to, and stays in, when it becomes narrow."""

WITH_FIGURES = "masks"
"""Plotly's figures have the same markup on every page, and drawing all of them anew for each theme and width takes most
of the time: on this page they are drawn, on the others they stay empty."""
EMPTY = "export default () => null;"
"""The module of Streamlit's that draws figures, without them."""

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
"""What can be clicked and is less than 24 pixels wide or high."""


def look(page: Page, rules: Sequence[str] = ()) -> None:
    """Fail if axe-core finds anything: by some of its rules, or by all of them."""
    options = AXE | ({"runOnly": list(rules)} if rules else {})
    found = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    told = {rule["id"]: [(node["html"][:200], node["failureSummary"]) for node in rule["nodes"]] for rule in found}
    assert told == {}
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_in_either_language_theme_and_width(new_page, app_url, name):
    """Four of the eight ways to see a page, in one visit: any two of language, theme and width meet in one of them."""
    page = new_page(viewport=SCREEN)
    if name != WITH_FIGURES:
        page.route("**/PlotlyChart.*.js", lambda route: route.fulfill(body=EMPTY, content_type="text/javascript"))
    page.goto(address(app_url, "" if name == FIRST else path_of(name), section="all"))
    page.evaluate(Axe().axe_script)
    for lang in LANGUAGES:
        page.set_viewport_size({"width": SCREEN[0], "height": SCREEN[1]})
        page.locator(".st-key-lang").get_by_text(LANGUAGES[lang]).click()
        wait_run(page)
        expect(page.locator("html")).to_have_attribute("lang", lang)
        expect(page.get_by_role("heading", level=1)).to_have_text(translator(lang)(f"{name}.title"))
        look(page)
        page.emulate_media(color_scheme=OTHER[lang])
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        frame(page)
        look(page, rules=LOOKS)
