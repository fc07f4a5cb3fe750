"""The screen of a presentation: large letters, a whole picture, and nothing that lies on it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.drive import eventually, frame, wait_run
from viz.text import translator

T = translator("en")

SHARE = 1 / 30
"""The height of letters, as a share of the window's."""
SCREENS = [(1280, 720), (1920, 1080)]
PAGE_END = 0.94 * 720
"""The end of the page, and the beginning of the strip of keys, in a window of that height."""
BOX = """(picture) => {
  const box = picture.getBoundingClientRect();
  return {
    whole: box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth,
    box: [box.left, box.top, box.right, box.bottom].map(Math.round),
  };
}"""
"""The box of a picture, and whether it is inside the window."""
LETTERS = """() => {
  const box = document.querySelector(".st-key-text textarea");
  return {
    text: parseFloat(getComputedStyle(box).fontSize) * box.currentCSSZoom,
    strip: document.querySelector(".stMain").getBoundingClientRect().bottom / innerHeight,
  };
}"""
"""The size of letters in the window's pixels, and the place of the strip."""

CUT = """() => {
  const main = document.querySelector("[data-testid=stMain]"), cut = [];
  const sides = [Infinity, Infinity, 0, 0], furthest = [Math.min, Math.min, Math.max, Math.max];
  const up = (at) => at.parentElement ?? at.getRootNode().host;
  const look = (root) => {
    for (const at of root.querySelectorAll("*")) {
      if (at.shadowRoot) look(at.shadowRoot);
      const box = at.getBoundingClientRect(), { overflowX, overflowY } = getComputedStyle(at);
      if (box.width < 2 || box.height < 2 || !at.checkVisibility()) continue;
      const beyond = [[overflowX, at.scrollWidth - at.clientWidth], [overflowY, at.scrollHeight - at.clientHeight]];
      for (const [way, pixels] of beyond)
        if (/auto|scroll/.test(way) && pixels > 3) cut.push(["scrolls", at.className, pixels]);
      if (!at.matches("canvas, svg, img, table") || box.width < 60 || box.height < 40 || at.closest("button")) continue;
      [box.left, box.top, box.right, box.bottom].forEach((side, i) => { sides[i] = furthest[i](sides[i], side); });
      for (let around = up(at); around && around !== main; around = up(around)) {
        if (getComputedStyle(around).overflow === "visible") continue;
        const clip = around.getBoundingClientRect();
        const pixels = Math.max(box.right - clip.right, box.bottom - clip.bottom);
        if (pixels > 3) cut.push(["clipped", around.className, pixels]);
      }
      const end = main.getBoundingClientRect();
      if (Math.max(box.right - end.right, box.bottom - end.bottom) > 3) cut.push(["outside", at.className, box.bottom]);
    }
  };
  look(main.querySelector('[class*="st-key-section_"]'));
  return { cut, share: (sides[2] - sides[0]) * (sides[3] - sides[1]) / (innerWidth * innerHeight) };
}"""
"""The window's share of a section's pictures, and what of them is off the screen, clipped or beyond a scroll bar."""
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("heads", {"lesson": "attention_from_nothing"}),
    ("step-by-step", {"lesson": "attention_from_nothing", "lesson_step": 2}),
    ("convolution", {"lesson": "convolution", "lesson_step": 3}),
    ("block", {"lesson": "feed_forward"}),
    ("masks", {"lesson": "masks_and_order", "lesson_step": 3}),
    ("step-by-step", {"section": "own_numbers"}),
    ("heads", {"section": "compare"}),
    ("stacking", {"section": "gradient"}),
    ("attention-today", {"section": "difference"}),
    ("attention-today", {"section": "chosen"}),
    ("convolution", {"section": "training"}),
]


def boxes(page: Page, picture: str) -> list[dict[str, Any]]:
    """Measure each of these pictures."""
    return [part.evaluate(BOX) for part in page.locator(picture).all()]


@pytest.mark.parametrize(("wide", "high"), SCREENS)
@pytest.mark.parametrize(("path", "link"), STEPS, ids=["-".join(map(str, link.values())) for _, link in STEPS])
def test_presented_picture_has_the_screen(visit, path, link, wide, high):
    """A wall of heads, views laid out side by side or below each other, and a chart with a table: each is whole."""
    page = visit(path, **link, present=1, viewport=(wide, high))

    def holds() -> None:
        _assert_settled(page)
        section = page.evaluate(CUT)
        assert section["share"] > 0.4 and not section["cut"], section

    eventually(holds)


def test_presented_picture_fits_when_it_grows(visit):
    """The page is as high as before then: it has kept room for a higher one."""
    page = visit("masks", present=1, section="editor", mask="causal", viewport=(1280, 720))

    def bottom() -> float:
        return max(at["box"][3] for at in boxes(page, ".painter canvas"))

    eventually(lambda: _assert_settled(page))
    page.locator(".painter").evaluate("root => { root.style.paddingTop = '200px'; }")
    assert bottom() > PAGE_END

    def holds() -> None:
        assert bottom() < PAGE_END

    eventually(holds)


def _assert_settled(page: Page) -> None:
    """It is laid out, and has been for a while."""
    read = """() => document.querySelector("[data-fits]")?.style.cssText"""
    before = page.evaluate(read)
    page.wait_for_timeout(1_000)
    assert before and page.evaluate(read) == before


