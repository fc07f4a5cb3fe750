"""On paper: nothing to press, nothing cut off, and of a lesson's step a sheet with room to write."""

import re
from collections.abc import Sequence
from io import BytesIO
from unicodedata import normalize

import pytest
from playwright.sync_api import Frame, Page, Route, expect
from pypdf import PdfReader

from tests.browser.drive import frame, wait_run
from tests.contrast import ENOUGH, contrast
from tests.lessons.test_custom_lesson import TABLE
from tests.lessons.test_lesson_file import GESTURE
from viz.lessons.custom_lesson import own_lesson, packed
from viz.lessons.lesson import Lesson
from viz.lessons.lesson_file import lesson_named
from viz.text import translator

T = translator("en")
PAPER = {"A4": (794, 1123), "Letter": (816, 1056)}
"""In CSS pixels, 96 to the inch."""


def pages(page: Page, paper: str) -> int:
    """Count the sheets of a page."""
    return len(re.findall(rb"/Type /Page\b", page.pdf(format=paper)))


def is_cut_off(page: Page) -> list[str]:
    """The elements that reach beyond the paper; where plotly takes the pointer is nothing to see."""
    return page.evaluate("""() => [...document.querySelectorAll('.stMain *')]
        .filter((node) => node.checkVisibility() && !node.closest('.draglayer'))
        .filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
        .map((node) => node.outerHTML.slice(0, 80))""")


def assert_one_sheet(page: Page) -> None:
    """On either paper, and nothing cut off."""
    for paper, (width, height) in PAPER.items():
        page.set_viewport_size({"width": width - 106, "height": height})  # what the margins leave
        frame(page)
        assert (is_cut_off(page), pages(page, paper)) == ([], 1)


def assert_key(page: Page, reveal: str) -> None:
    """Once the answer is shown on the screen, it is on the one sheet."""
    page.emulate_media(media="screen")
    page.locator(".lesson [data-does=reveal]").click()
    wait_run(page)
    page.emulate_media(media="print")
    expect(page.locator(".lesson").get_by_text(reveal)).to_be_visible()
    expect(page.locator(".st-key-lesson_cover")).to_have_count(0)
    assert_one_sheet(page)


@pytest.mark.fast
def test_step_prints_worksheet_or_key(visit):
    """The question and its picture with the answer's cells covered; with the answer, the whole picture."""
    page = visit("heads", lesson="ten_minutes", lesson_step=7)
    page.emulate_media(media="print")
    bar, picture = page.locator(".lesson"), page.locator(".bars")
    expect(bar.get_by_text("Which part of the head's output")).to_be_visible()
    expect(bar.locator(".option").first).to_be_visible()
    for away in (".lesson button", ".st-key-section", ".st-key-neighbours", '[data-testid="stSidebar"]'):
        expect(page.locator(away).first).not_to_be_visible()
    expect(picture).to_be_visible()
    assert picture.evaluate(IS_COVERED) is True
    assert_one_sheet(page)
    assert_key(page, "of what arrives, by length")
    expect(picture).to_be_visible()
    assert picture.evaluate(IS_COVERED) is False


IS_COVERED = "({ bars: { data: { covers } } }) => covers.open && covers.cells.length > 0"
"""True if some bars are covered."""


def test_covered_step_prints_room_to_write(visit):
    """Lines stand where a picture is covered as a whole; with the answer, the picture."""
    page = visit("share-kv", lesson="sharing", lesson_step=6)
    page.emulate_media(media="print")
    cover, picture = page.locator(".st-key-lesson_cover"), page.locator(".maps")
    expect(page.locator(".lesson .option").first).to_be_visible()
    expect(cover.get_by_text(T("lesson.covered", title=T("share_kv.converted.title")))).to_have_css(
        "visibility", "hidden"
    )
    assert cover.bounding_box()["height"] > 300, "room to write"
    expect(picture).to_have_count(0)
    assert_one_sheet(page)
    page.emulate_media(media="screen")
    page.locator(".lesson [data-does=reveal]").click()
    wait_run(page)
    page.emulate_media(media="print")
    expect(picture).to_be_visible()
    expect(cover).to_have_count(0)


SIZES = {"A4": (595, 842), "Letter": (612, 792)}
"""In points."""
INK = """() => {
  const found = [], walk = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) walk(node.shadowRoot);
      const says = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
      const isText = says && !(node instanceof SVGElement) && !['STYLE', 'SCRIPT'].includes(node.tagName);
      if (isText && node.checkVisibility({ visibilityProperty: true }))
        found.push([node.textContent.trim().slice(0, 40), getComputedStyle(node).color]);
    }
  };
  walk(document.querySelector('.stMain'));
  return found;
}"""
"""The texts and their colours; printed without backgrounds they stand on white."""


