"""Painting a mask in a real browser, what the softmax makes of it there, and a text that grows."""

import re
from base64 import b64decode

import pytest
import torch
from playwright.sync_api import Page, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from torch.testing import assert_close

from tests.browser.drive import PHONE, WIDE, address, eventually, unanswered, wait_run
from viz.core.attention import row_softmax
from viz.core.masks import causal, window
from viz.core.variants.decoding import rows_at_length, weight_taken_by_new_token
from viz.frame import compute, specs
from viz.frame.examples import examples
from viz.frame.mask_code import from_code, to_code
from viz.text import LANGUAGES, translator

T = translator("en")
TEXT = examples()[0].text
WORDS = "dog bites man today"


def scores(source: str = "model", head: int = 1) -> torch.Tensor:
    """The head's scores before any mask."""
    if source == "model":
        return compute.read(specs.Source(kind="model", text=TEXT, model=compute.DEFAULT_MODEL)).layer(3).masked[head]
    words = specs.Source(kind="words", text=WORDS, d_model=16, n_heads=4, n_kv_heads=4)
    return compute.read(words).layer(0).masked[head]


def read_painter(page: Page) -> tuple[str, torch.Tensor]:
    """The mask that was drawn last, and the weights of that moment."""
    code, payload = page.locator(".painter").evaluate(
        "view => [view.dataset.drawn, Array.from(view.painter.weights ?? [])]"
    )
    return code, torch.tensor(payload).float()


def is_torchs(page: Page, allowed: torch.Tensor, of: torch.Tensor) -> None:
    """The browser's weights are torch's to float32's last digits, zeros of blocked cells and blind rows included."""
    expected = row_softmax(of.masked_fill(~allowed, -torch.inf)).flatten()

    def same() -> None:
        code, weights = read_painter(page)
        assert code == to_code(allowed)
        assert_close(weights, expected, atol=1e-6, rtol=1e-5)

    eventually(same)


def place(page: Page, query: float, key: float) -> tuple[float, float]:
    """Screen position of a cell; -1 is the labels beside the cells."""
    canvas = page.locator(".painter canvas.mask")
    canvas.scroll_into_view_if_needed()
    box, square = (
        canvas.bounding_box(),
        page.locator(".painter").evaluate("({ painter: { square } }) => ({ left: square.left, w: square.w })"),
    )
    assert box
    x, y = (square["left"] + (at + 0.5) * square["w"] if at >= 0 else square["left"] - 20 for at in (key, query))
    return box["x"] + x + (15 / 3**0.5 if query < 0 else 0), box["y"] + y  # names above columns lean to the right


def test_late_answer_keeps_current_stroke(visit, server):
    page = visit("masks", mask="causal")
    of, mask = scores(), causal(16, 16)
    page.locator(".painter").evaluate("(root) => { window.painter = root.painter; }")
    with unanswered(server):
        page.mouse.click(*place(page, 3, 9))
        page.mouse.move(*place(page, 2, 5))
        page.mouse.down()
        page.mouse.move(*place(page, 2, 7))
    mask[2, 5:8] = mask[3, 9] = True
    page.wait_for_function("() => window.painter.data.sent === 1")
    is_torchs(page, mask, of)
    page.mouse.up()
    wait_run(page)
    is_torchs(page, mask, of)
    expect(page).to_have_url(re.compile(f"painted={re.escape(to_code(mask))}"))


@pytest.mark.fast
def test_stroke_round_trips_through_link(visit):
    page = visit("masks", mask="causal")
    of, mask = scores(), causal(16, 16)
    is_torchs(page, mask, of)
    before = page.url
    page.mouse.move(*place(page, 2, 5))
    page.mouse.down()
    page.mouse.move(*place(page, 2, 13))  # one leap: the cells between are painted too
    mask[2, 5:14] = True
    is_torchs(page, mask, of)
    assert page.url == before, "nothing is told during a stroke"
    page.mouse.up()
    wait_run(page)
    expect(page).to_have_url(re.compile("mask=painted"))
    expect(page).to_have_url(re.compile(f"painted={re.escape(to_code(mask))}"))
    page.mouse.click(*place(page, 7, -1))  # a name beside a row: all of it
    mask[7] = True
    is_torchs(page, mask, of)
    page.mouse.click(*place(page, 7, -1))
    mask[7] = False
    is_torchs(page, mask, of)
    expect(page.locator(".painter .count")).to_contain_text("words with nowhere to look: 1")
    wait_run(page)
    expect(page.get_by_text(T("masks.blocks_rows", n=1)[:40])).to_be_visible()
    link = page.url
    reopened_page = visit("masks", **dict(part.split("=") for part in link.partition("?")[2].split("&")))
    is_torchs(reopened_page, mask, of)
    reopened_page.locator(".painter [data-tool=turn]").click()
    is_torchs(reopened_page, ~mask, of)
    reopened_page.locator(".painter [data-tool=undo]").click()
    is_torchs(reopened_page, mask, of)
    wait_run(reopened_page)
    expect(reopened_page).to_have_url(link)
    reopened_page.get_by_role("button", name=T("masks.map_alt", name=T("masks.name_window"))).click()
    wait_run(reopened_page)
    is_torchs(reopened_page, window(16, 16, 2), of)


