"""A browser, a server and watched pages: one of each for all that a process tests, since both take seconds to start.

``visit`` opens the app; ``page`` is a blank page to open by hand. Both are closed, and judged, after the test: no
request to another machine, no error in the console, no exception on the page, no traceback in the server's log. Tests
come as users who were here before: they share a browser context, in which Streamlit's scripts are compiled already
(half of a visit's work), and leave nothing stored in it. ``fresh=True`` comes for the first time.
"""

import os
from collections.abc import Callable, Generator, Iterator
from functools import cache
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.drive import (
    FLAGS,
    MISSING,
    PATIENCE,
    ROOT,
    WIDE,
    Server,
    Watch,
    address,
    find_browser,
    listen,
    serve,
    wait_run,
)

Visit = Callable[..., Page]
_SERVER = pytest.StashKey[Server]()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The installed Chrome or Chromium, without a window."""
    executable = find_browser()
    if executable is None:
        if os.environ.get("HEADLIGHT_BROWSER") == "required":
            pytest.fail(MISSING + " (HEADLIGHT_BROWSER=required)", pytrace=False)
        pytest.skip(MISSING)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """``streamlit run app.py`` on a free port of this machine, after its first user."""
    with serve(ROOT / "app.py", tmp_path_factory.mktemp("server") / "log.txt") as running:
        first = listen(browser.new_page())
        first.goto(running.url)
        wait_run(first)
        first.context.close()
        yield running


@pytest.fixture(scope="session")
def app_url(server: Server) -> str:
    """The URL of the app."""
    return server.url


@pytest.fixture(scope="session")
def shared(browser: Browser) -> Callable[[str], tuple[BrowserContext, Watch]]:
    """The browser context of all tests that come in a language, and what happens in it."""

    @cache
    def of(locale: str) -> tuple[BrowserContext, Watch]:
        context, watch = browser.new_context(locale=locale), Watch()
        watch.follow(context)
        return context, watch

    return of


@pytest.fixture
def new_page(
    browser: Browser,
    shared: Callable[[str], tuple[BrowserContext, Watch]],
    server: Server,
    request: pytest.FixtureRequest,
) -> Iterator[Visit]:
    """Make a blank page; ``fresh``, or with an option of its own, in a browser context of its own."""
    request.node.stash[_SERVER] = server
    before, pages, watches, contexts = len(server.read_log()), [], [], []

    def make(
        viewport: tuple[int, int] = WIDE,
        scheme: Literal["light", "dark"] = "light",
        locale: str = "en-US",
        fresh: bool = False,
        **options: Any,
    ) -> Page:
        if fresh or options:
            context, watch = browser.new_context(locale=locale, **options), Watch()
            watch.follow(context)
            contexts.append(context)
        else:
            context, watch = shared(locale)
            watch.forget()
        context.set_default_timeout(PATIENCE)
        page = listen(context.new_page())
        page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
        page.emulate_media(color_scheme=scheme)
        watches.append(watch)
        pages.append(page)
        return page

    yield make
    exceptions = [text for page in pages for text in page.get_by_test_id("stException").all_inner_texts()]
    for page in pages:
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear()")
        page.close()
    for context in contexts:
        context.close()
    assert not exceptions, f"the app showed an exception: {exceptions}"
    elsewhere = [url for watch in watches for url in watch.elsewhere]
    assert not elsewhere, f"a request left the machine: {elsewhere}"
    errors = [error for watch in watches for error in watch.errors]
    assert not errors, f"the browser's console has errors: {errors}"
    assert "Traceback" not in server.read_log(before), "the server wrote a traceback"


@pytest.fixture
def page(new_page: Visit) -> Page:
    """A blank page, 1280 x 800, light, English; ``page.goto(app_url)`` and ``wait_run(page)`` open the app."""
    return new_page()


@pytest.fixture
def visit(new_page: Visit, app_url: str) -> Visit:
    """Open a page: ``visit("step-by-step", lang="zh", text="...", viewport=PHONE, scheme="dark")``.

    ``viewport``, ``scheme``, ``locale`` and ``fresh`` are the browser's; every other name is a parameter of the link.
    Without a page it opens Heads.
    """

    def open_app(path: str = "heads", **parameters: Any) -> Page:
        options = {
            name: parameters.pop(name) for name in ("viewport", "scheme", "locale", "fresh") if name in parameters
        }
        page_ = new_page(**options)
        page_.goto(address(app_url, path, **parameters))
        if parameters.get("print"):  # opened once more, with Streamlit's name for the theme of paper
            page_.wait_for_url("**embed_options=light_theme**")
        wait_run(page_)
        return page_

    return open_app


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the end of the server's log beside a failure."""
    report = yield
    if report.failed and (running := item.stash.get(_SERVER, None)):
        report.sections.append(("server log", running.read_log()[-4000:]))
    return report
