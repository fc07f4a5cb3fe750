"""The table of words in a real browser: the model's predictions, and clicks that choose another word."""

import pytest
import torch
from playwright.sync_api import expect
from torch.testing import assert_close

from pages.next_word import compute
from pages.next_word.presets import presets_for
from tests.browser.drive import PHONE, eventually, wait_run
from tests.browser.test_frame import is_wider_than_the_window
from viz.frame import specs

TWIN = "twin-g2"
TEXT = presets_for(TWIN)["bird"].text
SOURCE = specs.Source(kind="model", text=TEXT, model=TWIN)


@pytest.mark.fast
def test_word_table_click_moves_position(visit):
    page = visit("next-word", model=TWIN, text=TEXT)
    rows = page.locator(".word_grid tbody tr")
    expect(rows).to_have_count(17)
    shares = page.locator(".word_grid").evaluate(
        "view => view.word_grid.data.rows.map((row) => row.cells.slice(1).map((cell) => cell.share))"
    )
    assert_close(torch.tensor(shares), compute.expected(SOURCE).chances)
    expect(rows.nth(16).locator("td").nth(1)).to_contain_text("bird")
    expect(page.locator(".word_grid [aria-pressed=true]")).to_have_text("16 · red")
    rows.nth(4).locator("button").click()
    wait_run(page)
    assert "next_at=4" in page.url
    expect(page.locator(".word_grid [aria-pressed=true]")).to_have_text("4 · red")
    page.locator(".word_grid tbody tr").nth(10).locator("td").nth(1).click()
    wait_run(page)
    assert "next_at=10" in page.url


def test_lens_column_click_on_phone(visit):
    page = visit("next-word", section="logit_lens", model=TWIN, text=TEXT, viewport=PHONE)
    expect(page.locator(".word_grid tbody tr")).to_have_count(3)
    eventually(lambda: is_narrow(page))
    page.locator(".word_grid thead button").nth(3).click()
    wait_run(page)
    assert "next_at=3" in page.url


def is_narrow(page):
    assert is_wider_than_the_window(page) == []
