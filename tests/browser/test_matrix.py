"""A matrix as it is drawn: read off by pointer and keyboard, chosen from; its numbers where they have room."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, open_chip, wait_run
from viz.text import translator

T = translator("en")
PICTURE = ".st-key-map_A .matrix"
CENTRE = "({ matrix: { place: { left, top, w, h } } }, [i, j]) => ({ x: left + (j + 0.5) * w, y: top + (i + 0.5) * h })"
WORDS = ["a", "<", "b", ">", "{", "value", "}", "#000001"]


@pytest.fixture
def open_matrix(visit):
    def softmax(**options) -> Page:
        page = visit("step-by-step", section="steps", step=7, source="words", text=" ".join(WORDS), **options)
        expect(page.locator(PICTURE)).to_be_visible()
        return page

    return softmax


@pytest.mark.fast
def test_cell_tooltip_by_pointer_and_keys(open_matrix):
    """A cell is read off by the pointer and by the arrow keys."""
    page = open_matrix()
    matrix = page.locator(PICTURE)
    values, names = matrix.evaluate("({ matrix: { data } }) => [[...data.values], data.rows.labels]")
    assert len(values) == len(names) ** 2 and sum(values) == pytest.approx(len(names))
    matrix.locator("canvas").hover(position=matrix.evaluate(CENTRE, [2, 1]))
    tooltip = T("step_by_step.hover", row=names[2], column="<", value=f"{values[2 * len(names) + 1]:.4f}")
    expect(matrix.locator(".tip")).to_have_text(tooltip)
    page.mouse.move(0, 0)
    expect(matrix.locator(".tip")).to_be_hidden()
    matrix.locator(".picture").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(matrix.locator(".tip")).to_have_text(tooltip)
    expect(matrix.locator(".live")).to_have_text(tooltip)
    page.keyboard.press("Enter")
    wait_run(page)
    expect(page.locator(".st-key-chip_pair")).to_contain_text("query 2 → key 1")


def test_cell_can_be_selected_again(open_matrix):
    """The same cell can be selected again after another was selected elsewhere."""
    page = open_matrix()
    matrix = page.locator(PICTURE)
    for _ in range(2):
        matrix.locator("canvas").click(position=matrix.evaluate(CENTRE, [3, 0]))
        wait_run(page)
        expect(page.locator(".st-key-chip_pair")).to_contain_text("query 3 →")
        open_chip(page, "pair")
        page.locator(".st-key-query input").click()
        page.get_by_role("option", name="0 · a").click()
        wait_run(page)
        expect(page.locator(".st-key-chip_pair")).to_contain_text("query 0 →")
        page.keyboard.press("Escape")


def test_numbers_are_drawn_where_they_fit(visit):
    count = r"""(view) => {
        const canvas = CanvasRenderingContext2D.prototype, write = canvas.fillText, seen = [];
        canvas.fillText = function (text, ...at) {
            seen.push([text, this.font]);
            write.call(this, text, ...at);
        };
        view.matrix.draw();
        canvas.fillText = write;
        return seen.filter(([text]) => /^\d\.\d\d$/.test(text)).map(([, font]) => parseFloat(font));
    }"""
    page = visit("many-heads", section="experts", experts_view="differ", source="words", d_model=64, n_heads=16)
    matrix = page.locator(".matrix").first
    expect(matrix).to_be_visible()
    sizes = matrix.evaluate(count)
    assert len(sizes) == 16 * 16 and min(sizes) >= 7
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.wait_for_function("view => view.matrix.place.w < 20", arg=matrix.element_handle())
    assert matrix.evaluate(count) == [], "numbers that nobody can read are not written"
