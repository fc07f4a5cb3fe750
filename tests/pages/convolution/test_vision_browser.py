"""A patch of a digit that is clicked in a browser, and the maps of the heads from there."""

import pytest
from playwright.sync_api import expect

from tests.browser.drive import PHONE, query_of, wait_run


@pytest.mark.fast("click")
@pytest.mark.parametrize("how", ["click", "keys"])
def test_another_patch_looks(visit, how):
    page = visit("convolution", section="vision", viewport=(1280, 1400))
    view = page.locator(".patches")
    expect(view).to_have_attribute("data-drawn", "4-4")
    picture = view.locator("canvas.whole")
    if how == "click":
        box = picture.bounding_box()
        assert box
        picture.click(position={"x": 1.5 * box["width"] / 8, "y": 6.5 * box["height"] / 8})
        row, column = 6, 1
    else:
        picture.focus()
        picture.press("ArrowUp")
        row, column = 3, 4
    expect(view).to_have_attribute("data-drawn", f"{row}-{column}")
    wait_run(page)  # drawn in the browser first; the link follows the answer
    assert query_of(page)["patch"] == str(8 * row + column)


@pytest.mark.parametrize("viewport", [(1280, 1400), PHONE])
def test_maps_canvas_cells_align_with_cards(visit, viewport):
    """The more of a row a patch is given, the more opaque its cell; the frame of the patch that looks is left out."""
    page = visit("convolution", section="vision", patch="19", viewport=viewport)
    view = page.locator(".patches")
    expect(view).to_have_attribute("data-drawn", "2-3")
    assert view.locator("canvas").count() == 2, "the picture, and the maps of all heads"
    off, plotted = view.evaluate("""(root) => {
        const { rows, columns, seen, windows, heads } = root.patches.data, canvas = root.querySelector(".maps");
        const context = canvas.getContext("2d"), outer = canvas.getBoundingClientRect(), n = rows * columns, off = [];
        const down = canvas.height / outer.height, across = canvas.width / outer.width;
        heads.forEach((_, i) => root.querySelectorAll(".card")[i].querySelectorAll(".map").forEach((place, side) => {
            const box = place.getBoundingClientRect(), weights = (side ? windows : seen).subarray(i * n, (i + 1) * n);
            for (let at = 0; at < n; at++) {
                if (at === 19) continue;
                const x = box.left - outer.left + ((at % columns) + 0.5) * box.width / columns;
                const y = box.top - outer.top + (Math.floor(at / columns) + 0.5) * box.height / rows;
                const [, , , alpha] = context.getImageData(x * across, y * down, 1, 1).data;
                off.push(Math.abs(alpha / 255 - Math.sqrt(weights[at])));
            }
        }));
        return [Math.max(...off), off.length];
    }""")
    assert plotted == 2 * 12 * 63
    assert off < 0.02, "within what 256 levels of opacity and 4,096 of weight can say"


def test_maps_redrawn_for_print(visit):
    page = visit("convolution", section="vision", viewport=(1280, 1400))
    view = page.locator(".patches")
    expect(view).to_have_attribute("data-drawn", "4-4")
    view.evaluate("""(root) => {
        const draw = root.patches.draw.bind(root.patches);
        window.widths = [root.clientWidth];
        root.patches.draw = () => { draw(); window.widths.push(root.clientWidth); };
    }""")
    page.pdf(format="A4")
    capture, on_paper, again = page.evaluate("() => window.widths")
    assert on_paper < capture == again
