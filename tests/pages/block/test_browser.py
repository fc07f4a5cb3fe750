"""The Block page as a person uses it: boxes open tensors, by mouse and by keyboard; switches change the diagram."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.drive import open_chip, wait_run
from viz.text import translator

T = translator("en")


@pytest.mark.fast
def test_boxes_open_and_switches_apply(visit):
    """Boxes open by mouse and keyboard; a switch changes the diagram and the link."""
    page = visit("block", source="words", block="both", text="dogs bark", target="<b>Hunde</b> bellen laut")
    diagram = page.locator(".block")
    selection = diagram.locator(".box[aria-pressed=true]")
    expect(selection).to_have_attribute("data-code", "enc_attention")
    expect(diagram.locator(".wire path")).to_have_count(1)

    diagram.locator("[data-code=dec_cross]").click()
    wait_run(page)
    expect(page).to_have_url(re.compile("box=dec_cross"))
    expect(selection).to_have_attribute("data-code", "dec_cross")
    expect(page.get_by_text("Row: the word that looks")).to_be_visible()

    selection.press("ArrowDown")  # the keyboard walks on, and opens
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_run(page)
    expect(selection).to_have_attribute("data-code", "dec_cross_norm")
    expect(selection).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(diagram.locator(".box:focus")).to_have_attribute("data-code", re.compile("enc_"))

    open_chip(page, "settings")
    page.locator(".st-key-residual label").first.click()
    wait_run(page)
    expect(diagram.locator(".skip.off")).to_have_count(5)
    expect(diagram.locator("[data-code=dec_cross_add]")).to_have_accessible_name(re.compile("off: hands on"))
    expect(page).to_have_url(re.compile("residual=0"))


def test_box_accessible_name_equals_text(visit):
    """The accessible name starts with the visible text (WCAG 2.5.3)."""
    page = visit("block", source="words", text="dogs bark")
    boxes = page.locator(".block button.box")
    for box in boxes.all():
        assert box.get_attribute("aria-label") is None
        visible_name = " ".join(box.locator(f".{part}").inner_text() for part in ("name", "detail"))
        expect(box).to_have_accessible_name(re.compile(f"^{re.escape(visible_name)}"))
    expect(boxes.last).to_have_accessible_name(re.compile(T("block.name_feed_forward")))  # which norm it is


def test_compared_diagrams_have_no_buttons(visit):
    page = visit("block", source="words", text="dogs bark", section="diagram", block_show="norm_place")
    expect(page.locator(".block .side")).to_have_count(2)
    expect(page.locator(".block .box")).to_have_count(16)
    expect(page.locator(".block button")).to_have_count(0)
    codes = page.locator(".block .side").nth(1).locator(".box").evaluate_all("all => all.map(one => one.dataset.code)")
    assert codes[1:4] == ["enc_attention_norm", "enc_attention", "enc_attention_add"]
