"""The map of a long text in a real browser: the core's numbers, a click for a window, another for a row."""

import pytest
import torch
from playwright.sync_api import Page, expect
from torch.testing import assert_close

from pages.long_text.compute import LongText, head_map, read
from tests.browser.drive import eventually, wait_run
from viz.core.long.rows import window
from viz.frame.specs import Source
from viz.text import translator

T = translator("en")
WORDS = "one two three four five two seven"
TEXT = " ".join([WORDS] * 16)
PARAMETERS = {"source": "words", "text": TEXT, "d_model": 8, "n_heads": 2, "long_times": 8, "head": 1}


def of_the_core() -> tuple[LongText, torch.Tensor]:
    """The same text, and the largest weight of each cell."""
    source = Source(kind="words", text=TEXT, d_model=8, n_heads=2, n_kv_heads=2)
    text = LongText(source=source, times=8, most=1024)
    return text, head_map(text, 0, 1).most


def read_back(page: Page, what: str) -> torch.Tensor:
    """Numbers as the browser has them."""
    return torch.tensor(page.locator(".long-map").evaluate(f"view => Array.from(view.longMap.data.{what})"))


def zoomed(page: Page) -> list[int]:
    return read_back(page, "zoom").tolist()


@pytest.mark.fast
def test_clicks_open_window_and_row(visit):
    """A click opens a window, another a row; all numbers equal the core's."""
    text, most = of_the_core()
    page = visit("long-text", **PARAMETERS)
    total, near = page.locator(".whole .picture"), page.locator(".near .picture")
    expect(near).to_be_visible()
    n, count = len(read(text).tokens.ids), len(most)
    codes = read_back(page, "values").double()
    assert len(codes) == count**2
    decoded = torch.where(codes > 0, 10 ** (6 * ((codes - 1) / 65_534 - 1)), 0.0).reshape(count, count)
    assert_close(decoded, most.double(), rtol=2e-4, atol=1e-6)

    box = total.bounding_box()
    total.click(position={"x": box["width"] * 0.25, "y": box["height"] * 0.75})
    wait_run(page)
    row, column = int(n * 0.75), int(n * 0.25)
    eventually(lambda: assert_close(torch.tensor(zoomed(page)[:2]), torch.tensor([row, column]) - 128, atol=4, rtol=0))
    top, left_edge, high, wide = zoomed(page)
    q, k = read(text).head(0, 1)
    expected = window(q, k, row=top, column=left_edge, **read(text).options(0, 0))
    assert_close(read_back(page, "cut").reshape(high, wide).float(), expected, rtol=1e-5, atol=1e-8)
    assert f"zoom_column={left_edge}" in page.url

    near.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        near.press(key)
    expect(page.locator(".near .says")).to_contain_text(f"({top + 1})")
    near.press("Enter")
    wait_run(page)
    selection = page.locator(".long-map .keys p b")
    eventually(lambda: expect(selection).to_have_text(f" ▸{read(text).tokens.labels[top + 1]}◂ "))
    assert {f"long_row={top + 1}", f"zoom_row={top}"} <= set(page.url.partition("?")[2].split("&"))
    assert zoomed(page)[:2] == [top, left_edge], "the window stays where it is"


def test_short_texts_heads_have_no_shape(visit):
    """A head without a shape is named without a share, which would be that of another shape."""
    page = visit("long-text", **PARAMETERS | {"long_times": 1}, section="wall")
    shape = T("long_text.long_wall.short")
    expect(page.locator(".long-wall .legend")).to_contain_text(shape)
    name = T("long_text.long_wall.alt_none", layer=0, head=1, shape=shape)
    page.get_by_role("button", name=name, exact=True).focus()
    expect(page.locator(".long-wall .says")).to_contain_text(f"Layer 0, head 1: {shape}.")
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.locator(".long-map .whole .picture")).to_be_visible()
