"""A hosted page's first picture: there without Streamlit's code, like the page's own, and gone when that has come."""

import re
from contextlib import suppress
from functools import partial
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Error, expect

from tests.browser.drive import PHONE, WIDE, address, count, eventually, frame, listen, serve, wait_run
from tests.browser.test_hosted import SHIFTS
from viz import ROOT
from viz.host.first.markup import COLOURS

STREAMLIT = re.compile(r"/static/js/index\.[\w-]+\.js")
PICTURES = {"": ".start .word", "heads": ".head-grid .thumb"}
PLACES = {
    "": ["h1", ".says > p", ".doors", ".doors a:last-child", ".start", ".sentence", "form"],
    "heads": [
        "h1", ".says > p >> nth=0", ".st-key-text_row", ".st-key-chips", ".st-key-chips button >> nth=-1",
        ".st-key-section", ".st-key-section button >> nth=-1", ".st-key-section_all_heads .says > p >> nth=0",
        ".head-grid", ".head-grid .thumb >> nth=-1",
    ],
}  # fmt: skip
"""Of each page: what is to stand in one place before and after."""


@pytest.fixture(scope="module")
def hosted(tmp_path_factory):
    with serve(ROOT / "serve.py", tmp_path_factory.mktemp("first") / "log.txt") as server:
        eventually(partial(must_be_ready, server))  # by then the pictures have been made
        yield server
    assert "Traceback" not in server.written()


def must_be_ready(server):
    try:
        urlopen(f"{server.url}/readyz").close()
    except HTTPError as error:
        raise AssertionError(error) from error


@pytest.fixture
def before(hosted, new_page):
    """Open a page of which Streamlit's code comes only when the function is called that is given with it."""

    def open_page(path, **options):
        page, held = new_page(fresh=True, **options), []
        page.route(STREAMLIT, lambda route: held.append(route))  # noqa: PLW0108
        page.goto(address(hosted.url, path), wait_until="commit")
        expect(page.locator(f"#first {PICTURES[path]}").first).to_be_attached()
        frame(page)

        def let_go():
            for route in held:
                with suppress(Error):  # of a page that was left
                    route.continue_()
            page.unroute(STREAMLIT)
            wait_run(page)

        return page, let_go

    return open_page


@pytest.mark.parametrize("screen", [WIDE, PHONE])
@pytest.mark.parametrize("path", PLACES)
def test_it_stands_where_the_page_stands(before, path, screen):
    page, let_go = before(path, viewport=screen)
    names = [name for name in PLACES[path] if screen != PHONE or "section button" not in name]  # it is moved sideways

    def places(root):
        return {name: page.locator(f"{root} .stMain {name}").first.bounding_box() for name in names}

    first = places("#first")
    let_go()
    own = places(".stApp")
    off = {name: (first[name], own[name]) for name in names if max_off(first[name], own[name]) > 2}
    assert not off


