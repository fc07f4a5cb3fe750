"""A page that is chosen in the navigation is the page that a link opens."""

from tests.browser.drive import wait_run
from viz.text import translator

READ = """() => {
    const main = document.querySelector(".stMain"), chosen = document.querySelector(".stSidebar [aria-current]");
    return [document.title, chosen.innerText, main.scrollHeight, main.innerText];
}"""
PAGES = ("atlas", "masks", "long_text", "cost", "next_word", "share_kv", "heads")


def test_navigated_page_equals_opened_page(visit):
    """The same title, text and height: what the page before had leaves no trace and no gap."""
    page, t = visit("masks"), translator("en")
    pages = {}
    for name in PAGES * 2:  # the second time all is computed
        page.get_by_test_id("stSidebarNav").get_by_text(t(f"{name}.title"), exact=True).click()
        wait_run(page)
        page.wait_for_timeout(300)
        pages[page.url] = page.evaluate(READ)
    for link, page_state in pages.items():
        page.goto(link)
        wait_run(page)
        page.wait_for_timeout(300)
        assert page.evaluate(READ) == page_state