@pytest.mark.parametrize(("wide", "high"), SCREENS)
def test_presented_letters_grow_with_window(visit, wide, high):
    """24 pixels at 720, 36 at 1080; and the strip of keys keeps its place below the page."""
    page = visit("masks", present=1, viewport=(wide, high))
    page.keyboard.press("c")  # the text box is off the wall
    expect(page.locator(".st-key-text textarea")).to_be_visible()
    sizes = page.evaluate(LETTERS)
    assert sizes["text"] == pytest.approx(high * SHARE, rel=0.01)
    assert sizes["strip"] == pytest.approx(0.94, abs=0.002)


def test_sentences_give_way_and_return(visit):
    """C shows every control and sentence, and has them give way again."""
    page = visit("masks", present=1, viewport=(1280, 720))
    away = page.locator("[data-gives-way]")
    expect(away.first).to_be_attached()
    page.keyboard.press("c")
    expect(away).to_have_count(0)
    frame(page)
    expect(page.locator(".presenter .controls")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("c")
    expect(away.first).to_be_attached()


def test_stage_forgets_when_left(visit):
    """At a desk everything is there again."""
    page = visit("masks", present=1, viewport=(1280, 720))
    expect(page.locator("[data-gives-way]").first).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.locator(".presenter")).to_have_count(0)
    wait_run(page)
    expect(page.locator("[data-gives-way]")).to_have_count(0)
    expect(page.get_by_test_id("stApp")).not_to_have_attribute("style", "--fit-below")


def test_presented_questions_are_all_visible(visit):
    """A question for a head has the class "head", as the line above it has: that line alone goes, into the strip."""
    page = visit("heads", lesson="ten_minutes", lesson_step=5, present=1, viewport=(1280, 720))
    question, title = page.locator(".lesson legend"), page.locator(".lesson .over")
    expect(question).to_be_visible()
    expect(title).not_to_be_visible()
    parts = (page.locator(f".lesson {part}") for part in ("legend", ".text"))
    size, text = (part.evaluate("at => getComputedStyle(at).fontSize") for part in parts)
    assert size == text, "as large as what is said before it"


def test_growing_text_uses_the_screen(visit):
    """Its maps and the sentences below them are whole, in letters of full size."""
    page = visit("masks", section="decoding", mask="causal", present=1, lang="zh", viewport=(1920, 1080))

    def holds() -> None:
        bottom = max(box["box"][3] for box in boxes(page, ".growing .found"))
        zoom = page.locator(".growing canvas").first.evaluate("canvas => canvas.currentCSSZoom")
        assert bottom <= 1080 * 0.94 + 1 and zoom >= 2 * 1.5 * 0.8, (bottom, zoom)

    eventually(holds)


def test_presented_maps_beside_are_alike(visit):
    """Maps side by side keep the words that name them, and are of one size."""
    page = visit("step-by-step", section="ablation", present=1, viewport=(1280, 720))

    def holds() -> None:
        left, right = boxes(page, ".matrix canvas")
        assert left["whole"] and right["whole"] and left["box"][1::2] == right["box"][1::2], (left, right)
        zooms = page.locator(".matrix canvas").evaluate_all("maps => maps.map((map) => map.currentCSSZoom)")
        assert zooms[0] == zooms[1] >= 2 * 0.8

    eventually(holds)
    for name in ("shows_correct", "shows_broken"):
        words = T(f"step_by_step.{name}", what="").replace("**", "").split(":")[0]
        expect(page.locator(".stColumn").get_by_text(words).first).to_be_visible()


def test_shrunk_picture_regrows_when_room_returns(visit):
    """A picture that was measured before it was drawn, and therefore made smaller, gets its own size back."""
    page = visit("step-by-step", section="three_words", present=1, viewport=(1280, 720))
    picture = page.locator(".three-words")
    expect(page.locator("[data-gives-way]").first).to_be_attached()  # the picture has moved up to where it stays
    eventually(lambda: _assert_settled(page))
    full = picture.evaluate("view => view.currentCSSZoom")

    # Of two layouts that are as good as each other it may take either.
    def shows(is_shrunk: bool) -> None:
        zoom = picture.evaluate("view => view.currentCSSZoom")
        assert (zoom < 0.95 * full) is is_shrunk, (zoom, full)

    picture.evaluate("""view => {
      const room = document.querySelector("[data-testid=stMain]").getBoundingClientRect().bottom;
      const below = room - view.getBoundingClientRect().bottom;
      view.style.paddingBottom = `${(below + 60) / view.currentCSSZoom}px`;
    }""")
    eventually(lambda: shows(True))
    picture.evaluate("view => { view.style.paddingBottom = ''; }")
    eventually(lambda: shows(False))


def test_maps_go_before_a_larger_chart(visit):
    """A first row of two maps is shown, though each of them has less room than the chart below."""
    page = visit("attention-today", section="state", present=1, viewport=(1920, 1080))
    eventually(lambda: _assert_settled(page))
    expect(page.locator(".st-key-state_maps")).to_be_visible()
    expect(page.locator(".st-key-state_sizes")).not_to_be_visible()
