"""The pictures of the README and of a shared link, taken from the running app: ``python -m tools.pictures``."""

import tempfile
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

from tests.browser.drive import FLAGS, address, find_browser, frame, listen, serve, wait_run
from viz import ASSETS, ROOT
from viz.host.page_head import PREVIEW

FOLDER = ASSETS / "screens"
SIZE: ViewportSize = {"width": 1280, "height": 720}
SHARED: ViewportSize = {"width": 1200, "height": 630}


def main() -> None:
    """Open the page of heads in light and dark, and save what a user sees."""
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(ROOT / "app.py", Path(folder) / "log.txt") as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        first = listen(browser.new_page())  # a server's first user by a link sees the page opened twice
        first.goto(server.url)
        wait_run(first)
        for scheme in ("light", "dark"):
            page = listen(browser.new_page(viewport=SIZE, color_scheme=scheme, locale="en-US"))
            page.goto(address(server.url, "heads"))
            wait_run(page)
            page.locator(".head-grid .thumb").first.wait_for()
            frame(page)
            page.screenshot(path=FOLDER / f"heads-{scheme}.png")
        page = listen(browser.new_page(viewport=SHARED, color_scheme="light", locale="en-US"))
        page.goto(address(server.url, "heads", embed="true"))  # the picture alone, as large as it can be
        wait_run(page)
        page.locator(".head-grid .thumb").first.wait_for()
        frame(page)
        page.screenshot(path=FOLDER / PREVIEW)
        browser.close()


if __name__ == "__main__":
    main()
