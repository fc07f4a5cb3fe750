"""Bars as a page opens with them: read off by pointer and keyboard, and no plotting library is loaded for them."""

import pytest
from playwright.sync_api import expect

from tests.browser.drive import wait_run

CENTRE = "({ bars: { place: { left, w, bottom } } }, at) => ({ x: left + (at + 0.5) * w, y: bottom - 3 })"
LIBRARY = "() => performance.getEntriesByType('resource').filter(({ name }) => /Plotly/.test(name)).length"


@pytest.mark.fast
def test_bar_tooltip_by_pointer_and_keys(visit):
    """A bar is read off by the pointer and by the arrow keys."""
    page = visit("next-word", model="twin-g8", text="door milk cat door milk cat door")
    bars = page.locator(".st-key-next_chances .bars")
    expect(bars).to_be_visible()
    labels, values = bars.evaluate("({ bars: { data } }) => [data.labels, [...data.values]]")
    assert len(values) == len(labels) and all(0 <= value <= 1 for value in values)
    assert bars.evaluate("view => view.bars.place.marks") == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    bars.locator("canvas").hover(position=bars.evaluate(CENTRE, 2))
    expect(bars.locator(".tip")).to_have_text(f"{labels[2]}: {values[2]:.4f}")
    page.mouse.move(0, 0)
    expect(bars.locator(".tip")).to_be_hidden()
    bars.locator(".picture").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(bars.locator(".live")).to_have_text(f"{labels[1]}: {values[1]:.4f}")
    page.goto(page.url.partition("/next-word")[0] + "/many-heads")
    wait_run(page)
    expect(page.locator(".st-key-two_places .bars")).to_be_visible()
    assert page.evaluate(LIBRARY) == 0


def test_table_of_bars_sorts_by_column(visit):
    """A press on a title puts its largest number first, another its smallest; every column is on a phone's screen."""
    page = visit("heads", heads_view="numbers", viewport=(390, 844))
    table, head = page.locator("table.bars"), page.locator(".bars th:nth-child(5)")
    expect(page.locator(".st-key-section_numbers .take-away")).to_be_visible()
    for order in ("descending", "ascending"):
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", order)
        values = [float(cell.get_attribute("data-value")) for cell in table.locator("td:nth-child(5)").all()]
        assert len(set(values)) > 5 and values == sorted(values, reverse=order == "descending")
    assert all(box["x"] + box["width"] <= 390 for box in (cell.bounding_box() for cell in table.locator("td").all()))
