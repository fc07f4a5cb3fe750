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


class PagePool:
    """Pages of a browser context that tests use one after the other: a page's first visit costs half as much again.

    A page that a test gave listeners, routes, scripts or other media is closed with it.
    """

    CHANGES = "on", "once", "route", "add_init_script", "expose_function", "expose_binding", "emulate_media"
    MOST = 30  # visits of one page, whose process grows, and entries of its history, of which there are 50 at most

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.blank: list[Page] = []
        self.visits: dict[Page, int] = {}
        self._note(context, "new_cdp_session", lambda page: page)

    def take(self) -> Page:
        """Return a blank page."""
        page = self.blank.pop() if self.blank else self._open()
        self.visits[page] += 1
        return page

    def give_back(self, page: Page) -> None:
        """Leave the app, and keep the page for the next test if it is as it was."""
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        if self.visits.get(page, self.MOST) < self.MOST and page.evaluate("history.length") < self.MOST:
            page.mouse.move(-1, -1)
            page.goto("about:blank")
            self.blank.append(page)
        else:
            self.visits.pop(page, None)
            page.close()

    def _open(self) -> Page:
        page = listen(self.context.new_page())
        self.visits[page] = 0
        for name in self.CHANGES:
            self._note(page, name, lambda *_: page)
        return page

    def _note(self, owner: Any, name: str, page_of: Callable[..., Page]) -> None:
        """Count a page as used up once this method of its, or of its context, is called for it."""
        call = getattr(owner, name)

        def noted(*arguments: Any, **options: Any) -> Any:
            self.visits[page_of(*arguments)] = self.MOST
            return call(*arguments, **options)

        setattr(owner, name, noted)


@pytest.fixture(scope="session")
def shared(browser: Browser) -> Callable[[str], tuple[PagePool, Watch]]:
    """The pages of all tests that come in a language, and what happens in them."""

    @cache
    def of(locale: str) -> tuple[PagePool, Watch]:
        context, watch = browser.new_context(locale=locale), Watch()
        watch.follow(context)
        return PagePool(context), watch

    return of


@pytest.fixture
def new_page(
    browser: Browser,
    shared: Callable[[str], tuple[PagePool, Watch]],
    server: Server,
    request: pytest.FixtureRequest,
) -> Iterator[Visit]:
    """Make a blank page; ``fresh``, or with an option of its own, in a browser context of its own."""
    request.node.stash[_SERVER] = server
    before, pages, watches, contexts = len(server.read_log()), list[tuple[Page, PagePool]](), [], []

    def make(
        viewport: tuple[int, int] = WIDE,
        scheme: Literal["light", "dark"] = "light",
        locale: str = "en-US",
        fresh: bool = False,
        **options: Any,
    ) -> Page:
        if fresh or options:
            pool, watch = PagePool(browser.new_context(locale=locale, **options)), Watch()
            watch.follow(pool.context)
            contexts.append(pool.context)
        else:
            pool, watch = shared(locale)
            watch.forget()
        pool.context.set_default_timeout(PATIENCE)
        page = pool.take()
        page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
        Page.emulate_media(page, color_scheme=scheme)
        watches.append(watch)
        pages.append((page, pool))
        return page

    yield make
    exceptions = [text for page, _ in pages for text in page.get_by_test_id("stException").all_inner_texts()]
    elsewhere = [url for watch in watches for url in watch.elsewhere]
    errors = [error for watch in watches for error in watch.errors]
    for page, pool in pages:
        pool.give_back(page)
    for context in contexts:
        context.close()
    assert not exceptions, f"the app showed an exception: {exceptions}"
    assert not elsewhere, f"a request left the machine: {elsewhere}"
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
