"""The sinusoid explorer and the maps in a real browser: the client's numbers are torch's, Python hears of a release."""

import math
import re

import pytest
import torch
from playwright.sync_api import Page, expect
from torch.testing import assert_close

from tests.browser.drive import open_chip, wait_run
from viz.core.positions import frequencies, sinusoidal
from viz.text import translator

T = translator("en")
READ = """view => {
    const {width, n, base, omega, rows, common} = view.sinusoids.numbers;
    return {width, n, base, omega: Array.from(omega), rows: Array.from(rows), common: Array.from(common)};
}"""


def numbers(page: Page) -> dict:
    explorer = page.locator(".sinusoids")
    expect(explorer).to_have_attribute("data-drawn", re.compile("."))
    return explorer.evaluate(READ)


def expect_drawn(page: Page, width: int, n: int, base: float) -> None:
    expect(page.locator(".sinusoids")).to_have_attribute("data-drawn", f"{width},{n},{base:g}")


def slide_live(page: Page, name: str, value: float) -> None:
    """Move a slider of the explorer as a drag does: many inputs, no release."""
    page.locator(f".sinusoids input[data-name={name}]").evaluate(
        "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", value
    )


def let_go(page: Page, name: str) -> None:
    page.locator(f".sinusoids input[data-name={name}]").evaluate("input => input.dispatchEvent(new Event('change'))")
    wait_run(page)


def is_torchs(page: Page, width: int, n: int, base: float) -> None:
    expect_drawn(page, width, n, base)
    client = numbers(page)
    assert (client["width"], client["n"], client["base"]) == (width, n, base)
    assert_close(torch.tensor(client["omega"], dtype=torch.float64), frequencies(width, base=base))
    # the last digit of float32, and the last digits of another library's sine
    rows = sinusoidal(n, width, base=base)
    assert_close(torch.tensor(client["rows"]).reshape(n, width), rows, atol=2e-7, rtol=0)
    common = (rows.double() @ rows[0].double() / (width / 2)).float()
    assert_close(torch.tensor(client["common"]), common, atol=2e-7, rtol=0)


@pytest.mark.fast
def test_client_numbers_and_release(visit):
    page = visit("positions", section="sinusoids", pe_width=14, pe_n=37, base=700, source="words")
    is_torchs(page, 14, 37, 700.0)
    before = page.url
    for width, n, base in ((2, 8, 10.0), (22, 101, 100.0), (128, 512, 10_000.0)):
        slide_live(page, "d_model", width)
        slide_live(page, "n", n)
        slide_live(page, "base", math.log10(base))
        is_torchs(page, width, n, base)
    assert page.url == before, "nothing is told while a slider moves"
    let_go(page, "base")
    expect(page).to_have_url(re.compile("pe_width=128"))
    expect(page).to_have_url(re.compile("pe_n=512"))
    assert "base" not in page.url, "10,000 is the default base"
    is_torchs(page, 128, 512, 10_000.0)  # Python's answer changes nothing


def test_odd_width_error_and_recovery(visit):
    page = visit("positions", section="sinusoids", source="words")
    expect_drawn(page, 64, 64, 10_000)
    box = page.locator(".sinusoids .typed")
    box.fill("7")
    box.press("Enter")
    wait_run(page)
    expect(page.locator(".sinusoids .error")).to_contain_text("D = 7 is odd")
    expect(page.get_by_test_id("stAlert").filter(has_text="A width of 7 is odd")).to_be_visible()
    expect(page.locator(".sinusoids .map")).to_be_hidden()
    box.fill("8")
    box.press("Enter")
    wait_run(page)
    expect_drawn(page, 8, 64, 10_000)
    expect(page.locator(".sinusoids .error")).to_be_hidden()


def test_clocks_and_map_set_link(visit):
    page = visit("positions", section="sinusoids", source="words")
    expect_drawn(page, 64, 64, 10_000)
    clocks = page.locator(".sinusoids .clock[aria-pressed=true]")
    expect(clocks).to_have_text(["0", "4", "8"])
    page.locator(".sinusoids .clock").get_by_text("2", exact=True).click()
    wait_run(page)
    expect(clocks).to_have_text(["0", "2", "4", "8"])
    expect(page).to_have_url(re.compile("pe_pairs=0-4-8-2"))
    heat = page.locator(".sinusoids .map")
    box = heat.bounding_box()
    heat.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    wait_run(page)
    expect(page).to_have_url(re.compile(r"pe_at=3\d"))
    expect(page.locator(".sinusoids .says")).to_contain_text("p(3")
    selection = int(re.search(r"pe_at=(\d+)", page.url)[1])
    heat.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    wait_run(page)
    expect(page).to_have_url(re.compile(rf"pe_at={selection + 2}\b"))
    expect(page.locator(".sinusoids .says")).to_contain_text(f"p({selection + 2}")


