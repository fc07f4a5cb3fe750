"""The Step by step page in a real browser: keys, buttons, clicks on cells, what is written by hand, phones."""

import math
import re

import pytest
import torch
from playwright.sync_api import Page, expect

from tests.browser.drive import PHONE, open_chip, wait_run
from viz.frame import compute, specs
from viz.frame.examples import examples

TEXT = examples()[0].text
HEAD, IT, ANIMAL = 1, 10, 2


def heading(page: Page, n: int):
    return page.get_by_role("heading", level=2).filter(has_text=re.compile(rf"^{n}\. "))


def parameter(page: Page, name: str) -> str | None:
    found = re.search(rf"[?&]{name}=([^&]*)", page.url)
    return found and found[1]


def written(page: Page) -> str:
    """Every formula of the page as it was written, before KaTeX drew it."""
    return "\n".join(page.locator("annotation[encoding='application/x-tex']").all_text_contents())


def last_number(page: Page, symbol: str) -> float:
    line = next(line for line in written(page).splitlines() if line.startswith(symbol))
    digits, power = re.findall(r"(-?\d+\.\d+)(?:\\times 10\^\{(-?\d+)\})?", line)[-1]
    return float(f"{digits}e{power or 0}")


def click_cell(page: Page, name: str, row: int, column: int, n: int) -> None:
    """Click the middle of a cell of an n x n map."""
    area = page.locator(f".st-key-map_{name} .nsewdrag").first
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * (column + 0.5) / n, box["y"] + box["height"] * (row + 0.5) / n, steps=3)
    page.wait_for_timeout(150)  # plotly takes the nearest point from the last hover
    page.mouse.down()
    page.mouse.up()
    wait_run(page)


def test_stepping_with_keys_and_buttons(visit):
    page = visit("step-by-step")
    expect(heading(page, 1)).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(heading(page, 2)).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(heading(page, 3)).to_be_visible()
    page.keyboard.press("ArrowRight")  # also with the button in focus
    expect(heading(page, 4)).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(heading(page, 3)).to_be_visible()
    page.get_by_role("button", name="7 softmax").click()
    expect(heading(page, 7)).to_be_visible()
    wait_run(page)
    assert parameter(page, "step") == "7"


def test_arrow_keys_belong_to_a_control_that_has_the_focus(visit):
    page = visit("step-by-step", step=7)
    open_chip(page, "head")
    page.locator(".st-key-head").get_by_role("slider").focus()
    page.keyboard.press("ArrowRight")
    wait_run(page)
    assert parameter(page, "head") == str(HEAD + 1)
    page.keyboard.press("Escape")
    page.locator(".st-key-text textarea").focus()
    page.keyboard.press("ArrowRight")
    wait_run(page)
    expect(heading(page, 7)).to_be_visible()


def test_a_click_on_a_cell_chooses_the_pair_and_what_is_written_is_what_torch_says(visit):
    page = visit("step-by-step", step=7)
    for query, key in ((6, 8), (0, 15), (15, 0)):
        click_cell(page, "A", query, key, 16)
        expect(page.locator(".st-key-query input")).to_have_value(re.compile(rf"^{query} · "))
        expect(page.locator(".st-key-key input")).to_have_value(re.compile(rf"^{key} · "))
        assert parameter(page, "query") == str(query)
        assert parameter(page, "key") in (str(key), None)  # left out where it is the query's strongest link
        trace = compute.read(specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)).multi_head(3)
        row = (trace.q[HEAD, query].double() @ trace.k[HEAD].double().T) / math.sqrt(32)
        weights = row.softmax(-1)
        assert last_number(page, f"A_{{{query},{key}}}") == pytest.approx(float(weights[key]), abs=1e-4)
        total = float((row - row.max()).exp().sum())
        assert last_number(page, rf"\textstyle\sum_m e^{{\tilde S_{{{query},m}}") == pytest.approx(total, abs=1e-4)


