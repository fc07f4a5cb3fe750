"""The frame in a real browser: first paint, language, links, hostile text, phone, keyboard, dark."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.drive import (
    PHONE,
    count,
    open_chip,
    open_section,
    wait_run,
)
from viz.text import translator

HOSTILE = (
    "<b>bold</b>", "<img src=x onerror=alert(1)>", "![x](http://example.com/a.png)", "$x^2$", "#000001", ":red[x]",
    "\u202eabc", "a\x07b\x1bc", "[a](javascript:alert(1))", ":material/home:", "http://example.com/b.png", "{x}",
)  # fmt: skip
PICTURES = "[data-testid=stMain] canvas, [data-testid=stMain] .heatmaplayer image"


def write(page: Page, text: str) -> None:
    """Type a text and wait for the answer."""
    box = page.locator(".st-key-text textarea")
    box.fill(text)
    box.press("Control+Enter")
    wait_run(page)


def pictures(page: Page) -> Locator:
    return page.locator(PICTURES)


def is_wider_than_the_window(page: Page) -> list[str]:
    """The elements that make the page scroll sideways, if any."""
    return page.evaluate("""() => {
        const main = document.querySelector('[data-testid=stMain]'), wide = main.scrollWidth > main.clientWidth + 1;
        const room = main.getBoundingClientRect().right + 1;
        const guilty = [...main.querySelectorAll('*')].filter((node) => node.getBoundingClientRect().right > room);
        return wide || document.documentElement.scrollWidth > innerWidth + 1
            ? ['page', ...guilty.map((node) => node.className.toString().slice(0, 80))] : [];
    }""")


SECTION, PAGE = 20, 53
"""Messages of a section, and of a page without the navigation and what else is around it."""


def test_a_click_sends_what_it_changes(visit):
    page = visit(section="joined")
    t, section = translator("en"), page.locator(".st-key-section_joined")
    traffic = count(page)
    page.reload()  # the connection whose messages are counted begins here
    wait_run(page)

    def sent_bytes(act, most):
        before = traffic.messages
        act()
        wait_run(page)
        assert 0 < traffic.messages - before <= most

    # A section's own control: the section alone.
    for stage in ("concat", "contributions"):
        sent_bytes(section.get_by_text(t(f"heads.after_{stage}"), exact=True).click, SECTION)
        expect(section.locator(f".st-key-after_{stage} canvas")).to_be_visible()
    open_chip(page, "layer")
    layer = page.locator(".st-key-layer input[type=range]")
    sent_bytes(lambda: layer.press("ArrowRight"), PAGE)
    page.keyboard.press("Escape")
    sent_bytes(page.get_by_role("radio", name=t("heads.switched_off.title"), exact=True).click, PAGE)
    expect(page.locator(".st-key-section_switched_off")).to_be_visible()
    expect(section).to_have_count(0)
    page.get_by_test_id("stSidebarNav").get_by_text(t("masks.title"), exact=True).click()
    wait_run(page)
    open_chip(page, "layer")
    sent_bytes(lambda: layer.press("ArrowLeft"), PAGE)


def test_key_for_rerun_is_always_answered(visit):
    """A key that only requests another run is answered each time."""
    page = visit(section="joined")
    page.locator(".st-key-after").get_by_role("radio").last.click()
    wait_run(page)
    for _ in range(3):  # until it is told that a run is over, the browser asks for no other
        page.keyboard.press("r")
        wait_run(page)


def test_language_is_browsers_until_clicked(visit):
    page = visit(locale="zh-CN")
    heading, document = page.get_by_role("heading", level=1), page.locator("html")
    expect(heading).to_have_text(translator("zh")("heads.title"))
    expect(document).to_have_attribute("lang", "zh")
    page.get_by_text("English", exact=True).click()
    wait_run(page)
    expect(heading).to_have_text(translator("en")("heads.title"))
    expect(document).to_have_attribute("lang", "en")
    expect(page.get_by_role("list", name=translator("en")("page.group_basics"))).to_be_visible()
    expect(page).to_have_url(re.compile(r"[?&]lang=en(&|$)"))
    page.get_by_text("中文", exact=True).click()
    wait_run(page)
    expect(heading).to_have_text(translator("zh")("heads.title"))
    expect(document).to_have_attribute("lang", "zh")
    expect(page.get_by_role("list", name=translator("zh")("page.group_basics"))).to_be_visible()


def rendered(page: Page) -> Iterator[str]:
    """The elements that a hostile text would become if it were not escaped."""
    for what in ("main", "sidebar"):
        part = page.get_by_test_id("stMain" if what == "main" else "stSidebar")
        images = part.locator("img:not([data-testid$=Logo])")
        yield from (f"{what}: {html}" for html in images.evaluate_all("all => all.map(e => e.outerHTML)"))
        bold = part.locator("b, strong").all_inner_texts()
        yield from (f"{what}: {text}" for text in bold if text in ("bold", "x"))
        yield from part.locator("a[href*='javascript'], a[href*='example.com']").all_inner_texts()


@pytest.mark.parametrize(("path", "source"), [("heads", "model"), ("step-by-step", "words")])
def test_hostile_text_is_shown_literally(visit, path, source):
    section = {"heads": "all_heads", "step-by-step": "steps"}[path]
    page = visit(path, section=section, source=source)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    for text in (" ".join(HOSTILE), *HOSTILE[1:4]):
        write(page, text)
        expect(page.locator(".st-key-text textarea")).to_have_value(text)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        assert list(rendered(page)) == []
    # And once more from the link, as somebody else would be sent it.
    second_page = visit(path, section=section, source=source, text=" ".join(HOSTILE))
    expect(second_page.get_by_test_id("stException")).to_have_count(0)
    assert list(rendered(second_page)) == []


LAST_TAB = {"heads": "switched_off", "step-by-step": "split"}
"""A section that has a tab on a desk, and on a phone a line of the menu."""


@pytest.mark.fast("heads-dark-compare")
@pytest.mark.parametrize(
    ("path", "scheme", "section"), [("heads", "dark", "compare"), ("step-by-step", "light", "saturation")]
)
def test_phone_fits_tabs_without_sideways_scroll(visit, path, scheme, section):
    """The open section's tab is one of three; the menu beside them has the others."""
    page = visit(path, viewport=PHONE, scheme=scheme, section=section)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert is_wider_than_the_window(page) == []
    expect(page.locator(".st-key-text textarea")).to_be_in_viewport()
    open_tab = page.locator(".st-key-section [aria-checked=true]")
    expect(open_tab).to_be_in_viewport(ratio=1)
    bar = page.locator(".st-key-section [role=radiogroup]")
    assert bar.evaluate("bar => bar.scrollWidth - bar.clientWidth") <= 1, "which rounding leaves"
    expect(bar.get_by_role("radio").locator("visible=true")).to_have_count(3)
    title = translator("en")(f"{path.replace('-', '_')}.{LAST_TAB[path]}.title")
    open_section(page, title)
    expect(open_tab).to_have_text(title)
    expect(open_tab).to_be_in_viewport(ratio=1)


