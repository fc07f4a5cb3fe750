"""A digit drawn in a browser with the mouse, a finger and the keys, and a patch that is clicked."""

from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Page, expect

from pages.convolution.vision.ink import to_code, to_levels
from tests.browser.drive import PHONE, wait_run
from viz.models.trained import digits

BLANK = "0" * 64


def link(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlparse(page.url).query).items()}


def pad(page: Page):
    result = page.locator(".pad canvas.digit")
    expect(page.locator(".pad")).to_have_attribute("data-drawn", "0" * 64)
    return result


def stroke(page: Page, canvas, *, down: bool = True) -> None:
    """From the middle of pixel (1, 4) to that of pixel (6, 4)."""
    box = canvas.bounding_box()
    assert box
    x, cell = box["x"] + 4.5 * box["width"] / 8, box["height"] / 8
    page.mouse.move(x, box["y"] + 1.5 * cell)
    page.mouse.down()
    page.mouse.move(x, box["y"] + 6.5 * cell, steps=7)
    page.mouse.up()


@pytest.mark.fast
def test_mouse_stroke_enters_link_and_model(visit):
    page = visit("convolution", section="vision", digit="draw", viewport=(1280, 1400))
    canvas = pad(page)
    stroke(page, canvas)
    wait_run(page)
    levels = to_levels(link(page)["ink"])
    assert link(page)["digit"] == "draw"
    assert levels[2:6, 4].min() >= 12, "the stroke's own column is full of ink"
    assert levels[:, [0, 1, 2, 6, 7]].sum() == 0 and levels[0].max() <= 4 and levels[7].max() <= 4
    expect(page.locator(".pad")).to_have_attribute("data-drawn", to_code(levels))
    # the same digit is in the picture that the heads look at; a second stroke over it changes nothing that is full
    stroke(page, canvas)
    wait_run(page)
    assert to_levels(link(page)["ink"])[3, 4] == digits.LEVELS
    page.locator(".pad button").last.click()
    wait_run(page)
    assert link(page)["ink"] == BLANK


def test_keys_ink_pixel(visit):
    page = visit("convolution", section="vision", digit="draw", viewport=(1280, 1400))
    canvas = pad(page)
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", " "):
        canvas.press(key)
    expect(page.locator(".pad .says")).to_contain_text("16")
    page.wait_for_url("**ink=**")
    levels = to_levels(link(page)["ink"])
    assert levels[2, 1] == digits.LEVELS and levels.sum() == digits.LEVELS


def test_touch_draws_without_scrolling(visit):
    page = visit("convolution", section="vision", digit="draw", viewport=PHONE)
    canvas = pad(page)
    canvas.scroll_into_view_if_needed()
    box, before = canvas.bounding_box(), page.get_by_test_id("stMain").evaluate("main => main.scrollTop")
    assert box
    client = page.context.new_cdp_session(page)
    x, cell = box["x"] + 4.5 * box["width"] / 8, box["height"] / 8
    points = [(x, box["y"] + (1.5 + i) * cell) for i in range(6)]
    for i, (at, down) in enumerate(points):
        kind = "touchMove" if i else "touchStart"
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at, "y": down}]})
    client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_url("**ink=**")
    assert to_levels(link(page)["ink"])[2:6, 4].min() >= 12
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == before


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
    assert link(page)["patch"] == str(8 * row + column)


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
