"""Two texts side by side, in a real browser: one click, one crosshair, and numbers that are torch's."""

import re

import pytest
import torch
from playwright.sync_api import expect

from tests.browser.drive import PHONE, frame, wait_run
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.text import translator

T = translator("en")
TIRED = examples()[0].text
WIDE = TIRED.replace("tired", "wide")
ANIMAL, IT = 2, 10


def weights(text, layer, head):
    source = specs.Source(kind="model", text=text, model=compute.DEFAULT_MODEL)
    return compute.read(source).layer(layer).weights[head]


def read_view(page, what):
    """Something of the view, as it holds it."""
    return page.locator(".comparison").evaluate(f"({{ comparison: view }}) => {what}")


def tables_of(page):
    """The numbers of both maps and of their difference, as the menu saves them."""
    return read_view(page, "view.asTables().map(({ rows }) => rows.map((row) => row.slice(1)))")


def near(values, expected):
    torch.testing.assert_close(torch.tensor(values).view(expected.shape), expected, atol=2e-5, rtol=0)


@pytest.mark.fast
def test_comparison_pointer_keys_and_heads(visit):
    page = visit()
    page.locator(".st-key-section").get_by_text(T("heads.compare.title"), exact=True).click()
    wait_run(page)
    view = page.locator(".comparison")
    sentence, live = view.locator(".says"), view.locator(":scope > .live")
    expect(sentence).to_contain_text(
        "In the second, “it” gives “animal” 0.40 less and “[CLS]” 0.22 more. In all, 0.45 of"
    )
    near(read_view(page, "[...view.maps.a.values]"), weights(TIRED, 3, 1))
    near(read_view(page, "[...view.maps.difference.values]"), weights(WIDE, 3, 1) - weights(TIRED, 3, 1))
    tables = tables_of(page)
    near(tables[0], weights(TIRED, 3, 1))
    near(tables[2], weights(WIDE, 3, 1) - weights(TIRED, 3, 1))

    # One crosshair: a cell under the pointer is marked in all maps, without a request to the server.
    read_view(
        page,
        "{ view.told = 0; view.change = (to) => { view.told++; view.constructor.prototype.change.call(view, to); }; }",
    )
    maps = view.locator(".side .window")
    x, y = read_view(
        page,
        f"(({{ left, top, cell }}) => [left + {ANIMAL + 0.5} * cell, top + {IT + 0.5} * cell])(view.views.b)",
    )
    maps.nth(1).hover(position={"x": x, "y": y})
    frame(page)
    pair = {"query": IT, "key": ANIMAL}
    for side in ("a", "b", "difference"):
        assert read_view(page, f"view.views.{side}.focus") == pair
    expect(sentence).to_have_text("“it” gives “animal” 0.6768 in the first, 0.2811 in the second (−0.3957).")
    assert read_view(page, "view.told") == 0
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("In the second, “it”")

    # Arrow keys walk the cells and announce each; Enter locks a row.
    view.locator(".large").first.focus()
    page.keyboard.press("ArrowUp")
    expect(live).to_contain_text("“because” gives “[CLS]”")
    page.keyboard.press("Enter")
    wait_run(page)
    expect(page).to_have_url(re.compile("query=9"))

    # Heads stand in the order of their change; a click opens one.
    order = read_view(page, "view.thumbs.buttons.map(({ index }) => view.wall.measures[index])")
    assert order == sorted(order, reverse=True)
    small = view.locator(".thumb")
    small.nth(1).hover()
    expect(sentence).to_have_text(re.compile("^layer 5, head 4: from “.*” to “.*” about [+−]?0.\\d\\d$"))
    small.nth(1).click()
    wait_run(page)
    layer, head = (read_view(page, f"view.choice.{name}") for name in ("layer", "head"))
    expect(page).to_have_url(re.compile(f"layer={layer}&head={head}"))
    near(read_view(page, "[...view.maps.b.values]"), weights(WIDE, layer, head))
    expect(small.nth(1)).to_have_attribute("aria-pressed", "true")
    assert read_view(page, "view.data.sent === view.sent"), "Python's next choice is believed"
    read_view(page, "view.change({ layer: 3, head: 1 })")
    read_view(page, "view.change({ layer: 2, head: 0 })")  # the answer to the first is out of date
    wait_run(page)
    near(read_view(page, "[...view.maps.a.values]"), weights(TIRED, 2, 0))
    view.get_by_role("radio", name=T("compare.arrives")).click()
    wait_run(page)
    expect(page).to_have_url(re.compile("compared=arrives"))
    expect(sentence).to_contain_text("has another length")
    rows = torch.tensor(tables_of(page))[:2, read_view(page, "view.locked.query")]
    bars = view.locator(".bars")
    near(bars.evaluate("({ bars: { data: { values } } }) => [...values]"), rows)
    bars.locator(".picture").focus()
    page.keyboard.press("ArrowRight")
    titles = bars.evaluate("({ bars: { data: { series } } }) => series")
    values = " · ".join(f"{title} {value:.4f}" for title, value in zip(titles, rows[:, 0].tolist(), strict=True))
    expect(bars.locator(".live")).to_have_text(re.compile(f": {re.escape(values)}$"))
    expect(page.get_by_text(T("footer.checks", passed=7, n=7))).to_be_visible()


def test_touch_locks_row_and_text_escaped(visit):
    hostile = "<img src=x onerror=alert(1)> it was"
    page = visit(section="compare", text="it was tired", text_b=hostile, viewport=PHONE)
    view = page.locator(".comparison")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert not view.locator("img").count()
    first, second = (view.locator(".side").nth(i).bounding_box() for i in (0, 1))
    assert second["y"] >= first["y"] + first["height"], "the maps stand below each other"
    slot = read_view(page, "view.data.of[2]")
    x, y = read_view(page, f"(({{ left, top, cell }}) => [left + 0.5 * cell, top + {slot + 0.5} * cell])(view.views.a)")
    view.locator(".side .window").first.click(position={"x": x, "y": y})
    wait_run(page)
    expect(page).to_have_url(re.compile("query=2"))
    expect(view.locator(".says")).to_contain_text("“was”")


def test_long_comparison_size_and_redraws(visit):
    """128 tokens stay below 1.25 MB, and a moved crosshair draws no map anew."""
    words = " ".join(["dog", "cat", "fox"] * 42)
    page = visit(section="compare", text=words, text_b=words.replace("fox dog", "fox bird", 1))
    assert read_view(page, "view.wall.pool") == 1
    assert read_view(page, "view.wall.values.length") == 72 * 128 * 128
    assert read_view(page, "view.wall.values.byteLength + view.two.a.byteLength + view.two.b.byteLength") < 1_250_000
    n_redraws = page.locator(".comparison").evaluate("""({ comparison: view }) => {
        let calls = 0;
        const put = CanvasRenderingContext2D.prototype.putImageData;
        const counted = function (...given) { calls++; return put.apply(this, given); };
        CanvasRenderingContext2D.prototype.putImageData = counted;
        for (let key = 0; key < 60; key++) { view.hover = { query: 5, key }; view.light(); }
        CanvasRenderingContext2D.prototype.putImageData = put;
        return calls;
    }""")
    assert n_redraws == 0
