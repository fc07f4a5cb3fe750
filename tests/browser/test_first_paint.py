"""The static first paint: readable without Streamlit's code, at the page's places, and gone once Streamlit draws."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Error, expect

from pages import EVERY
from tests.browser.drive import PHONE, WIDE, address, eventually, frame, serve, wait_run
from viz import ROOT
from viz.text import LANGUAGES, translator

STREAMLIT = re.compile(r"/static/js/index\.[\w-]+\.js")
PICTURES = {"": ".sentence-picture svg path", "heads": ".map-picture svg rect", "masks": ""}
COLOURS = "(node) => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"


@pytest.fixture(scope="module")
def hosted(tmp_path_factory):
    with serve(ROOT / "serve.py", tmp_path_factory.mktemp("first") / "log.txt") as server:
        yield server
    assert "Traceback" not in server.read_log()


@pytest.fixture
def paint_only(hosted, new_page):
    """Open a page; Streamlit's code comes when the function that is given with the page is called."""

    def open_page(path, **options):
        page, routes = new_page(fresh=True, **options), []
        page.route(STREAMLIT, lambda route: routes.append(route))  # noqa: PLW0108
        page.goto(address(hosted.url, path), wait_until="commit")
        expect(page.locator("#first-paint nav.pages")).to_be_attached()
        frame(page)

        def let_go():
            for route in routes:
                with suppress(Error):  # of a page that was left
                    route.continue_()
            page.unroute(STREAMLIT)
            wait_run(page)

        return page, let_go

    return open_page


@pytest.mark.parametrize(
    ("screen", "scheme", "lang"),
    [(WIDE, "light", "en"), (WIDE, "dark", "zh"), (PHONE, "light", "zh"), (PHONE, "dark", "en")],
)
@pytest.mark.parametrize("path", PICTURES)
def test_paint_stands_where_streamlit_draws(paint_only, path, screen, scheme, lang):
    """Title and lead have their places and colours before and after; nothing of the paint is left.

    On a phone the lead of a page with tabs stands below the picture, before and after.
    """
    page, let_go = paint_only(path, viewport=screen, scheme=scheme, locale={"en": "en-US", "zh": "zh-CN"}[lang])
    paint, t = page.locator("#first-paint"), translator(lang)
    title, lead = paint.locator("h1"), paint.locator(".lead")
    expect(title).to_have_text(t(f"{path}.title" if path else "start.headline"))
    expect(lead).to_be_visible()
    if PICTURES[path]:
        assert all(shape.bounding_box()["width"] > 0 for shape in paint.locator(PICTURES[path]).all())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off at the side"
    before = [part.bounding_box() for part in (title, lead)]
    lead_text, is_below = lead.inner_text(), bool(path) and screen == PHONE
    for picture in paint.locator(PICTURES[path]).all()[:1] if PICTURES[path] and is_below else ():
        assert picture.bounding_box()["y"] < before[1]["y"]
    looks = title.evaluate(COLOURS)[0], paint.evaluate(COLOURS)[1]
    let_go()
    expect(paint).to_have_count(0)
    assert page.evaluate("!document.body.innerHTML.includes('first-paint')")
    app_parts = page.locator(".stMain h1"), page.locator(".stMain p").filter(has_text=lead_text).first

    def must_stand_there():
        after = [part.bounding_box() for part in app_parts]
        pairs = zip(before[: 1 if is_below else 2], after, strict=False)
        assert max(abs(a[side] - b[side]) for a, b in pairs for side in ("x", "y")) <= 2
        if is_below:
            assert after[1]["y"] > page.locator("[class*=st-key-section_]").first.bounding_box()["y"]

    eventually(must_stand_there)
    assert looks == (app_parts[0].evaluate(COLOURS)[0], page.locator(".stApp").evaluate(COLOURS)[1])


def test_paint_links_open_pages_before_streamlit(paint_only):
    page, let_go = paint_only("heads")
    links = page.locator("#first-paint nav.pages a")
    assert links.count() == len(EVERY) + len(LANGUAGES)
    links.filter(has_text="Masks").click()
    page.wait_for_url(re.compile(r"/masks\?lang=en"), wait_until="commit")
    let_go()
    expect(page.locator("h1")).to_have_text("Masks")


@pytest.mark.parametrize("path", PICTURES)
def test_paint_without_scripts_is_readable(hosted, new_page, path):
    """The ways in and the navigation are links: they lead on where no script runs at all."""
    page = new_page(java_script_enabled=False)
    page.goto(address(hosted.url, path))
    expect(page.locator("#first-paint h1")).to_be_visible()
    expect(page.locator("#first-paint nav.pages a").first).to_be_visible()
    page.locator("#first-paint a", has_text="Glossary").click()
    expect(page.locator("#first-paint h1")).to_have_text("Glossary")


SHIFTS = """new PerformanceObserver((list) => window.shifts.push(...list.getEntries().map(({ value }) => value)))
.observe({ type: "layout-shift", buffered: true }, (window.shifts = []))"""


@pytest.mark.parametrize(("path", "lesson"), [("step-by-step", "one_head"), ("masks", "cache")])
def test_lesson_link_moves_nothing(hosted, new_page, path, lesson):
    """No room is kept for a sidebar, nothing is drawn before the lesson's style comes, and the bar has its place."""
    page = new_page(fresh=True, viewport=WIDE)
    page.add_init_script(SHIFTS)
    page.goto(address(hosted.url, path, lesson=lesson))
    wait_run(page)
    expect(page.locator(".st-key-lesson_bar fieldset")).to_be_visible()
    frame(page)
    assert sum(page.evaluate("window.shifts")) < 0.05, "it was 0.06 with a place for the bar that came after the page"
