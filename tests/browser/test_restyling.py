"""A click restyles little of the page, and the page does not repeat the language that it states already."""

import json

import pytest

from tests.browser.drive import wait_run
from viz.text import translator


@pytest.mark.parametrize("link", [{}, {"present": 1}])
def test_sidebar_place_is_kept_until_sidebar(visit, link):
    assert visit("masks", **link).locator("#frame").count() == 0


def styled_counts(page, act):
    """Numbers of elements that the browser styles in turn, from a click or a press of a key to the run's end."""
    page.wait_for_timeout(500)  # nothing of the visit is left to be done
    browser = page.context.browser
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    act()
    wait_run(page)
    page.wait_for_timeout(300)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    types = ("pointerdown", "keydown")
    began = min(event["ts"] for event in events if event.get("args", {}).get("data", {}).get("type") in types)
    styled = sorted(
        (event["ts"], event["args"]["elementCount"])
        for event in events
        # One that has begun when the recording ends has no count yet.
        if event["name"] == "UpdateLayoutTree" and "elementCount" in event["args"]
    )
    counts = [count for ts, count in styled if ts > began]
    assert counts, "the test sees what is styled"
    return counts


def test_click_restyles_few_elements(visit):
    """Counted by the browser itself: a rule that speaks of the whole page had 200 parts of it styled at each click."""
    page = visit("stacking", section="gradient")
    button = page.locator('[class*="st-key-_footer_"] [role=radio]').first
    button.hover()  # as the mouse comes, each container around the button is styled once
    counts = styled_counts(page, button.click)
    assert max(counts[:3]) < 3, counts


@pytest.mark.parametrize("width", [1280, 390])
def test_answer_restyles_part_of_page(visit, width):
    """All that an answer changes, the classes of what is out of date included, is less than the whole page once."""
    page = visit("positions", section="sinusoids", pe_show="step")
    page.set_viewport_size({"width": width, "height": 800})
    slider = page.locator(".st-key-pe_pair input[type=range]")
    slider.press("ArrowLeft")  # the first press of a key shows where the focus is
    wait_run(page)
    counts = styled_counts(page, lambda: slider.press("ArrowRight"))
    assert sum(counts) < page.locator("*").count(), counts


def test_page_in_same_language_sets_none(visit):
    """The whole page is styled anew when its language is set, also to the one it has."""
    page, t = visit("masks"), translator("en")
    page.evaluate("""() => { window.said = 0; new MutationObserver((changes) => { said += changes.length; })
        .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] }); }""")
    page.get_by_test_id("stSidebarNav").get_by_text(t("cost.title"), exact=True).click()
    wait_run(page)
    assert page.evaluate("said") == 0
    page.locator(".st-key-lang").get_by_text("中文").click()
    page.wait_for_function("document.documentElement.lang === 'zh'")
    assert page.evaluate("said") == 1