def test_painter_frames_column_only_where_pointed(visit):
    """A chosen word is the one that looks: its row is framed, and no column before a cell is pointed at."""
    page = visit("masks", query=6, mask="own")
    painter = page.locator(".painter")
    assert painter.evaluate("view => view.painter.pointed()") == {"query": 6, "key": None}
    page.mouse.move(*place(page, 2, 5))
    eventually(lambda: _is(painter.evaluate("view => view.painter.pointed()"), {"query": 2, "key": 5}))


def _is(found: object, expected: object) -> None:
    assert found == expected


def test_keyboard_paints_and_blocks_all(visit):
    page = visit("masks", source="words", text=WORDS, query=0, mask="own")
    of, mask = scores("words"), torch.ones(4, 4).bool()
    is_torchs(page, mask, of)
    page.locator(".painter canvas.mask").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", " ", "ArrowDown", "r"):
        page.keyboard.press(key)
    mask[1, 2], mask[2] = False, False
    is_torchs(page, mask, of)
    expect(page.locator(".painter .says")).to_contain_text("“man” may not look at “man”")
    page.keyboard.press("Tab")  # leaving tells Python at once
    wait_run(page)
    expect(page).to_have_url(re.compile(f"painted={re.escape(to_code(mask))}"))
    page.locator(".painter [data-tool=close]").click()
    wait_run(page)
    is_torchs(page, torch.zeros(4, 4).bool(), of)
    expect(page.get_by_test_id("stAlert").filter(has_text="No word may look at any word")).to_be_visible()
    page.get_by_text(T("masks.open_diagonal")).click()
    wait_run(page)
    is_torchs(page, torch.eye(4).bool(), of)


def test_r_key_toggles_row_only(visit):
    page = visit("masks", source="words", text=WORDS, query=0, mask="own")
    page.locator(".painter canvas.mask").focus()
    requests: list[str] = []
    cdp = page.context.new_cdp_session(page)
    cdp.send("Network.enable")
    cdp.on("Network.webSocketFrameSent", lambda frame: requests.append(frame["response"]["payloadData"]))
    page.keyboard.press("Shift+R")
    mask = torch.ones(4, 4).bool()
    mask[0] = False
    is_torchs(page, mask, scores("words"))
    page.keyboard.press("Tab")
    expect(page).to_have_url(re.compile("painted="))
    wait_run(page)
    kinds = [BackMsg.FromString(b64decode(payload)).WhichOneof("type") for payload in requests]
    assert kinds.count("rerun_script") == 1, "of the row, and none of Streamlit's own"


def test_growing_text_changes_unmasked_rows(visit):
    page = visit("masks", section="decoding")
    growing, of = page.locator(".growing"), scores()
    moves = weight_taken_by_new_token(of)

    def at(n: int) -> dict:
        growing.locator("input").evaluate(
            "(input, n) => { input.value = n; input.dispatchEvent(new Event('input')); }", n
        )
        return growing.evaluate("""view => Object.fromEntries(Object.entries(view.growing.found).map(
            ([kind, {weights, change}]) => [kind, {weights: Array.from(weights), change}]))""")

    for n in (1, 2, 9, 16):
        result = at(n)
        open_rows, causal_rows = (
            torch.tensor(result[kind]["weights"]).float().view(16, 16) for kind in ("open", "causal")
        )
        assert_close(open_rows[:n, :n], rows_at_length(of, n), atol=1e-6, rtol=1e-5)
        total = row_softmax(of.masked_fill(~causal(16, 16), -torch.inf))
        assert_close(causal_rows[:n], total[:n], atol=1e-6, rtol=1e-5)
        assert result["causal"]["change"] == [0.0] * (n - 1)
        assert_close(torch.tensor(result["open"]["change"]).float(), moves[: n - 1, n - 1], atol=1e-6, rtol=1e-4)
    expect(growing.locator(".found").first).to_contain_text("none has changed")
    expect(growing.locator(".found").last).to_contain_text(f"the largest change is {float(moves[:15, 15].max()):.2f}")


