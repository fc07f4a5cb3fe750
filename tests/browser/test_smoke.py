"""The app in a few steps, with any version of Streamlit: ``python -m pytest tests/browser/test_smoke.py``."""

import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import SAFETY_NET
from tests.browser.drive import ROOT, Server, address, open_chip, serve, wait_run
from viz.text import translator

T = translator("en")


def opened_heads(page: Page, url: str) -> Page:
    """Heads, opened from the start page as a user does."""
    page.goto(url)
    wait_run(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(T("start.headline"))
    page.get_by_test_id("stSidebarNav").get_by_text(T("heads.title"), exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(T("heads.title"))
    wait_run(page)
    expect(page.locator(".head-grid canvas").first).to_be_visible()
    return page


@pytest.mark.fast
def test_smoke_click_chip_and_back(page, app_url):
    """The start page and Heads draw, a click and a chip are answered and stand in the link, Back takes them away."""
    opened_heads(page, app_url)
    title = page.locator(".head-grid .title")
    page.locator(".head-grid .thumb").nth(40).click()
    expect(title).to_have_text("layer 3, head 4")
    expect(page).to_have_url(re.compile("/heads[?]head=4$"))
    wait_run(page)
    open_chip(page, "layer")
    page.locator(".st-key-layer input[type=range]").press("ArrowRight")
    wait_run(page)
    expect(page.locator(".st-key-chip_layer")).to_have_text(re.compile("layer 4"))
    expect(page).to_have_url(re.compile("layer=4"))
    page.keyboard.press("Escape")
    for link in ("head=4$", "/heads$"):
        page.evaluate("history.back()")
        expect(page).to_have_url(re.compile(link))
        wait_run(page)
    expect(page.locator(".st-key-chip_layer")).to_have_text(re.compile("layer 3"))
    expect(title).to_have_text("layer 3, head 1")


def test_smoke_text_and_reopened_link(page, app_url):
    """A text is read, and its link shows it again."""
    page.goto(address(app_url, "masks", source="words", text="one two"))
    wait_run(page)
    box = page.locator(".st-key-text textarea")
    expect(box).to_have_value("one two")
    box.fill("three four five")
    box.press("Control+Enter")
    expect(page).to_have_url(re.compile("text=three[+]four[+]five"))
    wait_run(page)
    page.reload()
    wait_run(page)
    expect(box).to_have_value("three four five")


def test_smoke_embedded_by_old_word(page, app_url):
    """A frame with ``embed=1`` shows a page without its navigation."""
    page.goto(address(app_url, "heads", embed=1))
    wait_run(page)
    expect(page.locator(".head-grid canvas").first).to_be_visible()
    assert "embed=true" in page.url
    expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)


@pytest.fixture
def public_server(tmp_path: Path) -> Iterator[Server]:
    """``serve.py``, which stays until the page is closed."""
    with serve(ROOT / "serve.py", tmp_path / "log.txt") as running:
        yield running


def test_smoke_public_server_opens(public_server, page):
    """It finds all names that its safety needs and each of its settings, is healthy, and draws two pages."""
    with urllib.request.urlopen(f"{public_server.url}/healthz", timeout=SAFETY_NET) as answer:
        assert answer.status == 200
    opened_heads(page, public_server.url)
    assert "not a valid config option" not in public_server.read_log()
