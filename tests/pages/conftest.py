"""The browser of ``tests/browser`` for the tests of the pages, which stand in their pages' folders."""

from tests.browser.conftest import app_url, browser, new_page, page, server, visit

__all__ = ["app_url", "browser", "new_page", "page", "server", "visit"]