def test_the_dot_product_is_written_with_every_term(visit):
    page = visit("step-by-step", section="worked_example")
    code = page.get_by_test_id("stCode").first.inner_text()
    trace = compute.read(specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)).multi_head(3)
    factors = [float(one) for one in re.findall(r"-?\d+\.\d+", code.split("\n =")[0].split(" = ")[1])]
    torch.testing.assert_close(torch.tensor(factors[::2]), trace.q[HEAD, IT], atol=6e-5, rtol=0)
    torch.testing.assert_close(torch.tensor(factors[1::2]), trace.k[HEAD, ANIMAL], atol=6e-5, rtol=0)
    assert last_number(page, f"S_{{{IT},{ANIMAL}}}") == pytest.approx(float(trace.scores[HEAD, IT, ANIMAL]), abs=1e-4)


def test_the_pickers_choose_too_and_a_link_opens_the_same_picture(visit):
    page = visit("step-by-step", step=7, no_scale=1, section="all")
    page.locator(".st-key-query input").click()
    page.get_by_role("option", name="6 · cross").click()
    wait_run(page)
    first = written(page)
    again = visit("step-by-step", **dict(part.split("=") for part in page.url.split("?")[1].split("&")))
    expect(again.locator(".st-key-query input")).to_have_value("6 · cross")
    expect(again.locator(".st-key-map_A")).to_be_visible()
    expect(again.locator(".st-key-break_broken")).to_be_visible()
    assert written(again) == first


def test_what_is_switched_off_opens_again(visit):
    page = visit("step-by-step", section="ablation")
    page.locator(".st-key-no_scale label").click()
    wait_run(page)
    assert parameter(page, "section") == "ablation" and parameter(page, "no_scale") == "1"
    again = visit("step-by-step", step=7, no_scale=1)
    expect(again.locator(".st-key-break_broken")).to_be_visible()
    expect(again.locator(".st-key-no_scale input")).to_be_checked()


@pytest.mark.parametrize(
    "link",
    [*({"step": step} for step in range(1, 10)), *({"section": name} for name in
     ("worked_example", "weighted_sum", "saturation", "ablation")), {"no_scale": 1}],
)  # fmt: skip
def test_no_section_is_too_tall_and_its_picture_is_on_the_first_screen(visit, link):
    page = visit("step-by-step", **link)
    picture = page.get_by_test_id("stPlotlyChart").first
    expect(picture).to_be_visible()
    assert page.evaluate("document.querySelector('.stMainBlockContainer').scrollHeight") <= 2000
    assert picture.bounding_box()["y"] < 720


def test_hostile_words_are_shown_as_they_are(visit):
    """No picture is fetched, no tag is read: the fixture fails on a request to another machine."""
    text = "![x](http://example.com/a.png) <b>bold</b> <img src=x onerror=alert(1)> $x$ #000001 it animal"
    page = visit("step-by-step", source="words", text=text, step=0, no_scale=1, section="all")
    expect(page.locator(".st-key-break_broken")).to_be_visible()
    assert page.locator(".stMain img").count() == 0
    page.locator(".st-key-query input").click()
    expect(page.get_by_role("option", name="0 · !", exact=True)).to_be_visible()


def test_on_a_phone_nothing_is_wider_than_the_page(visit):
    page = visit("step-by-step", step=7, lang="zh", viewport=PHONE, scheme="dark", no_scale=1, section="all")
    expect(page.locator(".st-key-map_A .nsewdrag").first).to_be_visible()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= PHONE[0]
    click_cell(page, "A", 6, 8, 16)
    expect(page.locator(".st-key-query input")).to_have_value("6 · cross")


def test_every_figure_says_what_it_shows(visit):
    page = visit("step-by-step", section="worked_example")
    expect(page.locator(".st-key-map_cell .nsewdrag").first).to_be_visible()
    described = page.locator("[data-testid=stPlotlyChart]").evaluate_all(
        "charts => charts.map(c => (c.getAttribute('aria-label') || c.querySelector('[aria-label]')?.ariaLabel || ''))"
    )
    assert len(described) == 4
    assert all(len(one) > 20 for one in described), described
