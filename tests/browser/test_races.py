"""Back, another page, a second file or the end of the connection, while the answer to an action is on its way."""

from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.drive import PATIENCE, Watch, address, answered, eventually, listen, open_chip, unanswered, wait_run
from tests.browser.proxy import proxy
from tests.browser.test_history import HOLDING, at, to_section
from tools.random_walk import READ
from viz.text import translator

T = translator("en")
BACK = "() => new Promise(done => { onpopstate = done; history.back(); }).then(() => 0)"
FORWARD = BACK.replace("back", "forward")
RELEASE = "() => { const late = held; held = null; for (const arrive of late) arrive(); }"
PICTURE = ("convolution", {"section": "picture", "picture": "upload"})
TEXT = ("long-text", {"source": "words", "d_model": 8, "n_heads": 2, "long_from": "file"})
SIZES = {"a": (9, 7), "b": (12, 5)}
"""Widths and heights of two pictures; the texts of these names have 9 and 12 words."""


def change(page: Page, what: str) -> None:
    """Choose another page or an example, move a control or type a text."""
    if what == "page":
        page.get_by_test_id("stSidebarNav").get_by_text(T("block.title"), exact=True).click()
    elif what == "control":
        open_chip(page, "source")
        page.locator(".st-key-seed input").press("ArrowUp")
    elif what == "example":
        page.locator(".st-key-_example input").click()
        page.get_by_role("option").nth(1).click()
    else:
        page.locator(".st-key-text textarea").fill("four five")
        page.locator(".st-key-text textarea").press("Control+Enter")


@pytest.mark.fast("control-False")
@pytest.mark.parametrize("is_answered", [False, True])
@pytest.mark.parametrize("what", ["page", "control", "text", "example"])
def test_back_precedes_answer(new_page, app_url, server, what, is_answered):
    """Back before the server answers, or before the answer arrives: the page, link and controls before the change."""
    page, fresh = new_page(), new_page()
    page.add_init_script(HOLDING)
    page.goto(address(app_url, "masks", source="words", text="one two three", seed=7))
    wait_run(page)
    before = at(page)
    open_chip(page, "source")
    page.locator(".st-key-seed input").press("ArrowUp")
    page.keyboard.press("Escape")
    assert at(page) == before.replace("seed=7", "seed=8")
    if is_answered:
        page.evaluate("() => { held = []; }")
        change(page, what)
        answered(page)
        page.evaluate(BACK)
        answered(page)
        page.evaluate(RELEASE)
    else:
        with unanswered(server):
            change(page, what)
            page.evaluate(BACK)
    if what != "example":  # in a list Escape is a change, and here one between two answers
        page.keyboard.press("Escape")
    assert at(page) == before
    assert_as_opened(page, fresh)


@pytest.mark.parametrize("is_answered", [False, True])
@pytest.mark.parametrize("what", ["control", "example"])
def test_forward_follows_back(new_page, app_url, server, what, is_answered):
    """Back and Forward at once, after a change or together with it: the page, link and controls of that entry."""
    page = new_page()
    page.goto(address(app_url, "masks", source="words", text="one two three", seed=7))
    wait_run(page)
    change(page, "control")
    page.keyboard.press("Escape")
    if is_answered:
        wait_run(page)
        change(page, what)
        page.keyboard.press("Escape")
    after = at(page)
    with unanswered(server):
        if not is_answered:
            change(page, what)
        page.evaluate(BACK)
        page.evaluate(FORWARD)
    page.keyboard.press("Escape")
    assert at(page) == after
    assert_as_opened(page, new_page())


def assert_as_opened(page: Page, fresh: Page) -> None:
    """A page has the controls that its link opens elsewhere."""
    fresh.goto(page.url)
    wait_run(fresh)
    eventually(lambda: assert_equal(page.evaluate(READ), fresh.evaluate(READ)))


def assert_equal(value, expected):
    assert value == expected


