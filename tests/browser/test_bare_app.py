"""Grids and a matrix in somebody's own app, which has nothing of ours: what is chosen comes back to Python."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.drive import serve

APP = Path(__file__).with_name("bare_app.py")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    with serve(APP, tmp_path_factory.mktemp("bare") / "log.txt") as running:
        yield running


@pytest.mark.fast
def test_choices_come_back(new_page, bare):
    """Two grids are independent; what else is chosen in one stays when another head is taken."""
    page = new_page(fresh=True)
    page.goto(bare.url)
    lines = [page.get_by_text(f"picked {number}:") for number in (0, 1)]
    grids = page.locator(".head-grid")
    expect(lines[1]).to_have_text("picked 1: 0 0 None")
    grids.nth(0).get_by_role("radio", name="lines", exact=True).click()
    grids.nth(0).get_by_label("layer 1, head 3", exact=True).click()
    expect(lines[0]).to_have_text("picked 0: 1 3 None")
    grids.nth(1).locator(".token").nth(1).click()
    expect(lines[1]).to_have_text("picked 1: 0 0 1")
    expect(lines[0]).to_have_text("picked 0: 1 3 None")
    expect(grids.nth(0).get_by_role("radio", name="lines", exact=True)).to_be_checked()
    matrix = page.get_by_role("application").last
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        matrix.press(key)
    expect(page.get_by_text("cell:")).to_have_text("cell: (1, 1)")
