"""The start page in a browser: arcs under the pointer and by keyboard, the switch, the ways on, a phone."""

import re

import pytest
from playwright.sync_api import Page, expect

from pages.start.sentences import WEIGHT_UNITS, pairs
from pages.start.story import stories_on_file
from tests.browser.drive import PHONE, eventually, frame, wait_run
from tests.browser.test_accessibility import look_at_both_themes
from viz.frame.format import part
from viz.text import translator

SCREEN = (1280, 720)
T = translator("en")
HOSTILE = "<b>x</b> ![x](http://example.com/a.png) $y$ the end"
NUMBERS = """root => root.start.words.map(({ button, arc }) => ({
    word: button.firstChild.textContent, number: button.lastChild.textContent, looks: button.ariaPressed === 'true',
    arc: Number(arc.style.opacity) > 0, width: parseFloat(arc.style.strokeWidth), path: arc.getAttribute('d'),
}))"""


def weights(at: int, word: str) -> dict[str, float]:
    """Weights of a word's row in the file by label; the first of two equal words."""
    sentence = pairs()["en"]["sentences"][at]
    row = sentence["weights"][sentence["labels"].index(word)]
    weights_by_token = zip(sentence["labels"], sentence["special"], row, strict=True)
    return {
        label: weight / WEIGHT_UNITS
        for label, special, weight in reversed(list(weights_by_token))
        if not special and label != "the"
    }


def assert_shown(page: Page, at: int, word: str) -> None:
    """The arcs and the numbers on the screen are those of the file."""
    frame(page)
    visible = [element for element in page.locator(".start").evaluate(NUMBERS) if element["word"] != "the"]
    assert [element["word"] for element in visible if element["looks"]] == [word]
    by_file = weights(at, word)
    for element in visible:
        weight = 0.0 if element["word"] == word else by_file[element["word"]]
        assert element["number"] == (part(weight) if weight >= 0.03 else ""), element
        assert element["arc"] == (weight >= 0.03) and (element["width"] >= 10 * weight or not element["path"]), element


def ends(page: Page) -> float:
    """Bottom edge of the lowest door, in pixels."""
    return page.locator(".doors").evaluate("doors => doors.getBoundingClientRect().bottom")


def test_arcs_switch_and_ways_on(visit):
    page = visit("", viewport=SCREEN)
    page.mouse.move(1, 1)  # the film ends
    expect(page).to_have_title(T("start.tab"))
    start, status = page.locator(".start"), page.locator(".start .says")
    word = lambda text: start.locator(".word", has_text=re.compile(rf"^{re.escape(text)}[\d.]*$"))  # noqa: E731
    assert_shown(page, 0, "it")
    expect(status).to_contain_text("“it” looks most at “animal”: 0.68.")
    expect(status).to_contain_text(
        "Then “street”: 0.05. Other words: 0.10. The rest, 0.17, goes to “it” itself and to 2 hidden marks, [CLS]"
    )
    expect(status).to_have_attribute("aria-live", "polite")
    look_at_both_themes(page)

    word("cross").hover()
    assert_shown(page, 0, "cross")
    expect(status).to_contain_text("“cross”")
    page.get_by_role("heading", level=1).hover()
    assert_shown(page, 0, "it")

    word("it").focus()
    page.keyboard.press("ArrowRight")
    expect(word("was")).to_be_focused()
    assert_shown(page, 0, "was")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(start.get_by_role("radio", name="wide")).to_be_focused()
    assert_shown(page, 1, "it")
    expect(status).to_contain_text("“animal” more than at any other word: 0.28, before 0.68")
    box = start.get_by_role("textbox")
    expect(box).to_have_value(pairs()["en"]["sentences"][1]["text"])
    page.mouse.move(0, 0)

    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    frame(page)
    assert ends(page) <= PHONE[1] and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".stMain").evaluate("main => main.scrollWidth <= main.clientWidth")
    word("street").click()
    assert_shown(page, 1, "street")
    page.set_viewport_size({"width": SCREEN[0], "height": SCREEN[1]})

    for door, heading in (("new", "heads"), ("teach", "lessons"), ("know", "heads")):
        page.get_by_role("link", name=re.compile(f"^{T(f'start.{door}')}")).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(T(f"{heading}.title"))
        wait_run(page)
        assert ("lesson=attention_from_nothing" in page.url) == (door == "new")
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text(T("start.headline"))
        wait_run(page)

    box.fill("The cat sat on the mat because it was warm.")
    box.press("Enter")
    expect(start.get_by_role("button", name=T("start.arcs_back"))).to_be_visible()
    expect(box).to_be_focused()
    wait_run(page)
    assert "/?sentence=The+cat+sat" in page.url
    assert start.locator(".word b").all_text_contents()[:3] == ["the", "cat", "sat"]
    start.get_by_role("button", name=T("start.arcs_back")).click()
    wait_run(page)
    assert_shown(page, 0, "it")
    assert "sentence" not in page.url

    box.fill(20 * HOSTILE)
    box.press("Enter")
    expect(page.locator(".st-key-text textarea")).to_have_value(20 * HOSTILE)
    wait_run(page)
    assert re.search(r"/heads\?text=", page.url)
    page.go_back()
    expect(start).to_be_visible()