POINTS = 9
"""The least size of a letter on paper: 12 CSS pixels."""
LETTERS = """(() => {
  const write = CanvasRenderingContext2D.prototype.fillText;
  window.small = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    const size = parseFloat(/([\\d.]+)px/.exec(this.font)[1]);
    if (size < 12 && text !== '?') small.push([text, size]);
    return write.call(this, text, ...place);
  };
})()"""
"""Note the words that a canvas writes in small letters; the sign on a covered cell is none."""


def print_pages(page: Page, paper: str, points: float = POINTS) -> list[str]:
    """The text of each sheet, as a reader of the file finds it; no letter of it is smaller than that."""
    pdf = PdfReader(BytesIO(page.pdf(format=paper)))
    assert {tuple(map(round, sheet.mediabox[2:])) for sheet in pdf.pages} in ({SIZES[paper]}, {(596, 843)})
    small: list[tuple[str, float]] = []

    def look(text: str, matrix: Sequence[float], letters: Sequence[float], _: object, size: float) -> None:
        high = abs(size * (letters[3] or letters[1]) * (matrix[3] or matrix[1]))
        if text.strip() and high < points - 0.05:
            small.append((text, high))

    texts = [plain(sheet.extract_text(visitor_text=look)) for sheet in pdf.pages]
    assert small == []
    return texts


def plain(text: str) -> str:
    """A text with one name for signs that look the same: a font may give a Chinese one by its older."""
    return normalize("NFKC", " ".join(text.split()))


def is_pale(page: Page | Frame) -> list[str]:
    """The texts that could hardly be read in black and white."""
    coloured = ((text, tuple(map(float, re.findall(r"[\d.]+", colour)[:3]))) for text, colour in page.evaluate(INK))
    return [text for text, colour in coloured if contrast(colour, (255, 255, 255)) < ENOUGH]


def assert_sheets(page: Page, lesson: Lesson, lang: str, *, answers: bool) -> None:
    """Every step, on either paper, with what it says, at most three on a sheet, and nothing cut off."""
    expect(page.locator(".sheet-of-steps[data-ready]")).to_be_attached()
    steps = len(lesson.steps)
    labels = [plain(translator(lang)("lesson.bar_step", number=n, steps=steps)) for n in range(1, steps + 1)]
    for paper in SIZES:
        sheets = print_pages(page, paper)
        of_sheet = [[label for label in labels if label in sheet] for sheet in sheets]
        assert [label for on_one in of_sheet for label in on_one] == labels
        assert {len(on_one) for on_one in of_sheet} <= {1, 2, 3}, "no sheet is empty, and none is full of small steps"
        text = " ".join(sheets)
        assert not GESTURE.search(text), "nothing is asked that paper cannot do"
        for step in lesson.steps:
            assert plain(step.text[lang])[:12] in text
            assert (bool(step.note[lang]) and plain(step.note[lang])[:12] in text) is answers
    page.emulate_media(media="print")
    for step_in_frame in page.frames[1:]:
        assert is_pale(step_in_frame) == []
        assert step_in_frame.evaluate(IS_WHOLE) == [True, True], "nothing is cut off"
        assert step_in_frame.evaluate("window.small ?? []") == []


IS_WHOLE = """() => [document.documentElement.scrollWidth <= innerWidth,
    document.querySelector('.stMainBlockContainer').getBoundingClientRect().bottom <= innerHeight]"""
PRESSED = ".stButtonGroup, .stSlider, .stCheckbox, .stHtml > a.see, .segments, .bar, .tools, .controls, .choose"


def test_lesson_prints_its_answers(new_page, app_url):
    """A lesson prints every step with its answer, light on a dark screen."""
    page = new_page(scheme="dark")
    page.add_init_script(LETTERS)
    page.goto(f"{app_url}/step-by-step?lesson=one_head&print=answers&lang=en")
    assert_sheets(page, lesson_named("one_head"), "en", answers=True)


@pytest.mark.parametrize("name", ["ten_minutes", "masks_and_order"])
def test_worksheet_has_room_and_no_controls(new_page, app_url, name):
    """Two steps on most sheets, each with its question and two lines to write on, and nothing to press."""
    page, lesson = new_page(), lesson_named(name)
    page.add_init_script(LETTERS)
    page.goto(f"{app_url}/heads?lesson={name}&print=1&lang=en")
    assert_sheets(page, lesson, "en", answers=False)
    assert len(print_pages(page, "A4")) < len(lesson.steps)
    for step in page.frames[1:]:
        lines = step.evaluate("getComputedStyle(document.querySelector('.st-key-lesson_place'), '::after').height")
        assert float(lines.removesuffix("px")) > 25
        assert [part for part in step.locator(PRESSED).all() if part.is_visible()] == []
        dots = step.evaluate("""() => [...document.querySelectorAll('.stBidiComponent *')]
            .flatMap((node) => [...(node.shadowRoot ?? node).querySelectorAll('canvas')])
            .filter((canvas) => canvas.clientHeight > 40 && !canvas.matches('.thumbs, .lights'))
            .map((canvas) => canvas.width / canvas.clientWidth)""")
        assert all(dot > 2.9 for dot in dots), "a printer has more dots than a screen"


