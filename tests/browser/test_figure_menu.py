"""The menu of a picture: saving and copying by mouse and by keyboard, for each kind of picture."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.drive import PHONE, count
from viz.text import translator

T, ZH = translator("en"), translator("zh")
SVG = "{http://www.w3.org/2000/svg}"
WORDS = ["a", "<", "=b", ">", "{", "value", "}", "#000001"]
KINDS = ("png", "svg", "csv", "link", "markdown")
Save = Callable[[str, str], bytes]


def button(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key} > .take-away")


def item(page: Page, kind: str) -> Locator:
    return page.locator(f"[role=menuitem][data-kind={kind}]")


def save_picture(page: Page, key: str, kind: str) -> bytes:
    button(page, key).click()
    with page.expect_download() as download:
        item(page, kind).click()
    assert download.value.suggested_filename == f"headlight-{key}.{kind}"
    return Path(download.value.path()).read_bytes()


def table(page: Page, key: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(save_picture(page, key, "csv").decode("utf-8-sig"), newline="")))


def copy_lines(page: Page, key: str) -> list[str]:
    """Every text of a picture's SVG."""
    root = ElementTree.fromstring(save_picture(page, key, "svg"))
    assert not [href for part in root.iter() if (href := part.get("href", "")) and not href.startswith("data:")]
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.fast
def test_matrix_is_saved_and_copied(visit):
    """A matrix is saved with its numbers and copied."""
    page = visit("step-by-step", section="steps", step=7, source="words", text=" ".join(WORDS))
    expect(button(page, "map_A")).to_be_visible()
    traffic = count(page)
    names, values, width = page.locator(".st-key-map_A .matrix").evaluate(
        "({ matrix: { data }, clientWidth }) => [data.rows.labels, [...data.values], clientWidth]"
    )
    head, *rows = table(page, "map_A")
    assert [path.partition("headlight.")[2].split("/")[0] for path in traffic.paths_with("bidi-components")] == ["menu"]
    assert "=" in names, "a name that a spreadsheet would run"
    assert head[1:] == [row[0] for row in rows] == [f"'{name}" if name == "=" else name for name in names]
    assert [float(cell) for row in rows for cell in row[1:]] == values
    texts = copy_lines(page, "map_A")
    assert texts.count("<") == 2 and f"{values[0]:.2f}" in texts, (
        "the words on both sides, and the numbers in the cells"
    )
    below = texts[-3:]
    assert below[:2] == [T("source.words"), f"“{' '.join(WORDS)}”"]
    assert "section=steps" in below[2] and "lang=en" in below[2]
    picture = save_picture(page, "map_A", "png")
    assert picture.startswith(b"\x89PNG") and int.from_bytes(picture[16:20]) >= 2 * width
    button(page, "map_A").click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    item(page, "markdown").click()
    expect(page.locator(".menu .said")).to_have_text(T("figure_menu.copied"))
    lines = page.evaluate("() => navigator.clipboard.readText()").splitlines()
    assert len(lines) == len(names) + 4 and lines[1] == "| --- |" + " ---: |" * len(names)
    item(page, "link").click()
    assert page.evaluate("() => navigator.clipboard.readText()").partition("?")[2].endswith("lang=en")
    page.keyboard.press("Escape")
    page.context.clear_permissions()


def test_maps_and_chart_without_clipboard(visit):
    """Maps and a chart are saved by the keyboard and without a clipboard."""
    page = visit("many-heads", lang="zh", viewport=PHONE, scheme="dark")
    maps = page.locator(".st-key-two_places_maps .maps")
    expect(button(page, "two_places")).to_be_visible()
    head, *rows = table(page, "two_places_maps")
    values = maps.evaluate("({ maps: { data } }) => [...data.values]")
    assert [float(cell) for row in rows for cell in row[1:]] == values
    assert maps.evaluate("({ maps: { data } }) => data.maps[0].labels") == head[1:]
    expect(button(page, "two_places_maps")).to_have_attribute("aria-label", ZH("figure_menu.open"))
    assert ZH("many_heads.two_places.lost") in copy_lines(page, "two_places")
    assert len(table(page, "two_places")) == 4
    page.evaluate("() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })")
    button(page, "two_places").focus()
    page.keyboard.press("Enter")
    expect(item(page, "png")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(item(page, "markdown")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    text = page.locator(".menu textarea")
    expect(text).to_be_focused()
    expect(page.locator(".menu .said")).to_have_text(ZH("figure_menu.by_hand"))
    assert "/many-heads?" in text.input_value() and text.evaluate("box => box.selectionEnd - box.selectionStart") > 20
    box = page.locator(".menu").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0]
    page.keyboard.press("Escape")
    expect(page.locator(".menu")).to_be_hidden()
    expect(button(page, "two_places")).to_be_focused()


@pytest.mark.parametrize(("path", "key", "sentence"), [("", "arcs", "animal"), ("heads", "grid", "animal")])
def test_arcs_and_heads_as_displayed(visit, path, key, sentence):
    page = visit(path)
    expect(button(page, key)).to_be_visible()
    head, *rows = table(page, key)
    assert head[0] == "" and sentence in head and sum(map(float, rows[-1][1:])) == pytest.approx(1, abs=2e-3)
    texts = copy_lines(page, key)
    assert sentence in texts and any("all-MiniLM-L6-v2" in text for text in texts)


LOOK_TWICE = """(place) => {
    const { view } = place.shadowRoot ?? place, now = view.figures.data, { remove } = Element.prototype;
    let removed = 0;
    Element.prototype.remove = function () {
        if (this.matches(".take-away") && ++removed > 50) throw new Error("removed and put back for ever");
        remove.call(this);
    };
    const before = new view.constructor();
    before.receive({ lang: "en" });
    view.receive({ lang: "en", figures: now });
    document.body.append(document.createElement("i"));
    return new Promise((done) => setTimeout(() => {
        before.close();
        Object.assign(Element.prototype, { remove });
        done(removed);
    }, 100));
}"""


def test_leaving_a_presentation_goes_on(visit):
    """For a moment the view of a presented page, which has no menus, stands beside the one of the page behind it."""
    page = visit("heads")
    expect(button(page, "grid")).to_be_visible()
    assert page.locator(".st-key-document [data-testid=stBidiComponentRegular]").evaluate(LOOK_TWICE) < 50
    expect(button(page, "grid")).to_be_visible()
