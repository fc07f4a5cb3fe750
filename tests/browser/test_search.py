"""The search with real keys: typing, results, announcements, opening, and requests to the server."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, eventually, frame, wait_run
from tests.browser.test_accessibility import look, look_at_both_themes
from viz.lessons.lesson_file import lesson_named
from viz.text import translator
from viz.text.glossary import terms

BOX, OPTION = ".stSidebar .st-key-search input", ".st-key-search [role=option]"
HOSTILE = '<img src=qxzvk> {n|xqz|zqx} "של"'


def selected_result(page: Page) -> str:
    """The title of the result that Enter opens, by what the box says to a screen reader."""
    active = page.locator(BOX).get_attribute("aria-activedescendant")
    return page.locator(f"#{active} b").inner_text() if active else ""


@pytest.mark.fast
def test_search_mistyped_term_opens_its_place(visit):
    """ "/" leads to the box, two mistyped words to the term, Enter to its place, with the text that was typed."""
    page = visit("masks", text="a zebra ran", layer=5)
    loads = []
    page.on("load", lambda page_: loads.append(page_.url))
    page.keyboard.press("/")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.type("attnetion snik")
    expect(page.locator(OPTION).first).to_contain_text(terms()["sink"].says["en"])
    n = page.locator(OPTION).count()
    expect(page.locator(".st-key-search [role=status]")).to_have_text(f"{n} {'result' if n == 1 else 'results'}")
    page.keyboard.press("Enter")
    wait_run(page)
    page_name, section, rest = terms()["sink"].place
    expect(page.get_by_role("heading", level=1)).to_have_text(translator("en")(f"{page_name}.title"))
    expect(page.locator(f".st-key-section_{rest.removeprefix('heads_view=') or section}")).to_be_visible()
    expect(page.locator(".st-key-text textarea")).to_have_value("a zebra ran")
    assert "layer=5" in page.url and loads == [], "one visit, and what was chosen comes along"
    expect(page.locator(BOX)).to_have_value("")
    expect(page.locator(OPTION).first).to_be_hidden()


def test_search_arrows_move_and_escape_closes(visit):
    """The arrows go round, Escape closes and keeps what was typed, an arrow opens again; axe finds nothing."""
    page = visit("heads")
    page.keyboard.press("Control+k")
    page.keyboard.type("mask")
    box, options = page.locator(BOX), page.locator(OPTION)
    expect(options.first).to_have_attribute("aria-selected", "true")
    titles = options.locator("b").all_inner_texts()
    assert selected_result(page) == titles[0]
    page.keyboard.press("ArrowDown")
    assert selected_result(page) == titles[1]
    for _ in range(2):
        page.keyboard.press("ArrowUp")
    assert selected_result(page) == titles[-1]
    expect(options.last).to_be_in_viewport()
    look_at_both_themes(page)
    page.emulate_media(forced_colors="active")
    frame(page)
    backgrounds = [option.evaluate("node => getComputedStyle(node).backgroundColor") for option in options.all()[-2:]]
    assert backgrounds[0] != backgrounds[1], "the chosen one is seen under a contrast theme"
    page.keyboard.press("Escape")
    expect(options.first).to_be_hidden()
    expect(box).to_have_value("mask")
    assert selected_result(page) == "" and box.get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowDown")
    expect(options.first).to_be_visible()


def test_search_key_asks_nothing_of_server(new_page, app_url):
    """The index and its code come when the box gets the focus; after that no key sends anything."""
    page, requests, messages = new_page(), [], []

    def note(message: str | bytes) -> None:
        messages.append(message)

    page.on("websocket", lambda socket: socket.on("framesent", note))
    page.goto(f"{app_url}/glossary?lang=zh")
    wait_run(page)
    page.on("request", lambda request: requests.append(request.url.rpartition("/")[2].partition("-")[0]))
    page.keyboard.press("/")
    page.keyboard.insert_text("缩放点集")
    expect(page.locator(OPTION).first).to_contain_text(terms()["sdpa"].names["zh"])
    assert sorted(requests) == ["find", "search.json"]
    messages.clear()
    for text in ("，", "多头", " softmax"):
        page.keyboard.insert_text(text)
        frame(page)
    assert len(requests) == 2 and messages == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_search_on_phone_opens_place(visit, scheme):
    """The box is in the sidebar, its results are within the screen; a tap opens one, and the sidebar makes room."""
    page = visit("masks", lang="zh", viewport=PHONE, scheme=scheme)
    page.get_by_test_id("stExpandSidebarButton").click()
    page.locator(BOX).fill("循环网络")
    option = page.locator(OPTION).first
    expect(option).to_contain_text("RNN")
    frame(page)
    box = page.locator(".st-key-search [popover]").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0] and box["y"] + box["height"] <= PHONE[1]
    look(page)
    option.click()
    wait_run(page)
    page_name, section, _ = terms()["rnn"].place
    expect(page.locator(f".st-key-section_{section}")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text(translator("zh")(f"{page_name}.title"))
    expect(page.locator(".stSidebar")).to_have_attribute("data-collapsed", "true")


def test_search_query_is_shown_literally(visit):
    """Signs of HTML and of our own texts, and a word from right to left, are shown as they were typed."""
    page = visit("glossary")
    box = page.locator(".st-key-search_here input")
    box.fill(HOSTILE)
    none = page.locator(".st-key-search_here .none")
    expect(none).to_be_visible()
    expect(none).to_contain_text('"של"')
    assert none.locator("*").count() == 0 and "<img src=qxzvk" in none.inner_text()
    box.fill("x" * 300)
    eventually(lambda: expect(box).to_have_value("x" * 80))
    assert box.get_attribute("dir") == "auto"


def test_search_on_glossary_page_opens_lesson(visit):
    """The page has a box of its own, which finds lessons, too; "/" in a text field is a sign like any other."""
    page, text = visit("glossary"), f"{lesson_named('ten_minutes').title['en']}/"
    box = page.locator(".st-key-search_here input")
    box.click()
    page.keyboard.type(text)
    expect(box).to_be_focused()
    expect(box).to_have_value(text)
    expect(page.locator(".st-key-search_here [role=option]").first).to_contain_text("Lesson")
    page.keyboard.press("Enter")
    wait_run(page)
    assert "lesson=ten_minutes" in page.url


def test_search_slash_opens_closed_sidebar(visit):
    """Somebody who has closed the sidebar finds the box by the same key."""
    page = visit("masks")
    page.locator(".stSidebar").hover()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    expect(page.locator(".stSidebar")).to_have_attribute("data-collapsed", "true")
    page.keyboard.press("/")
    expect(page.locator(".stSidebar")).to_have_attribute("data-collapsed", "false")
    expect(page.locator(BOX)).to_be_focused()