def tab_through(page: Page, steps: int) -> set[str]:
    """The keys of the controls that the Tab key reaches."""
    focused: set[str] = set()
    for _ in range(steps):
        page.keyboard.press("Tab")
        focused |= set(
            page.evaluate("""() => {
            const held = document.activeElement.closest('[class*=st-key-]');
            return held ? [...held.classList].filter((name) => name.startsWith('st-key-')) : [];
        }""")
        )
    return {name.removeprefix("st-key-") for name in focused}


@pytest.mark.fast
def test_the_keyboard_reaches_every_control(visit):
    page = visit(source="words", mask="window")
    chips = {"source": {"source", "d_model", "n_heads", "n_kv_heads", "seed"}, "settings": {"mask", "width"}}
    assert {"text", "_example", "section", "lang", *(f"chip_{name}" for name in chips)} <= tab_through(page, 40)
    for name, keys_of_chip in chips.items():
        page.locator(f".st-key-chip_{name} button").press("Enter")
        expect(page.get_by_test_id("stPopoverBody")).to_be_visible()
        assert keys_of_chip <= tab_through(page, 60)  # what opens stands at the end of the page
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def test_picture_place_is_reserved(visit):
    page = visit()
    section, grid = page.locator(".st-key-section_all_heads"), page.locator(".st-key-grid_box")
    for place, least in ((grid, 600), (section, page.viewport_size["height"])):
        assert place.evaluate("place => (place.replaceChildren(), place.offsetHeight)") >= least


def test_embedded_page_has_one_link(visit):
    page = visit("step-by-step", embed="true", step=4, section="steps")
    expect(page.locator(".st-key-section_steps h3")).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    for hidden in ("chips", "section", "neighbours"):
        expect(page.locator(f".st-key-{hidden}")).not_to_be_visible()
    page.locator(".st-key-next button").click()
    expect(page).to_have_url(re.compile(r"embed=true"))
    expect(page.locator(".st-key-way_out a")).to_have_attribute(
        "href", re.compile(r"/step-by-step\?section=steps&step=5$")
    )
    by_hand = visit("step-by-step", embed="true")
    expect(by_hand.locator(".three-words")).to_be_visible()
    expect(by_hand.get_by_role("heading", level=1)).to_have_count(0)