def test_charts_read_by_pointer_and_keys(visit):
    """Waves, wavelengths and what rows have in common are read off with the numbers of the map."""
    page = visit("positions", section="sinusoids", source="words", pe_pairs="0-8")
    rows = torch.tensor(numbers(page)["rows"]).reshape(64, 64)
    waves, lengths, decay = (page.locator(f".sinusoids .{name}") for name in ("waves", "lengths", "decay"))
    at = waves.evaluate("({ waves: { place: { x, y } } }) => ({ x: x(12), y: y(0) })")
    waves.locator("canvas").hover(position=at)
    lines = [
        f"{wave} {column // 2}: p(12, {column}) = "
        for column, wave in ((0, "sin"), (1, "cos"), (16, "sin"), (17, "cos"))
    ]
    texts = waves.locator(".tip").inner_text().splitlines()
    assert [text[: text.index("=") + 2] for text in texts] == lines
    values = torch.tensor([float(text.partition(" = ")[2].replace("−", "-")) for text in texts])
    assert_close(values, rows[12, [0, 1, 16, 17]], atol=1e-4, rtol=1e-3)
    lengths.locator(".picture").focus()
    page.keyboard.press("ArrowRight")
    expect(lengths.locator(".live")).to_have_text("pair 0: wavelength 6.283 positions")
    assert lengths.evaluate("({ lengths: { place: { xs } } }) => xs.names") == ["2π", "100", "1000", "10k", "10k·2π"]
    decay.locator(".picture").focus()
    page.keyboard.press("ArrowRight")
    expect(decay.locator(".live")).to_have_text("0: 1")


def test_key_held_during_answer_counts(visit):
    """The answer to the key before says nothing new: what is being changed stays."""
    page = visit("positions", section="sinusoids", source="words", pe_at=20)
    page.locator(".sinusoids .map").focus()
    page.keyboard.press("ArrowDown")
    wait_run(page)
    page.keyboard.down("ArrowDown")
    page.locator(".sinusoids").evaluate("({ sinusoids: view }) => view.take(view.data)")
    page.keyboard.up("ArrowDown")
    wait_run(page)
    expect(page).to_have_url(re.compile(r"pe_at=22\b"))


def test_maps_pointer_keys_and_click(visit):
    page = visit("positions", section="encodings", source="words", text="dog bites man")
    strip = page.locator(".maps").filter(has=page.locator("button.picture"))
    first = strip.locator("button.picture").first
    first.hover(position={"x": 3, "y": 3})
    expect(strip.locator(".says")).to_contain_text("“dog” looks at “dog” (offset 0)")
    visible = strip.locator(".value").all_inner_texts()
    values = strip.evaluate("e => Array.from(e.maps.data.values)")
    assert visible == [f"{values[9 * i]:.4f}" for i in range(len(visible))]
    first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):  # the last one has nowhere to go
        page.keyboard.press(key)
    expect(strip.locator(".says")).to_contain_text("“man” looks at “bites” (offset -1)")
    assert strip.locator(".value").all_inner_texts() == [f"{values[9 * i + 7]:.4f}" for i in range(len(visible))]
    expect(strip.locator(".live")).to_contain_text(f"“man” looks at “bites” (offset -1): {values[7]:.4f}")
    strip.locator("figure").filter(has_text="ALiBi").locator("button").click()
    wait_run(page)
    expect(page).to_have_url(re.compile("encoding=alibi"))
    expect(page.get_by_text(T("positions.about_alibi")[:40])).to_be_visible()
    expect(strip.locator("button[aria-pressed=true]")).to_have_count(1)


def test_section_bar_and_head_chip(visit):
    page = visit("positions", source="words", text="dog bites man")
    page.get_by_role("radio", name=T("positions.rope.title"), exact=True).click()
    wait_run(page)
    expect(page).to_have_url(re.compile("section=rope"))
    expect(page.locator(".st-key-section_shuffle")).to_have_count(0)
    open_chip(page, "head")
    page.get_by_role("slider", name=T("positions.head")).press("ArrowRight")
    wait_run(page)
    expect(page).to_have_url(re.compile("place_head=3"))
    expect(page.locator(".st-key-chip_head")).to_have_text(re.compile("head 3"))
