"""The share button: nothing before it is opened; then a link, a code, and a frame that takes the height it needs."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.drive import PHONE, wait_run
from viz.text import translator

T = translator("en")
HIDES = "<style>.stApp :is(.st-key"


def test_hidden_parts_count(open_app):
    app = open_app("masks", without="layer-text", layer=5, text="a b c")
    (style,) = [html.proto.body for html in app.get("html") if html.proto.body.startswith(HIDES)]
    assert re.findall(r"\.st-key-(\w+)", style) == ["layer", "chip_layer", "text_row", "chip_text_row"]
    assert app.session_state["layer"] == 5
    assert app.text_area(key="text").value == "a b c"
    assert not [html for html in open_app("masks").get("html") if html.proto.body.startswith(HIDES)]


@pytest.mark.fast
def test_a_view_is_passed_on(visit, new_page, server):
    page = visit("step-by-step", section="three_words", hand_causal=1, viewport=PHONE)
    assert page.locator(".share").count() == 0
    # The style comes a moment later than the button, which stands where the page begins: it is not seen to move far.
    is_first = "(share) => Boolean(share.compareDocumentPosition(document.querySelector('.stMain h1')) & 4)"
    assert page.locator(".st-key-share_view").evaluate(is_first)
    page.get_by_role("button", name=T("share.title")).click()
    wait_run(page)
    link = page.locator(".share .link input")
    expect(link).to_have_value(f"{server.url}/step-by-step?hand_causal=1&lang=en")
    show = page.get_by_role("link", name=T("share.bar_present"))
    expect(show).to_have_attribute("href", f"{server.url}/step-by-step?hand_causal=1&lang=en&present=1")
    expect(page.locator(".share svg")).to_have_count(0)
    page.get_by_text(T("share.bar_code"), exact=True).click()
    wait_run(page)
    expect(page.locator(".share svg")).to_be_visible()
    page.get_by_text(T("share.bar_embed"), exact=True).click()
    page.get_by_label(T("share.control_text")).check()
    page.locator(".share select").select_option("dark")
    html = page.locator(".share textarea").input_value()
    assert "embed=1&amp;theme=dark" in html
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    holder = new_page(viewport=(800, 600))
    holder.evaluate("() => { window.told = []; addEventListener('message', (event) => told.push(event.data)); }")
    holder.evaluate(
        """html => {
          document.body.innerHTML = html;
          const script = document.body.querySelector("script"), again = document.createElement("script");
          again.textContent = script.textContent;
          script.replaceWith(again);
        }""",
        html,
    )
    frame = holder.frame_locator("iframe")
    expect(frame.locator(".three-words")).to_be_visible()
    expect(frame.get_by_test_id("stSidebar")).to_have_count(0)
    expect(frame.locator(".st-key-text_row")).not_to_be_visible()
    expect(frame.get_by_test_id("stApp")).to_have_css("background-color", "rgb(23, 22, 20)")
    expect(holder.locator("iframe")).to_have_attribute("style", re.compile(r"height: \d+px"))
    inside = frame.locator(".stMainBlockContainer").evaluate("block => block.getBoundingClientRect().height")
    height = holder.locator("iframe").evaluate("frame => frame.offsetHeight")
    assert abs(height - inside) <= 1
    messages = [message for message in holder.evaluate("told") if isinstance(message, dict)]
    ours = [message for message in messages if "stCommVersion" not in message]  # what Streamlit tells by itself
    assert ours, "the height is told"
    assert all(set(message) == {"headlightHeight"} for message in ours), "and nothing else"


@pytest.mark.parametrize(
    ("place", "hidden", "left"),
    [
        ("convolution/windows", ("w_alpha", "mix"), ("w_delta",)),
        ("convolution/picture", ("alpha",), ()),
        ("positions/sinusoids", ("pe_width", "base"), ("pe_n", "pe_at")),
        ("heads/all_heads", ("temperature",), ()),
    ],
)
def test_sliders_of_view_are_hidden(visit, place, hidden, left):
    path, section = place.split("/")
    page = visit(path, section=section, without="-".join(hidden))
    for names, is_visible in ((left, True), (hidden, False)):
        for name in names:
            control = page.locator(".temperature" if name == "temperature" else f"[style*='--without-{name})']").first
            expect(control).to_be_attached()
            expect(control).to_be_visible(visible=is_visible)
