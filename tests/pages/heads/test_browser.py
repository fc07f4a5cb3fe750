"""User actions on the Heads page in a real browser."""

import base64
import re
import struct
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import expect

from tests.browser.drive import frame, wait_run
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.models.registry import entries
from viz.text import translator

T = translator("en")
REAL = specs.Source(kind="model", text=examples()[0].text, model=entries()[0].id)


def test_click_locks_sentence_across_texts(visit):
    """Describe the clicked row, also after another example is opened."""
    page = visit()
    grid = page.locator(".head-grid")
    sentence, small = grid.locator(".says"), grid.locator(".thumb")
    small.nth(40).click()
    expect(sentence).to_have_text(re.compile("^“it” looks most at"))
    box = small.nth(40).bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + 3)  # the hand is never quite still
    frame(page)
    expect(sentence).to_have_text(re.compile("^“it” looks most at"))
    small.nth(37).hover()
    expect(sentence).to_have_text(re.compile("^layer 3, head 1: .* gives"))
    expect(grid.locator(".title")).to_have_text(T("head_grid.layer_head", layer=3, head=1))
    small.nth(37).click()
    wait_run(page)
    page.locator(".st-key-try_wide button").click()  # far below the map
    expect(sentence).to_have_text(re.compile("^“it” looks most at .*“animal” 0.28"))
    expect(grid.locator(".chip")).to_have_text(re.compile("it"))
    expect(grid.locator(".large")).to_be_in_viewport(ratio=0.5)
    expect(sentence).to_be_in_viewport(ratio=1)


def test_page_as_file_equals_trace(visit, new_page, tmp_path):
    """It opens as it is here, with the app's own values."""
    page = visit(layer=2, head=9, query=4, lang="zh", merge=1)
    T = translator("zh")
    page.get_by_text(T("footer.downloads")).click()
    wait_run(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=T("export.page")).click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    alone, requests = new_page(), []
    alone.on("request", lambda request: requests.append(request.url))
    alone.goto(file.as_uri())
    grids = [where.locator(".head-grid") for where in (page, alone)]
    sentence = [grid.locator(".says") for grid in grids]
    expect(sentence[1]).to_have_text(sentence[0].inner_text())
    local_value, there = (grid.evaluate("(root) => Array.from(root.headGrid.wall.values)") for grid in grids)
    assert local_value == there
    expect(alone.locator("blockquote")).to_have_text(examples()[0].text)
    expect(alone.locator("h1")).to_contain_text(REAL.model)
    link = alone.locator(".facts a").get_attribute("href")
    assert {"layer=2", "head=9", "query=4", "merge=1"} <= set(link.partition("?")[2].split("&"))
    assert requests == [file.as_uri()]


def test_a_figure_is_saved(visit):
    page = visit("atlas", section="spread", view="scatter")
    figure = page.get_by_test_id("stPlotlyChart").first
    figure.scroll_into_view_if_needed()
    figure.hover()
    with page.expect_download() as download:
        figure.locator("[data-title*='ownload'], [data-attr='toImage'], .modebar-btn").first.click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


SVG = "{http://www.w3.org/2000/svg}"


def save_large(page, kind):
    with page.expect_download() as download:
        page.locator(".head-grid").get_by_role("button", name=T(f"head_grid.save_{kind}")).click()
    return Path(download.value.path()).read_bytes()


def test_large_map_saves_words_and_cells(visit):
    """The SVG has every token as a word on two sides, and the cells as a bitmap of the head's size."""
    page = visit(text="a <b> & #000001")
    root = ElementTree.fromstring(save_large(page, "svg"))
    labels = compute.read(replace(REAL, text="a <b> & #000001")).tokens.labels
    texts = [text.text.strip("\u2068\u2069") for text in root.iter(f"{SVG}text") if text.text]
    assert [text for text in texts if text in labels] == [*labels, *labels]
    (cells,) = [image.get("href") for image in root.iter(f"{SVG}image")]
    header = base64.b64decode(cells.partition(",")[2])[16:24]
    assert struct.unpack(">II", header) == (len(labels), len(labels))


def test_lines_save_as_seen(visit):
    """The lines look is saved as its lines: a curve for each weight that is drawn."""
    page = visit(text="a <b> & #000001", look="lines")
    n_lines = page.locator(".head-grid").evaluate("(root) => root.headGrid.lines.drawn.length")
    root = ElementTree.fromstring(save_large(page, "svg"))
    assert len([path for path in root.iter(f"{SVG}path") if "C" in path.get("d", "")]) == n_lines > 0
