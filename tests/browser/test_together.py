"""What comes together is handed on together: the script before Streamlit's connection, and what it spares."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.drive import wait_run
from viz.host.first_paint import GAP, LONGEST, TOGETHER
from viz.streamlit_internals.together import RUN_ENDS
from viz.text import translator

CONNECTION = """(kinds) => new Promise((done) => {
  window.WebSocket = class extends EventTarget {};
  %s
  const socket = new WebSocket("ws://nowhere"), handed = [];
  let turn = 0;
  socket.addEventListener("message", ({ data }) => handed.push([turn, new Uint8Array(data)[0]]));
  const send = (...parts) => socket.dispatchEvent(new MessageEvent("message", { data: new Uint8Array(parts).buffer }));
  const next = () => {
    const kind = kinds.shift();
    turn += 1;
    if (kind === undefined) return done(handed);
    if (kind === "over") send(...%s);
    else if (kind === "close") socket.dispatchEvent(new Event("close"));
    else if (kind !== "pause") send(kind, 7, 7);
    setTimeout(next, kind === "pause" ? 10 * %d : 0);
  };
  next();
})"""
OVER = RUN_ENDS[1][0]


@pytest.mark.parametrize(
    ("sent", "handed"),
    [
        ([1, 2, "over"], [[1, 1], [2, 2], [3, OVER]]),
        (["over", 1, 2, "over", 3, "over"], [[1, OVER], [4, 1], [4, 2], [4, OVER], [6, 3], [6, OVER]]),
        (["over", 1, 2, "pause", 3, "pause"], [[1, OVER], [4, 1], [4, 2], [6, 3]]),
        (["over", 1, "close"], [[1, OVER], [3, 1]]),
        ([], []),
    ],
)
def test_after_the_first_run_messages_wait_for_the_last_of_theirs_but_not_for_long(new_page, sent, handed):
    page = new_page(fresh=True)
    assert page.evaluate(CONNECTION % (TOGETHER, [*RUN_ENDS[1]], GAP), sent) == handed


def test_a_run_that_goes_on_telling_is_not_waited_for(new_page):
    page = new_page(fresh=True)
    many = [
        "over",
        *(number % 100 for number in range(40 * LONGEST)),
    ]  # each comes sooner than the one before has waited
    turns = [turn for turn, _ in page.evaluate(CONNECTION % (TOGETHER, [*RUN_ENDS[1]], GAP), many)]
    assert 3 < len(set(turns)) < len(many) / 3
    assert turns == sorted(turns)


def test_a_page_that_is_chosen_takes_the_place_of_the_last_one_which_is_never_shown_as_out_of_date(visit):
    page = visit("masks")
    navigation, t = page.get_by_test_id("stSidebarNav"), translator("en")
    for name in ("heads", "masks"):  # so that both are computed
        navigation.get_by_text(t(f"{name}.title"), exact=True).click()
        wait_run(page)
    page.evaluate("""() => { window.marked = 0; new MutationObserver((changes) => {
        marked += changes.filter(({ target }) => target.dataset.stale === "true").length;
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-stale"] }); }""")
    seen = []
    while len(seen) < 20 and 0 not in seen:  # a busy machine has not drawn a page within a moment
        navigation.get_by_text(t(("heads.title", "masks.title")[len(seen) % 2]), exact=True).click()
        wait_run(page)
        seen.append(page.evaluate("() => { const before = marked; marked = 0; return before; }"))
    assert page.locator("[data-stale]").count() > 15, "what would be marked"
    assert seen[-1] == 0, seen


def test_a_page_that_is_chosen_shows_what_whoever_opens_it_sees(visit):
    """A page that is there at once is told by what changes; what stood in places that it has not leaves no gap."""
    page, t = visit("masks"), translator("en")
    read = """() => { const main = document.querySelector(".stMain");
        const { innerText } = document.querySelector(".stSidebar [aria-current]");
        return [document.title, innerText, main.scrollHeight, main.innerText]; }"""
    shown = {}
    for name in [
        "atlas",
        "masks",
        "long_text",
        "cost",
        "next_word",
        "share_kv",
        "heads",
    ] * 2:  # at last all is computed
        page.get_by_test_id("stSidebarNav").get_by_text(t(f"{name}.title"), exact=True).click()
        wait_run(page)
        page.wait_for_timeout(300)
        shown[page.url] = page.evaluate(read)
    for link, chosen in shown.items():
        page.goto(link)
        wait_run(page)
        page.wait_for_timeout(300)
        assert page.evaluate(read) == chosen


def test_of_a_page_that_is_chosen_what_the_one_before_had_too_is_not_told(visit):
    page, t = visit("masks"), translator("en")
    told: list[ForwardMsg] = []
    page.on(
        "websocket", lambda socket: socket.on("framereceived", lambda data: told.append(ForwardMsg.FromString(data)))
    )
    page.reload()
    wait_run(page)
    n_all = len(told)
    for name in ("heads", "masks") * 20:  # a busy machine has not drawn a page within a moment
        told.clear()
        page.get_by_test_id("stSidebarNav").get_by_text(t(f"{name}.title"), exact=True).click()
        wait_run(page)
        elements = [each.delta.new_element for each in told]
        again = [each for each in elements if "-lang" in each.button_group.id or each.WhichOneof("type") == "text_area"]
        again += [each for each in told if each.WhichOneof("type") == "logo"]
        if name == "masks" and len(told) < 0.8 * n_all and not again:
            break
    assert len(told) < 0.8 * n_all
    assert not again
