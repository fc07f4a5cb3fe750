"""A click is answered at once: what is sent waits for no picture, and no rule has the whole page styled anew."""

import json

import pytest

from tests.browser.drive import open_chip, wait_run
from viz.host.first_paint import AT_ONCE, COME
from viz.streamlit_internals.static import SENDS, STATIC
from viz.text import translator

ORDER = """() => {
  window.order = [];
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...given) { order.push("sent"); return send.apply(this, given); };
  addEventListener("keydown", () => {
    order.push("key");
    setTimeout(() => order.push("timer"));
    requestAnimationFrame(() => order.push("frame"));
  }, { capture: true });
}"""


def test_what_was_changed_is_sent_before_the_browser_draws(visit):
    page = visit("heads")
    open_chip(page, "layer")
    page.evaluate(ORDER)
    page.locator(".st-key-layer input[type=range]").press("ArrowRight")
    wait_run(page)
    assert sorted(page.evaluate("order.slice(2)")) == ["frame", "timer"]
    assert page.evaluate("order.slice(0, 2)") == ["key", "sent"]


def test_no_other_timer_is_changed(new_page):
    page = new_page(fresh=True)
    page.evaluate(AT_ONCE.removesuffix(";"))
    told = page.evaluate(
        """(name) => new Promise((done) => {
      const order = [], note = (what) => () => order.push(what);
      const work = new Function("note", `return () => { note(); /* ${name} */ }`);
      setTimeout(note("timer"), 0);
      setTimeout(work(note("later")), 1);
      clearTimeout(setTimeout(note("never"), 0));
      setTimeout(work(note("at once")), 0);
      setTimeout((...given) => order.push(...given), 2, "given", "these");
      note("now")();
      setTimeout(() => done(order), 30);
    })""",
        SENDS,
    )
    assert told == ["now", "at once", "timer", "later", "given", "these"]


def test_streamlit_still_sends_by_that_name():
    code = "".join(file.read_text("utf8") for file in (STATIC / "static" / "js").glob("index.*.js"))
    assert f"setTimeout(()=>{{this.{SENDS}(" in code


def test_a_module_that_has_come_is_said_to_be_loaded_at_once_and_no_other(new_page):
    page = new_page(fresh=True)
    page.evaluate(COME.removesuffix(";"))
    told = page.evaluate("""async () => {
      const address = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      const ask = async (src, type) => {
        const script = Object.assign(document.createElement("script"), { src, type }), order = [];
        for (const event of ["load", "error"]) script.addEventListener(event, () => order.push(event));
        document.head.append(script);
        await null;
        order.push("asked");
        await new Promise((done) => setTimeout(done, 300));
        return order.slice(0, 2);
      };
      const module = address("window.runs = (window.runs ?? 0) + 1"), missing = "/nowhere.js";
      const told = [], asked = [module, module, address("0"), missing, missing].map((src) => [src, "module"]);
      for (const [src, type] of [...asked, [module, ""], [module, ""]]) told.push((await ask(src, type)).join());
      return [told, window.runs];
    }""")
    first, again, failed = "asked,load", "load,asked", "asked,error"
    assert told == [[first, again, first, failed, failed, first, first], 3]


def test_a_view_that_has_come_is_drawn_as_soon_as_its_place_is_there(visit):
    page, t = visit("masks"), translator("en")
    navigation = page.get_by_test_id("stSidebarNav")
    for name in ("cost", "masks"):
        navigation.get_by_text(t(f"{name}.title"), exact=True).click()
        wait_run(page)
    page.evaluate("""() => {
      window.order = [];
      new MutationObserver((changes) => {
        for (const script of changes.flatMap(({ addedNodes }) => [...addedNodes]))
          script.addEventListener("load", ({ isTrusted }) => isTrusted && order.push("loaded"));
      }).observe(document.head, { childList: true });
      addEventListener("headlight-view", () => order.push("there"), { capture: true });
    }""")
    navigation.get_by_text(t("cost.title"), exact=True).click()
    page.wait_for_function("order.includes('there') && order.includes('loaded')")
    assert page.evaluate("order[0]") == "there", "before the browser says so itself"


@pytest.mark.parametrize("link", [{}, {"present": 1}])
def test_the_sidebars_place_is_kept_until_it_is_there_and_no_longer(visit, link):
    page = visit("masks", **link)
    assert page.locator("#frame").count() == 0


def test_a_click_has_little_styled_anew(visit):
    """Counted by the browser itself: a rule that speaks of the whole page had 200 parts of it styled at each click."""
    page = visit("stacking", section="gradient")
    footer, browser = page.locator('[class*="st-key-_footer_"] [role=radio]').first, page.context.browser
    page.wait_for_timeout(500)  # nothing of the visit is left to be done
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    footer.click()
    page.wait_for_timeout(300)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    wait_run(page)
    began = next(event["ts"] for event in events if event.get("args", {}).get("data", {}).get("type") == "pointerdown")
    styled = sorted(
        (event["ts"], event["args"]["elementCount"]) for event in events if event["name"] == "UpdateLayoutTree"
    )
    after = [count for ts, count in styled if ts > began]
    assert after, "the test sees what is styled"
    assert max(after[:3]) < 60, after


def test_a_page_that_is_chosen_says_its_language_only_if_it_is_another(visit):
    """What depends on a language is all of a page: it is styled anew when that is said, in the same words too."""
    page, t = visit("masks"), translator("en")
    page.evaluate("""() => { window.said = 0; new MutationObserver((changes) => { said += changes.length; })
        .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] }); }""")
    page.get_by_test_id("stSidebarNav").get_by_text(t("cost.title"), exact=True).click()
    wait_run(page)
    assert page.evaluate("said") == 0
    page.locator(".st-key-lang").get_by_text("中文").click()
    page.wait_for_function("document.documentElement.lang === 'zh'")
    assert page.evaluate("said") == 1
