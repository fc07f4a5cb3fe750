"""The pages of a guarded server: nothing they do is against the policy, and a user's place in the queue is seen."""

import asyncio
import re
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from bench.load.tab import Tab
from pages import EVERY, FIRST, PAGES
from tests.browser.drive import PATIENCE, PHONE, ROOT, WIDE, Server, address, count, frame, listen, serve, wait_run
from tests.browser.proxy import proxy
from viz.frame.sidebar import path_of
from viz.text import translator


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("hosted") / "log.txt"
    with serve(ROOT / "tests" / "host" / "slow_app.py", log, HEADLIGHT_PASSES="1") as running:
        yield running


def test_pages_keep_content_policy(hosted, page):
    """``page`` is watched: a script or a request that was refused is an error in its console.

    The first page and those with sections are opened by ``test_nothing_moves_while_a_page_opens``, watched as well.
    """
    for name in set(EVERY) - {FIRST, *PAGES}:
        page.goto(address(hosted.url, path_of(name), source="words", text="the cat sat"))
        wait_run(page)
        expect(page.get_by_test_id("stException")).to_have_count(0)
    assert "Uncaught" not in hosted.read_log()


@pytest.mark.parametrize(
    ("path", "views", "probed", "visible"),
    [
        ("", {"arcs", "story"}, {"/"}, (".start .word", 14)),
        ("heads", {"head_grid"}, {"/heads/", "/"}, (".head-grid .thumb", 72)),
    ],
)
def test_first_visit_loads_what_it_needs(hosted, new_page, path, views, probed, visible):
    """A first visit loads its picture's files at once, a second one hardly anything."""
    first = new_page(fresh=True)
    traffic = count(first)
    first.goto(address(hosted.url, path))
    wait_run(first)
    expect(first.locator(visible[0])).to_have_count(visible[1])
    assert not traffic.paths_with("Plotly") + traffic.paths_with("Highlighter")
    asked_where = {where.removesuffix("_stcore/health") for where in traffic.paths_with("/health")}
    assert asked_where == probed, "Streamlit looks for its server below the page's own path first"
    assert not traffic.paths_with("Italic") + traffic.paths_with("SourceCode"), "fonts that nothing on it is set in"
    of_views = [file for file in traffic.paths_with("/bidi-components/") if "/load-" not in file]
    brought = [file.rpartition("/")[2].partition("-")[0] for file in of_views]
    assert sorted(brought) == sorted({"document", "search", "see", *views}), "the views of the page, each once"
    assert traffic.n_bytes < 1_420_000
    second = listen(first.context.new_page())
    again = count(second)
    second.goto(address(hosted.url, path))
    wait_run(second)
    expect(second.locator(visible[0])).to_have_count(visible[1])
    assert again.n_bytes < 100_000


SHIFTS = """window.moved = 0; new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) moved += entry.value;
}).observe({type: "layout-shift", buffered: true});"""


@pytest.mark.parametrize("screen", [WIDE, PHONE])
def test_nothing_moves_while_a_page_opens(hosted, new_page, screen):
    """The browser's own measure, of which 0.1 is called good and 0.25 poor; it was 0.3 to 0.9, on a phone to 0.24."""
    page = new_page(viewport=screen, fresh=True)
    page.add_init_script(SHIFTS)

    def layout_shift(name: str) -> float:
        page.goto(address(hosted.url, path_of(name)))
        wait_run(page)
        expect(page.locator(".stMain :is(canvas, .js-plotly-plot, svg, .three-words)").first).to_be_attached()
        frame(page)
        return page.evaluate("moved")

    # A busy machine paints what a quick one never shows: twice.
    again = [name for name in (FIRST, *PAGES) if layout_shift(name) >= 0.1]
    assert {
        name: round(much, 3) for name in again if (much := min(layout_shift(name), layout_shift(name))) >= 0.1
    } == {}


@pytest.mark.parametrize("link", ["present=1", "notes=1", "print=1", "embed=true"])
def test_page_without_sidebar_is_full_width(hosted, new_page, link):
    """The style of a page is for the default one; a presentation stood 300 px from the left, in a page's margins."""
    page = new_page(fresh=True)
    page.goto(f"{hosted.url}/masks?source=words&{link}")
    if link == "print=1":  # opened once more, with Streamlit's name for the theme of paper
        page.wait_for_url("**embed_options=light_theme*")
    wait_run(page)
    expect(page.locator(".stAppViewContainer")).to_have_css("padding-left", "0px")
    width = "1240px" if link == "embed=true" else "none"
    padding = {"present=1": "6.4px 16px 0px", "notes=1": "16px", "print=1": "0px", "embed=true": "12px 16px"}[link]
    expect(page.locator(".stMainBlockContainer")).to_have_css("padding", padding)
    expect(page.locator(".stMainBlockContainer")).to_have_css("max-width", width)


def sessions(page) -> list[str]:
    """The session ids of a page, in their order."""
    session_ids: list[str] = []

    def hear(message: str | bytes) -> None:
        message_ = ForwardMsg.FromString(message) if isinstance(message, bytes) else ForwardMsg()
        if session := message_.new_session.initialize.session_id:
            session_ids.append(session)

    page.on("websocket", lambda socket: socket.on("framereceived", hear))
    return session_ids


@pytest.mark.parametrize("keeps_cookies", [True, False])
def test_reconnection_with_cookie_resumes_session(hosted, browser, keeps_cookies):
    """After a lost connection a browser with cookies resumes its session."""
    with proxy(hosted.url) as cable, browser.new_context(locale="en-US") as context:
        page = listen(context.new_page())
        session_ids = sessions(page)
        page.goto(address(cable.url, "masks", source="words", text="dog bites man"))
        wait_run(page)
        if not keeps_cookies:  # as in another site's frame
            context.clear_cookies()
        with page.expect_websocket(timeout=PATIENCE):  # the one in place of the one that is cut
            cable.cut(abort=True)
        wait_run(page)
        box = page.locator(".st-key-text textarea")
        expect(box).to_have_value("dog bites man")
        box.fill("man bites dog")
        box.press("Control+Enter")
        wait_run(page)
        expect(page).to_have_url(re.compile("text=man[+]bites[+]dog"))
        assert (len(set(session_ids)) == 1) is keeps_cookies


def test_queue_place_then_page(hosted, page):
    """A user sees the place in the queue and then the page."""
    page.goto(address(hosted.url, "heads", lang="en", text="hello"))
    wait_run(page)
    notice, finish = page.locator(".waiting"), threading.Event()

    async def hold_the_only_place() -> None:
        async with Tab(hosted.url) as slow:
            work = asyncio.create_task(slow.open(text="slowly"))
            await asyncio.to_thread(finish.wait, PATIENCE / 1000)
            await slow.vanish()
            work.cancel()

    thread = threading.Thread(target=asyncio.run, args=(hold_the_only_place(),))
    thread.start()
    try:
        box = page.locator(".st-key-text textarea")
        for n in range(2):  # until the other one has the place
            box.fill(f"a text of mine, number {n}")
            box.blur()
            page.wait_for_timeout(1500)
        expect(notice).to_have_text(translator("en")("waiting.place", n=1))
        assert page.locator(".stMain").evaluate("main => main.scrollWidth <= main.clientWidth")
    finally:
        finish.set()
        thread.join()
    wait_run(page)
    expect(page.locator(".waiting, [data-testid=stAlert]")).to_have_count(0)
