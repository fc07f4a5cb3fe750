"""A page in front of a class: large, driven by keys, in step with the window of the notes."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from pages import PAGES
from pages.step_by_step.page import PAGE
from tests.browser.drive import eventually, wait_run
from tests.running import line_charts, sentences_of
from viz.figures.layout import ROOM, TALLER
from viz.text import LANGUAGES, translator

T = translator("en")
SMALLEST = """() => {
  const found = [], apart = "sub, sup, .katex *, style, script";
  const look = (root) => {
    for (const at of root.querySelectorAll("*")) {
      if (at.shadowRoot) look(at.shadowRoot);
      const box = at.getBoundingClientRect(), drawn = at.tagName === "CANVAS";
      const seen = at.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      if (!seen || box.width < 2 || box.height < 2 || at.matches(apart)) continue;
      const writes = drawn || [...at.childNodes].some((part) => part.nodeType === 3 && part.data.trim());
      const size = at.currentCSSZoom * (drawn ? 12 : parseFloat(getComputedStyle(at).fontSize));
      if (writes && size > 0) found.push([Math.round(size * 10) / 10, at.tagName, at.textContent.slice(0, 30)]);
    }
  };
  look(document.querySelector(".stMainBlockContainer"));
  return found.sort((a, b) => a[0] - b[0]).slice(0, 8);
}"""
"""The smallest texts that are seen, in pixels of the screen; on a canvas they are 12 of its own."""


def presenter_state(page: Page) -> dict[str, Any]:
    """The state of the presenter's key handler."""
    data: dict[str, Any] = page.locator(".presenter").evaluate("bar => bar.presenter.data")
    return data


def press(page: Page, key: str) -> dict[str, Any]:
    page.keyboard.press(key)
    wait_run(page)
    return presenter_state(page)


def test_presented_page_is_one_section(open_app):
    app = open_app("masks", present=1, section="all")
    assert not app.title
    assert not app.sidebar.children
    assert not [group for group in app.button_group if group.key.startswith("_footer_")]
    assert [header.value for header in app.header] == [T("masks.editor.title")]
    assert app.query_params["section"] == "all", "whoever leaves comes back to where they were"


TAKEN_IN = """part => performance.getEntriesByType("resource").some(({ name }) => name.includes(part))"""


def test_a_lesson_is_presented_by_keys(visit):
    page = visit("heads", present=1, lesson="ten_minutes", viewport=(1280, 720))
    for part in ("PlotlyChart", "head_grid-", "mask_painter-"):  # what later steps show, and this one does not
        page.wait_for_function(TAKEN_IN, arg=part)
    dark, cover = page.locator(".dark"), page.locator(".st-key-lesson_cover")
    assert (presenter_state(page)["at"], presenter_state(page)["of"], presenter_state(page)["asks"]) == (1, 7, True)
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    with page.expect_popup() as popup:
        page.keyboard.press("n")
    notes = popup.value
    expect(notes.locator(".notes h1")).to_have_text(presenter_state(page)["title"])
    expect(notes.locator(".notes .asks")).to_have_text(T("present.bar_asks"))
    page.bring_to_front()
    press(page, "PageDown")  # what is covered is shown first
    expect(cover).to_have_count(0)
    assert (presenter_state(page)["at"], presenter_state(page)["asks"]) == (1, False)
    expect(page.locator(".lesson legend")).to_be_visible()
    # Other answers leave the picture their room.
    expect(page.locator(".lesson label >> visible=true")).to_have_class("option is-right")
    eventually(lambda: assert_room(page))
    assert press(page, "ArrowRight")["at"] == 2
    expect(notes.locator(".notes .note")).to_have_text(presenter_state(page)["note"])
    notes.keyboard.press("ArrowLeft")
    expect(page.locator(".presenter .at")).to_have_text("1 / 7")
    wait_run(page)
    press(page, ".")
    expect(dark).to_be_visible()
    press(page, ".")
    expect(dark).not_to_be_visible()
    box = page.locator(".st-key-text textarea")
    expect(box).not_to_be_visible()  # the picture says the words
    press(page, "c")
    box.focus()
    for key in ("End", ".", "f", " ", "ArrowRight", "PageDown", "n"):
        page.keyboard.press(key)
    expect(box).to_have_value("The animal didn't cross the street because it was too tired..f n")
    expect(dark).not_to_be_visible()
    expect(page.locator(".presenter .at")).to_have_text("1 / 7")
    notes.close()


def test_letter_answers_a_presented_question(visit):
    """Controls of a desk are off the wall: a letter answers, ? gives a hint, and Shift+B blanks the screen."""
    page = visit("heads", present=1, lesson="ten_minutes", viewport=(1280, 720))
    options, answers = page.locator(".lesson label.option"), page.locator(".lesson .said")
    expect(options.first).to_be_visible()
    for part in (".row", ".said p"):
        expect(page.locator(f".lesson {part}")).not_to_be_visible()
    press(page, "?")
    expect(answers).to_contain_text(T("lesson.bar_hint_says"))
    press(page, "b")
    expect(page.locator(".dark")).not_to_be_visible()
    expect(options.nth(1).locator("input")).to_be_checked()
    expect(answers.locator(".right, .wrong")).to_have_count(1)
    press(page, "Shift+B")
    expect(page.locator(".dark")).to_be_visible()


def assert_room(page: Page, share: float = 1) -> None:
    """The smallest letters are as large as a picture's are meant to be, or have this share of it."""
    letters = page.evaluate(SMALLEST)
    assert round(letters[0][0], 2) >= round(ROOM * share, 2), letters


@pytest.mark.fast
def test_presentation_crosses_pages(visit):
    """Pages are presented one section after the other."""
    page = visit("step-by-step", present=1, section=PAGE.sections[-1].name, viewport=(1280, 720))
    last = presenter_state(page)
    assert last["at"] == last["of"]
    eventually(lambda: assert_room(page, 0.8))  # two maps side by side may be a fifth smaller
    first = press(page, "ArrowRight")
    assert first["at"] == 1
    assert first["title"].startswith(T(f"{PAGES[1]}.title"))
    assert press(page, "PageUp")["title"] == last["title"]
    assert presenter_state(page)["code"] is None, "no code before it is asked for"
    press(page, "q")
    expect(page.locator(".sheet svg")).to_be_visible()
    expect(page.locator(".sheet")).to_contain_text("/step-by-step?")
    press(page, "Escape")
    expect(page.locator(".sheet")).not_to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".presenter")).to_have_count(0)
    wait_run(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(T("step_by_step.title"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("section", ["three_words", "steps"])
def test_presented_section_names_no_other_key(open_app, monkeypatch, section, lang):
    """There → opens the next section, whatever it does on a desk."""
    monkeypatch.setattr("viz.modes.present.presenter.prefetch", lambda _: None)
    app = open_app("step_by_step", section=section, source="words", lang=lang, present=1)
    messages = [
        json.loads(view.proto.json)[0] for view in app.get("bidi_component") if view.proto.id.endswith("presenter")
    ]
    lead = translator(lang)(f"step_by_step.{section}.lead_present")
    assert lead in sentences_of(app)
    assert [message["note"] for message in messages] == [lead], "the teacher's note says the same"


def test_chart_fits_screen_of_class(open_app):
    """Its letters are twice as large there, by a style sheet, and it is no more than a quarter higher."""
    at_a_desk, in_a_room = (
        line_charts(open_app("cost", section="growth", **more))["growth"] for more in ({}, {"present": 1})
    )
    assert 2 * in_a_room["height"] == pytest.approx(TALLER * at_a_desk["height"], abs=1)