def test_arcs_meet_words_in_presentation(visit):
    page = visit("", present=1, viewport=SCREEN)
    page.mouse.move(1, 1)
    assert_shown(page, 0, "it")

    def fits():
        farthest = page.locator(".start").evaluate("""root => Math.max(...root.start.words.map(({ button, arc }) => {
            const word = button.getBoundingClientRect(), path = arc.getBoundingClientRect();
            const middle = word.left + word.width / 2;
            return path.width ? Math.min(Math.abs(path.left - middle), Math.abs(path.right - middle)) : 0;
        }))""")
        assert farthest < 30, "half the width of the thickest arc"
        assert page.locator(".stMain").evaluate("main => main.scrollHeight") <= SCREEN[1], "one screen"
        below, keys = page.locator(".start form").bounding_box(), page.locator(".presenter").bounding_box()
        assert below["y"] + below["height"] <= keys["y"], "and nothing below the keys"

    eventually(fits)


@pytest.mark.fast
def test_story_follows_the_chosen_word(visit):
    """Below the ways in, asked for when a user comes near, for the word and the sentence that are chosen above."""
    page = visit("", viewport=SCREEN)
    page.mouse.move(1, 1)
    story, title = page.locator(".story"), page.locator(".story h2").first
    story.scroll_into_view_if_needed()
    expect(title).to_have_text(T("start.story_takes", query="it"))
    expect(story.locator(".takes .rows b")).to_have_text(["animal", "street", "the"])
    sentence = pairs()["en"]["sentences"][0]
    assert story.locator(".takes i").first.locator("span").count() == len(stories_on_file()["en"][0]["values"][0])
    expect(story.locator(".bars b")).to_have_text(stories_on_file()["en"][0]["next"]["words"])
    expect(story.locator(".next p")).to_contain_text("“tired”, which stands there, gets <0.01.")
    sides = story.locator(".maps").evaluate("""maps => {
        const [all, one] = [maps, maps.querySelector(".frame")].map((part) => part.getBoundingClientRect());
        return [(one.left - all.left) / all.width, (one.top - all.top) / all.height];
    }""")
    pair = pairs()["en"]
    assert sides == pytest.approx([pair["head"] / 12, pair["layer"] / 6], abs=0.01)
    page.get_by_role("radio", name="wide").click()
    expect(story.locator(".next p")).to_contain_text("“wide”, which stands there")
    page.get_by_role("radio", name="tired").click()
    page.locator(".start .word", has_text="street").click()
    expect(title).to_have_text(T("start.story_takes", query="street"))
    story.get_by_role("link", name=T("start.story_heads_more")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(T("heads.title"))
    expect(page.locator(".st-key-text textarea")).to_have_value(sentence["text"])
    wait_run(page)


PASSING = """window.passing = [];
document.addEventListener("headlight-view", (event) => {
    const { view } = event.composedPath()[0];
    if (!view.root?.matches(".start")) return;
    new MutationObserver(() => {
        const words = view.words.map(({ button }) => button),
            looks = words.find((word) => word.ariaPressed === "true").firstChild.textContent,
            now = `${looks} ${words.at(-2).firstChild.textContent}`;
        if (window.passing.at(-1) !== now) window.passing.push(now);
        if (STOPS && looks === "because") document.dispatchEvent(new KeyboardEvent("keydown", { key: "x" }));
    }).observe(view.sentence, { subtree: true, childList: true, attributes: true });
})"""


@pytest.mark.parametrize("stops", [False, True])
def test_film_runs_once(new_page, app_url, stops):
    """The words look one after another, *tired* turns to *wide* and back; a key ends it; no second time in a visit."""
    page = new_page(viewport=SCREEN, fresh=True)
    page.add_init_script(PASSING.replace("STOPS", str(stops).lower()))
    page.goto(app_url)
    expect(page.locator(".story")).to_be_attached()
    page.wait_for_function("window.passing.length > 3")
    expect(page.locator(".start .says")).to_have_attribute("aria-live", "polite")
    assert_shown(page, 0, "it")
    passing = page.evaluate("window.passing")
    assert passing[0] in ("it tired", "the tired") and passing[-1] == "it tired" and len(set(passing)) > 4
    assert ("it wide" in passing) == (not stops)
    page.get_by_role("link", name=T("masks.title")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(T("masks.title"))
    page.go_back()
    expect(page.locator(".start .word").first).to_be_visible()
    wait_run(page)
    assert page.evaluate("window.passing") == passing