def test_small_change_not_rounded_to_zero(visit):
    """A head of previous tokens: every row loses something, and no row as much as a hundredth."""
    page = visit("masks", layer=0, head=2, section="decoding", mask="own")
    sentences = page.locator(".growing .found").last
    expect(sentences).to_contain_text("the largest change is <0.01")


def test_growing_counts_changed_rows(visit):
    page = visit("masks", section="decoding", source="words", text="cat cat cat cat", mask="own")
    growing = page.locator(".growing")
    growing.locator("input").evaluate("input => { input.value = 4; input.dispatchEvent(new Event('input')); }")
    expect(growing.locator(".found").last).to_contain_text("“3 · cat” has come. 3 of the 3 rows before it have changed")
    expect(growing.locator(".found").last).to_contain_text("the largest change is 0.25")


LEFT_OF = """(name) => {  // the leftmost pixel of each text that is written to the left of a place on such a picture
    window.left = {};
    const write = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most = Infinity) {
        const seen = this.canvas.closest(`.${name}`) && this.textAlign === 'right' && text;
        const { e, a } = this.getTransform(); // names are written where it was moved to
        if (seen) window.left[text] = e / a + x - Math.min(this.measureText(text).width, most);
        write.call(this, text, x, y, most);
    };
}"""


@pytest.mark.parametrize(("section", "name"), [("editor", "painter"), ("decoding", "growing")])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_axis_names_not_cut_off(visit, section, name, lang):
    page, t = visit("masks", lang=lang, section=section, present=1), translator(lang)
    expect(page.locator(f".{name} canvas").first).to_be_visible()
    page.evaluate(LEFT_OF, name)
    for wide, high in (WIDE, (900, 600), PHONE):
        page.evaluate("window.left = {}")
        page.set_viewport_size({"width": wide - 20, "height": high})
        written_text = [t(f"masks.{name}.{what}") for what in ("asks", "answers")]
        page.wait_for_function("texts => texts.every((text) => text in left)", arg=written_text)
        left_edge = page.evaluate("left")
        assert min(left_edge[text] for text in written_text) >= 0, (wide, left_edge)


def test_swipe_scrolls_tap_and_hold_paint(new_page, app_url):
    page = new_page(viewport=PHONE, has_touch=True, is_mobile=True)
    page.goto(address(app_url, "masks", source="words", text=WORDS, mask="own"))
    wait_run(page)
    touches, main = page.context.new_cdp_session(page), page.get_by_test_id("stMain")
    x, y = place(page, 2, 0)
    right = place(page, 2, 2)[0]

    def touch(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def scrolled() -> float:
        return main.evaluate("node => node.scrollTop")

    before, code = scrolled(), read_painter(page)[0]
    touch("touchStart", x, y)
    for far in range(1, 9):
        touch("touchMove", x, y - 20 * far)
    touch("touchEnd")
    eventually(lambda: assert_more(scrolled(), before + 50))
    wait_run(page)
    assert read_painter(page)[0] == code, "the page was moved, the mask is as it was"

    mask = from_code(code)
    x, y = place(page, 2, 0)
    page.touchscreen.tap(x, y)
    wait_run(page)
    mask[2, 0] = ~mask[2, 0]
    assert read_painter(page)[0] == to_code(mask)

    at_rest = scrolled()
    touch("touchStart", x, y)
    page.wait_for_timeout(600)  # a finger is held to paint
    for share in (0.25, 0.5, 0.75, 1.0):
        touch("touchMove", x + share * (right - x), y + 3)
    touch("touchEnd")
    wait_run(page)
    mask[2, :3] = ~mask[2, 0]
    assert read_painter(page)[0] == to_code(mask)
    assert scrolled() == at_rest


def assert_more(found: float, least: float) -> None:
    assert found > least
