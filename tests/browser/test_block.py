"""The Block page as a person uses it: boxes open tensors, by mouse and by keyboard; switches change the diagram."""

import re

from playwright.sync_api import expect

from tests.browser.drive import PHONE, wait_run
from tests.browser.test_frame import is_wider_than_the_window
from viz.text import translator

T = translator("en")


def test_boxes_open_and_switches_change_the_diagram(visit):
    page = visit("block", source="words", block="both", text="dogs bark", target="<b>Hunde</b> bellen laut")
    diagram = page.locator(".block")
    chosen = diagram.locator(".box[aria-pressed=true]")
    expect(chosen).to_have_attribute("data-code", "enc_attention")
    expect(diagram.locator(".wire path")).to_have_count(1)

    diagram.locator("[data-code=dec_cross]").click()
    wait_run(page)
    expect(page).to_have_url(re.compile("box=dec_cross"))
    expect(chosen).to_have_attribute("data-code", "dec_cross")
    expect(page.get_by_text("rows are the target's tokens, which ask")).to_be_visible()

    chosen.press("ArrowDown")  # the keyboard walks on, and opens
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    wait_run(page)
    expect(chosen).to_have_attribute("data-code", "dec_cross_norm")
    expect(chosen).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(diagram.locator(".box:focus")).to_have_attribute("data-code", re.compile("enc_"))

    page.locator(".st-key-residual label").first.click()
    wait_run(page)
    expect(diagram.locator(".skip.off")).to_have_count(5)
    expect(diagram.locator("[data-code=dec_cross_add]")).to_have_attribute("aria-label", re.compile("switched off"))
    expect(page).to_have_url(re.compile("residual=0"))


def test_a_phone_in_the_dark_and_in_chinese(visit):
    page = visit("block", lang="zh", block="both", viewport=PHONE, scheme="dark", text="word " * 40)
    expect(page.locator(".block .box").first).to_be_visible()
    assert is_wider_than_the_window(page) == []
    page.locator(".block [data-code=dec_memory]").click()
    wait_run(page)
    expect(page.get_by_text(translator("zh")("block.about_memory")[:20])).to_be_visible()
