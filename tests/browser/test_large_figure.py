"""The large figure of a picture: opened from its menu, with the same numbers, and closed again."""

import base64
import csv
import io
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from pages import FIRST, PAGES
from tests.browser.drive import PHONE, WIDE, address, count, eventually, wait_run
from tests.browser.test_figure_menu import button, item, save_picture
from viz.frame.sidebar import path_of
from viz.text import translator

T = translator("en")
READ_TRACES = """(dialog) => {
    const charts = [...dialog.querySelectorAll("div")].filter((part) => Array.isArray(part.data) && part.layout);
    const sent = (values) => values?.bdata ? { dtype: values.dtype, bdata: values.bdata } : values;
    const numbers = ({ type, x, y, z }) => ({ type, x: sent(x), y: sent(y), z: sent(z) });
    return charts.flatMap(({ data }) => data.map(numbers));
}"""
"""The traces of plotly, by the public names of its element."""
KEYS = """() => [...document.querySelectorAll(".stMain .take-away")].flatMap((one) =>
    /st-key-(\\S+)/.exec(one.parentElement.className)?.[1] ?? [])"""
"""A table of bars has a menu and no key: it is text, and no figure."""


def figure(page: Page, key: str) -> Locator:
    """Open the large figure of a picture by the mouse."""
    button(page, key).click()
    item(page, "plotly").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".stPlotlyChart .main-svg").first).to_be_visible()
    return dialog


def close(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def array(data: Any) -> list[float]:
    if isinstance(data, dict):
        data = np.frombuffer(base64.b64decode(data["bdata"]), np.dtype(data["dtype"]).newbyteorder("<")).tolist()
    return [math.nan if value is None else value for value in data]


def numbers_of_traces(traces: list[dict[str, Any]]) -> list[float]:
    """Every number of a figure: of a map its cells, of bars their heights, of a place both."""
    numbers: list[float] = []
    for trace in traces:
        parts = {"heatmap": ("z",), "bar": ("y",), "scatter": ("x", "y")}[trace["type"]]
        numbers += [value for part in parts for value in array(trace[part])]
    return [value for value in numbers if math.isfinite(value)]


def cells(file: bytes) -> Iterator[float]:
    """Every number in the rows of a CSV file but those that name a row."""
    for part in file.decode("utf-8-sig").split("\r\n\r\n"):
        rows = list(csv.reader(io.StringIO(part, newline="")))
        for row in rows[2 if len(rows[0]) == 1 else 1 :]:  # below a title, if there is one, and the names of columns
            yield from (float(cell) for cell in row[1:] if is_number(cell))


def is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["desk", "phone"])
def test_figure_opens_and_closes(visit, viewport):
    """plotly comes with it and not before; Escape closes it, and Back does not open it again."""
    page = visit("many-heads", viewport=viewport)
    page.goto(address(page.url.partition("/many")[0], "heads"))
    wait_run(page)
    expect(button(page, "grid")).to_be_visible()
    traffic = count(page)
    dialog = figure(page, "grid")
    assert traffic.paths_with("PlotlyChart"), "now"
    weights = page.locator(".st-key-grid .head-grid").evaluate("({ headGrid: { map } }) => Array.from(map.values)")
    traces = dialog.evaluate(READ_TRACES)
    assert [trace["type"] for trace in traces] == ["heatmap"]
    assert array(traces[0]["z"]) == weights
    box = dialog.locator(".stPlotlyChart").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= viewport[0]
    expect(dialog.locator(".modebar-container .modebar-btn").first).to_be_visible()
    plot = dialog.locator(".nsewdrag").bounding_box()
    assert plot
    page.mouse.move(plot["x"] + 2, plot["y"] + 2)
    expect(dialog.locator(".hoverlayer")).to_contain_text(f"{weights[0]:.6g}")
    close(page)
    expect(button(page, "grid")).to_be_focused()
    page.go_back()
    wait_run(page)
    page.go_forward()
    wait_run(page)
    expect(page.get_by_role("dialog")).to_have_count(0)
    figure(page, "grid")
    close(page)


def test_words_are_shown_literally(visit):
    """As a name of a row, in a sentence below, and under the pointer."""
    words = ["<b>x</b>", "$y$", "&lt;", "#000001"]
    page = visit("step-by-step", section="steps", step=7, source="words", text=" ".join(words))
    names = page.locator(".st-key-map_A .matrix").evaluate("({ matrix: { data } }) => data.rows.labels")
    dialog = figure(page, "map_A")
    labels = dialog.locator(".ytick text").all_text_contents()
    assert sorted(text.strip("\u2066\u2067\u2068\u2069") for text in labels) == sorted(names)


def test_other_temperature_is_opened(visit):
    """Numbers that Python has never seen: those that the browser makes itself."""
    page = visit("heads")
    before = page.locator(".st-key-grid .head-grid").evaluate("({ headGrid: { map } }) => Array.from(map.values)")
    slider = page.locator(".st-key-grid").get_by_role("slider").first
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    weights = page.locator(".st-key-grid .head-grid").evaluate("({ headGrid: { map } }) => Array.from(map.values)")
    traces = figure(page, "grid").evaluate(READ_TRACES)
    assert array(traces[0]["z"]) == weights != before


@pytest.mark.fast("start")
@pytest.mark.parametrize("name", [FIRST, *PAGES])
def test_figures_of_page_equal_their_tables(page, app_url, name):
    """Of every picture of all its sections: the traces have the numbers that the menu saves as CSV."""
    page.goto(address(app_url, "" if name == FIRST else path_of(name), **({} if name == FIRST else {"section": "all"})))
    wait_run(page)
    assert sum(opens_large(page, key) for key in page.evaluate(KEYS))


def assert_numbers_of_table(dialog: Locator, table: Counter[float], key: str) -> None:
    """The traces have the numbers of the table: all of them, unless the figure says what it leaves out."""
    drawn_numbers = Counter(numbers_of_traces(dialog.evaluate(READ_TRACES)))
    is_part = T("figure_menu.left_out", names="|").partition("|")[0] in dialog.inner_text()
    assert drawn_numbers <= table if is_part else drawn_numbers == table, (
        key,
        table - drawn_numbers,
        drawn_numbers - table,
    )


def opens_large(page: Page, key: str) -> bool:
    """Compare the figure of a picture with its file, if it has numbers."""
    button(page, key).click()
    expect(item(page, "csv")).to_be_visible()
    has_figure = item(page, "plotly").count() == 1
    page.keyboard.press("Escape")
    if not has_figure:
        return False
    table = Counter(cells(save_picture(page, key, "csv")))
    dialog = figure(page, key)
    eventually(lambda: assert_numbers_of_table(dialog, table, key))  # plotly may still be putting a chart in its place
    close(page)
    return True
