"""A connection is lost while a page is on its way: the next one brings it whole."""

import time

import pytest
from playwright.sync_api import expect

from tests.browser.drive import PATIENCE, Watch, address, eventually, listen, wait_run
from tests.browser.proxy import proxy
from viz.text import translator

T = translator("en")


BEGINNING = 4_000
"""Bytes of a run in which the browser is told that it has begun, and gets none of its controls."""


@pytest.mark.fast
def test_page_lost_keeps_its_text(browser, app_url):
    """The server has drawn a page of which the browser has got the beginning: the text is in its box all the same."""
    watch = Watch()
    with proxy(app_url) as line, browser.new_context(locale="en-US") as context:
        context.set_default_timeout(PATIENCE)
        watch.follow(context)
        page = listen(context.new_page())
        page.goto(address(line.url, "block", source="words", text="one two three"))
        wait_run(page)
        line.mute(after=BEGINNING)
        page.get_by_test_id("stSidebarNav").get_by_text(T("masks.title"), exact=True).click()
        wait_until_drawn(line)
        with page.expect_websocket():
            line.cut(abort=True)
        wait_run(page)
        expect(page.get_by_role("heading", level=1)).to_have_text(T("masks.title"))
        expect(page.locator(".st-key-text textarea")).to_have_value("one two three")
        expect(page.get_by_test_id("stException")).to_have_count(0)
    assert not watch.elsewhere


def wait_until_drawn(line):
    """Wait until the server has sent a page, all of which is lost."""

    def is_drawn():
        before = line.lost_bytes
        time.sleep(1)
        assert before == line.lost_bytes > 10_000

    eventually(is_drawn)