def test_lesson_printed_too_early_says_so(visit):
    """Until every step is drawn Print is off, and the browser's own Print gives a sentence in place of empty sheets."""
    page = visit("heads", lesson="ten_minutes", print=1)
    late = list[Route]()

    def hold(route: Route) -> None:  # the third step does not come
        late.append(route)

    page.route("**/*lesson_step=3*", hold)
    sheet = page.locator(".sheet-of-steps")
    expect(sheet.get_by_role("status")).to_have_text(T("sheet.coming", n=3, all=7))
    expect(page.get_by_role("button", name=T("sheet.print"))).to_be_disabled()
    (only,) = print_pages(page, "A4")
    assert only == plain(T("sheet.held", at=2, all=7))
    for route in late:
        route.abort()


def test_section_printed_too_early_says_so(visit):
    """The same on a page of its own: while the app draws it, a sentence is printed in its place."""
    page = visit("masks", source="words", mask="causal", print=1)
    assert T("masks.title") in " ".join(print_pages(page, "A4"))
    page.get_by_test_id("stApp").evaluate("app => app.setAttribute('data-test-script-state', 'running')")
    (only,) = print_pages(page, "A4")
    assert only == plain(T("paper.not_yet"))


def test_custom_lesson_prints_blank(visit):
    """A teacher's own lesson is printed to be filled in."""
    page = visit("masks", own_lesson=packed(TABLE), print=1)
    assert_sheets(page, own_lesson(packed(TABLE)), "en", answers=False)
    expect(page.locator(".sheet-of-steps h1")).to_have_text(TABLE["title"])
    covered_frame, answer_frame = (frame.locator for frame in page.frames[1:])
    expect(covered_frame(".st-key-lesson_cover")).to_be_visible()
    expect(answer_frame(".paper-room")).to_be_visible()
    expect(answer_frame(".painter canvas").first).to_be_visible()


@pytest.mark.fast
def test_section_prints_light_worksheet(visit):
    """A section is a worksheet, and light on a dark screen."""
    page = visit("masks", source="words", mask="causal", print=1, scheme="dark")
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(255, 255, 255)")
    (sheet, *rest) = print_pages(page, "A4")
    assert "What do you see?" in " ".join([sheet, *rest]) and len(rest) <= 1
    assert T("masks.title") in sheet and T("masks.editor.title") in sheet
    expect(page.get_by_test_id("stSidebar")).not_to_be_visible()
    assert is_pale(page) == []


def test_dark_page_prints_black_on_white(visit):
    """By the browser's own Print, with or without backgrounds; and what is written stays text."""
    page = visit("masks", source="words", mask="causal", scheme="dark")
    picture = page.locator(".painter canvas.mask")
    expect(picture).to_have_css("filter", "none")
    assert T("masks.title") in " ".join(print_pages(page, "A4", points=0))
    page.emulate_media(media="print", color_scheme="dark")
    expect(picture).to_have_css("filter", "invert(1) hue-rotate(180deg)")
    for behind in ("stAppViewContainer", "stMain"):
        expect(page.get_by_test_id(behind)).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", "rgb(255, 255, 255)")
    assert is_pale(page) == []
    page.emulate_media(media="print", color_scheme="light")
    expect(picture).to_have_css("filter", "none")


SIGNS = """(root) => {
  const { place: { left, top, w, h }, data: { values, shape }, canvas } = root.matrix;
  const context = canvas.getContext('2d');
  const dots = canvas.width / canvas.clientWidth;
  return [...values].map((value, at) => {
    const x = left + (at % shape[1]) * w, y = top + Math.floor(at / shape[1]) * h;
    const inside = [x + 2, y + 2, w - 4, h - 4].map((side) => Math.round(side * dots));
    const reds = context.getImageData(...inside).data.filter((_, i) => i % 4 === 0);
    return [Math.sign(value), Math.max(...reds) - Math.min(...reds) > 40];
  });
}"""
"""Of each cell of a matrix its sign, and whether it is of more than one colour."""


def test_negative_values_print_with_stroke(visit):
    """In black and white, blue and orange of one size are the same grey."""
    page = visit("positions", section="encodings", source="words", print=1, look_at="scores")
    expect(page.locator(".matrix canvas")).to_have_count(1)
    cells = [cell for root in page.locator(".matrix").all() for cell in root.evaluate(SIGNS)]
    assert {sign for sign, _ in cells} >= {-1, 1}
    assert [is_inked for _, is_inked in cells] == [sign < 0 for sign, _ in cells]