def upload(page: Page, name: str) -> None:
    """Upload the picture, or the text, of this name."""
    content = BytesIO()
    Image.new("RGB", SIZES[name], (200, 100, 50)).save(content, "PNG")
    file: FilePayload = {"name": f"{name}.png", "mimeType": "image/png", "buffer": content.getvalue()}
    if "long-text" in page.url:
        text = " ".join(f"word{i}" for i in range(SIZES[name][0]))
        file = {"name": f"{name}.txt", "mimeType": "text/plain", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(file)


def size(page: Page) -> list[int]:
    """Width and height of the picture that is shown; of a text, the words and 0."""
    if "long-text" in page.url:
        return page.locator(".long-map").evaluate("view => [Math.sqrt(view.longMap.data.values.length), 0]")
    view = page.locator(".quadratic").filter(has=page.locator(".plane"))
    return view.evaluate("view => [view.heads.data.columns, view.heads.data.rows]")


def assert_shown(page: Page, name: str) -> None:
    """Name and content of a file are shown, and the link is that of a file."""
    wait_run(page)
    width, height = SIZES[name]
    is_text = "long-text" in page.url
    eventually(lambda: assert_equal(size(page), [width, 0 if is_text else height]))
    expect(page.locator(".stFileUploader")).to_contain_text(f"{name}.")
    assert ("long_from=file" if is_text else "picture=upload") in page.url
    expect(page.get_by_test_id("stException")).to_have_count(0)


@pytest.mark.fast("convolution-parameters0")
@pytest.mark.parametrize(("name", "parameters"), [PICTURE, TEXT])
def test_second_file_follows_at_once(browser, server, name, parameters):
    """The later file is shown."""
    watch = Watch()
    with browser.new_context(locale="en-US") as context:
        watch.follow(context)
        page = listen(context.new_page())
        page.goto(address(server.url, name, **parameters))
        wait_run(page)
        upload(page, "a")
        upload(page, "b")
        assert_shown(page, "b")
        expect(page.locator(".stFileUploader")).not_to_contain_text("a.")
    # Streamlit writes into the console that it has ended the first one.
    assert not [error for error in watch.errors if "CanceledError" not in error]


def test_notices_do_not_move_sections(browser, server):
    """A section's place, counted in elements: of a run cut short Streamlit may send sections alone, to that place."""
    places = set()

    def note(frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            message = ForwardMsg.FromString(frame)
            if "section_map" in message.delta.add_block.id:
                places.add(tuple(message.metadata.delta_path))

    with browser.new_context(locale="en-US") as context:
        page = listen(context.new_page())
        page.on("websocket", lambda socket: socket.on("framereceived", note))
        page.goto(address(server.url, TEXT[0], **TEXT[1]))
        wait_run(page)
        upload(page, "a")
        assert_shown(page, "a")
    assert len(places) == 1


def test_page_left_during_upload(visit):
    """Another page and back: what a visit without a file shows, and a file can be uploaded."""
    page = visit(PICTURE[0], **PICTURE[1])
    upload(page, "a")
    for name in ("heads", "convolution"):
        page.get_by_test_id("stSidebarNav").get_by_text(T(f"{name}.title"), exact=True).click()
    wait_run(page)
    to_section(page, "convolution.picture")
    expect(page.get_by_text(T("convolution.upload_none"))).to_be_visible()
    expect(page.locator(".stFileUploader")).not_to_contain_text("a.png")
    upload(page, "b")
    assert_shown(page, "b")


@pytest.mark.parametrize("milliseconds", [0, 50])
def test_back_during_upload(visit, milliseconds):
    """Back: the picture before, though the browser still sends that the user's own is chosen."""
    page = visit(PICTURE[0], **PICTURE[1] | {"picture": "digit"})
    link_before, size_before = at(page), size(page)
    page.locator(".st-key-picture").get_by_text(T("convolution.picture_upload"), exact=True).click()
    wait_run(page)
    upload(page, "a")
    page.wait_for_timeout(milliseconds)
    page.evaluate(BACK)
    assert at(page) == link_before
    eventually(lambda: assert_equal(size(page), size_before))
    expect(page.locator(".st-key-picture [aria-checked=true]")).to_have_text(T("convolution.picture_digit"))
    page.go_forward()
    wait_run(page)
    upload(page, "b")
    assert_shown(page, "b")


@pytest.mark.fast
def test_connection_lost_during_upload(browser, app_url):
    """The connection ends with the file on its way: the page stands, and a file can be uploaded."""
    with proxy(app_url) as line, browser.new_context(locale="en-US") as context:
        context.set_default_timeout(PATIENCE)
        page = listen(context.new_page())
        page.goto(address(line.url, PICTURE[0], **PICTURE[1]))
        wait_run(page)

        def lose(route):
            line.cut(abort=True)
            route.abort("connectionreset")

        page.route("**/_stcore/upload_file/**", lose, times=1)
        with page.expect_websocket():
            upload(page, "a")
        wait_run(page)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        expect(page.get_by_text(T("convolution.upload_none"))).to_be_visible()
        upload(page, "b")
        assert_shown(page, "b")
