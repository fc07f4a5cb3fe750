"""The Stacking page in a real browser: a token followed down by hand, and the page on a phone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.drive import open_chip, wait_run
from viz.text import translator

T = translator("en")


def layers(n):
    return T("stacking.n_layers", n=n)


@pytest.mark.fast
def test_a_token_is_followed_down(visit):
    page = visit("stacking", source="words", text="dog bites man today", depth=3)
    bars = page.locator(".st-key-origin_row .bars")
    expect(bars).to_be_visible()
    open_chip(page, "depth")
    page.get_by_role("slider", name=T("stacking.depth")).press("ArrowRight")
    wait_run(page)
    expect(page).to_have_url(re.compile("depth=4"))
    expect(page.get_by_text(T("stacking.gradient.picture", token="today", layers=layers(4)))).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".st-key-from_token").get_by_role("combobox").click()
    page.get_by_role("option", name=T("stacking.this_token", i=1, token="bites")).click()
    wait_run(page)
    expect(page.get_by_text(T("stacking.gradient.picture", token="bites", layers=layers(4)))).to_be_visible()
    page.locator(".st-key-_more button").click()
    page.get_by_role("option", name=T("stacking.receptive_field.title")).or_(
        page.get_by_role("menuitem", name=T("stacking.receptive_field.title"))
    ).click()
    wait_run(page)
    expect(page).to_have_url(re.compile("section=receptive_field"))
    page.locator(".st-key-field").get_by_text(T("stacking.receptive_field.name_causal"), exact=True).click()
    wait_run(page)
    field = T("stacking.receptive_field.picture", token="bites", layers=layers(4), open=2, n=4)
    expect(page.get_by_text(field)).to_be_visible()
    page.get_by_text(T("footer.checks", passed=6, n=6)).click()
    wait_run(page)
    expect(page.get_by_text("✓").first).to_be_visible()