def max_off(one, other):
    return max(abs(one[side] - other[side]) for side in ("x", "y"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_colours_are_the_pages(before, scheme):
    page, let_go = before("heads", scheme=scheme)
    names = [f"--st-{name}" for name in COLOURS if name != "sidebar-color"]
    read = "(node, names) => names.map((name) => getComputedStyle(node).getPropertyValue(name).trim())"
    first = page.locator("#first .head-grid").evaluate(read, names)
    beside = "(node) => getComputedStyle(node).backgroundColor"
    sidebar = page.locator("#first .pages").evaluate(beside)
    let_go()
    own = page.locator(".stApp .head-grid").evaluate(read, names)
    assert dict(zip(names, first, strict=True)) == dict(zip(names, own, strict=True))
    assert sidebar == page.locator(".stApp .stSidebar").evaluate(beside)


def test_a_theme_that_was_chosen_before_holds_from_the_first_moment(before):
    page, let_go = before("heads")
    let_go()
    page.evaluate("localStorage.setItem('stActiveTheme-/heads-v2', JSON.stringify('Dark'))")
    page.route(STREAMLIT, lambda route: None)
    page.reload(wait_until="commit")
    expect(page.locator("#first")).to_have_css("background-color", "rgb(23, 22, 20)")
    expect(page.locator("#first .head-grid .thumb")).to_have_count(72)


def test_a_word_of_it_is_pointed_at_before_the_page_is_there_and_chosen_after(before):
    page, let_go = before("")
    said, street = page.locator("#first .says[role=status]"), page.locator("#first .word", has_text="street")
    expect(said).to_contain_text("“it” looks most at “animal”")
    street.hover()
    expect(said).to_contain_text("“street” looks most")
    street.click()
    let_go()
    expect(page.locator(".start .says")).to_contain_text("“street” looks most")
    expect(page.locator("#first")).to_have_count(0)


def test_what_is_typed_before_the_page_is_there_is_not_lost(before):
    page, let_go = before("")
    box = page.locator("#first input[name=text]")
    box.fill("A word that nobody knows")
    box.press("Home")
    let_go()
    own = page.locator(".start input[name=text]")
    expect(own).to_have_value("A word that nobody knows")
    expect(own).to_be_focused()
    page.keyboard.type("Here: ")
    expect(own).to_have_value("Here: A word that nobody knows")


def test_what_is_sent_before_the_page_is_there_opens_when_it_is(before):
    page, let_go = before("")
    page.locator("#first input[name=text]").fill("The cat sat")
    page.locator("#first input[name=text]").press("Enter")
    let_go()
    page.wait_for_url(re.compile("/heads"))
    wait_run(page)
    expect(page.locator(".st-key-text textarea")).to_have_value("The cat sat")


def test_a_head_that_is_chosen_before_the_page_is_there_is_chosen_in_it(before):
    page, let_go = before("heads")
    title = page.locator("#first .head-grid .title")
    expect(title).to_have_text("layer 3, head 1")
    page.locator("#first .head-grid .thumb").nth(2).click()
    expect(title).to_have_text("layer 0, head 2")
    let_go()
    wait_run(page)
    expect(page.locator(".stApp .head-grid .title")).to_have_text("layer 0, head 2")
    expect(page.locator(".st-key-chip_head button").first).to_contain_text("head 2")
    assert "head=2" in page.url and "layer=0" in page.url


def test_its_links_lead_to_the_pages(before):
    page, let_go = before("heads")
    page.locator("#first .pages a", has_text="Masks").click()
    page.wait_for_url(re.compile(r"/masks\?lang=en"), wait_until="commit")
    let_go()
    expect(page.locator("h1")).to_have_text("Masks")


def test_a_page_that_shows_something_else_is_not_covered_for_good(before, hosted, new_page):
    page = new_page(fresh=True)
    page.add_init_script("addEventListener('headlight-view', (event) => event.stopImmediatePropagation(), true)")
    page.goto(address(hosted.url, "heads"))
    expect(page.locator("#first")).to_have_count(0)
    expect(page.locator(".head-grid .thumb")).to_have_count(72)


def test_a_page_whose_picture_does_not_come_is_not_covered(hosted, new_page):
    page = new_page(fresh=True)
    empty = {"body": "", "content_type": "text/javascript"}
    page.route(re.compile(r"/headlight\.first/"), lambda route: route.fulfill(**empty))
    page.goto(address(hosted.url, "heads"))
    wait_run(page)
    expect(page.locator(".head-grid .thumb")).to_have_count(72)


def test_what_stays_alone_is_seen_through_after_a_while(hosted, new_page):
    """Neither its own code has come nor the page, which would have something to say."""
    page = new_page(fresh=True)
    empty = {"body": "", "content_type": "text/javascript"}
    page.route(re.compile(r"/headlight\.first/|/static/js/index\."), lambda route: route.fulfill(**empty))
    page.goto(address(hosted.url, "heads"))
    first = page.locator("#first")
    expect(first).to_be_visible()
    first.evaluate("(node) => node.getAnimations()[0].finish()")
    expect(first).to_be_hidden()


def test_a_link_that_asks_for_something_shows_that_and_nothing_before(hosted, new_page):
    page = new_page(fresh=True)
    sent = page.goto(address(hosted.url, "heads", text="the cat sat"))
    assert 'id="first"' not in sent.text()
    wait_run(page)
    expect(page.locator(".st-key-text textarea")).to_have_value("the cat sat")


@pytest.mark.parametrize("screen", [WIDE, PHONE])
@pytest.mark.parametrize("path", PICTURES)
def test_nothing_moves_when_the_page_comes_in_its_place(hosted, new_page, path, screen):
    page = new_page(viewport=screen, fresh=True)
    page.add_init_script(SHIFTS)

    def moved():
        page.goto(address(hosted.url, path))
        wait_run(page)
        return page.evaluate("moved")

    assert moved() < 0.1 or min(moved(), moved()) < 0.1  # a busy machine paints what a quick one never shows: twice


@pytest.mark.parametrize("path", PICTURES)
def test_a_first_visit_with_it_is_no_large_one(hosted, new_page, path):
    page = new_page(fresh=True)
    traffic = count(page)
    page.goto(address(hosted.url, path))
    wait_run(page)
    assert len(traffic.asked("/headlight.first/")) == 1
    assert traffic.received < 1_500_000
    second = listen(page.context.new_page())
    again = count(second)
    second.goto(address(hosted.url, path))
    wait_run(second)
    assert again.received < 100_000
