"""What a page shows before it comes: out of what its script tells a browser, and only to those it is true for."""

import base64
import json
import re

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.host.test_files import Streamlit as Upstream
from tests.host.test_files import ask
from viz.components import bundle
from viz.host.files import Files
from viz.host.first import picture as first_picture
from viz.host.first.markup import COLOURS, THEME, style
from viz.host.first.picture import FirstPictures, picture_of
from viz.streamlit_internals.told import drawn, page_links

HOSTILE = "<img src=x onerror=alert(1)>&\"'"
NUMBERS = bytes(range(7))
GRID = "head_grid/head_grid"


def message(*path):
    made = ForwardMsg()
    made.metadata.delta_path[:] = path
    return made


def element(path, kind, **fields):
    made = message(*path)
    told = getattr(made.delta.new_element, kind)
    told.SetInParent()
    for name, value in fields.items():
        setattr(told, name, value)
    return made


def container(path, key):
    made = message(*path)
    made.delta.add_block.id = f"$$ID-0a-{key}"
    made.delta.add_block.flex_container.SetInParent()
    return made


def view(path, key, name="grid", **data):
    html = f'<data value="{name}-1.js"></data>'
    fields = {"id": f"$$ID-0a-{key}", "component_name": f"headlight.{name}", "html_content": html}
    return element(path, "bidi_component", **fields, **data)


def chip(path, label):
    made = message(*path)
    made.delta.add_block.popover.label = label
    return made


def bar(path, *names):
    made = element(path, "button_group", id="$$ID-0a-section")
    for name in names:
        made.delta.new_element.button_group.options.add().content = name
    made.delta.new_element.button_group.raw_values[:] = names[:1]
    return made


def navigation():
    made = ForwardMsg()
    made.navigation.sections[:] = ["Basics"]
    made.navigation.page_script_hash = "b"
    for name, path, is_hidden in (("Start", "", False), (HOSTILE, "heads", False), ("Alias", "start", True)):
        page = made.navigation.app_pages.add(page_name=name, url_pathname=path, section_header="Basics")
        page.page_script_hash, page.is_hidden = "b" if path == "heads" else path, is_hidden
    return made


def page():
    """A page's messages: what stands in it is told out of order, and beside it there is a sidebar."""
    said = '<div class="says"><p>One <button popovertarget="term_x">head</button>.</p><div role="status">…</div></div>'
    return [
        navigation(),
        element((1, 0), "heading", tag="h1", body="In the sidebar"),
        container((0, 0), "share_view"),
        element((0, 1), "heading", tag="h1", body=HOSTILE),
        element((0, 3), "text_area", value=HOSTILE),
        element((0, 2), "html", body=said),
        container((0, 4), "chips"),
        chip((0, 4, 0), "layer 3"),
        element((0, 4, 0, 0), "slider", label="In the pop-over"),
        bar((0, 5), "All", "One"),
        container((0, 6), "grid_box"),
        view((0, 6, 0), "grid_wall", bytes=NUMBERS),
        view((0, 6, 1), "grid", json=json.dumps([{"word": HOSTILE}])),
        element((0, 0, 0), "text", body="In what takes no place"),
        element((0, 7), "heading", tag="h2", body="Below the picture"),
    ]


def made(told, views=("some/grid",), lang="zh"):
    return picture_of(drawn(told), page_links(told), views, lang)


@pytest.fixture(name="picture")
def the_picture():
    return made(page())


def test_above_the_picture_stands_what_the_page_says_in_its_order(picture):
    text = re.sub(r"<[^>]*>", "|", picture.markup.partition('class="stMain"')[2])
    found = [part for part in text.replace(">", "").split("|") if part]
    hostile = "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#x27;"
    assert found == [hostile, "One ", "head", ".", hostile, "layer 3", "All", "One"]
    for name, is_open in (("All", "true"), ("One", "false")):
        assert f'aria-checked="{is_open}"><span>{name}<' in picture.markup


def test_nothing_in_it_can_be_pressed_but_the_links_to_pages(picture):
    assert "popovertarget" not in picture.markup
    for button in re.findall(r"<button[^>]*>", picture.markup.replace(' role="radio"', "")):
        assert "inert" in button or "aria-checked" in button
    assert re.search(r'class="stButtonGroup" inert', picture.markup)
    links = re.findall(r'<a href="([^"]*)"( aria-current[^>]*)?>', picture.markup)
    assert [link for link, _ in links] == ["./?lang=zh", "./heads?lang=zh", "?lang=en", "?lang=zh"]
    assert [bool(current) for _, current in links] == [False, True, False, True]
    assert "Alias" not in picture.markup and HOSTILE not in picture.markup


def test_its_views_are_given_what_the_pages_views_are_given(picture):
    given = json.loads(re.search(r"^first\((.*)\);$", picture.script.decode(), re.MULTILINE)[1])
    assert [(part["place"], part["address"]) for part in given] == [
        ("grid_wall", "_stcore/bidi-components/headlight.grid/grid-1.js"),
        ("grid", "_stcore/bidi-components/headlight.grid/grid-1.js"),
    ]
    assert base64.b64decode(given[0]["bytes"]) == NUMBERS and given[0]["data"] is None
    assert given[1]["data"] == [{"word": HOSTILE}] and not given[1]["bytes"]
    assert picture.needs == ("./_stcore/bidi-components/headlight.grid/grid-1.js",), "once"
    assert picture.markup.count("data-view=") == 2


def test_another_picture_has_another_address():
    changed = page()
    changed[-4] = view((0, 6, 0), "grid_wall", bytes=NUMBERS[::-1])
    first, other = (made(told).address for told in (page(), changed))
    assert first != other and re.fullmatch(r"headlight\.first/first-[0-9a-f]{16}\.js", first)


def test_a_page_without_its_view_has_no_picture():
    with pytest.raises(LookupError, match=r"headlight\.arcs"):
        made(page(), ["start/arcs", "some/grid"])


def test_what_goes_wrong_is_no_visitors_business(monkeypatch):
    def fails(path, query):
        raise RuntimeError(f"{path} {query}")

    monkeypatch.setattr(first_picture, "unseen_script", fails)
    pictures = FirstPictures({"start": (), "heads": ()})
    pictures.make("heads", "en")
    assert pictures.of("heads", "en") is None


def test_it_is_asked_for_as_a_visitor_would(monkeypatch):
    asked = []
    monkeypatch.setattr(first_picture, "unseen_script", lambda *link: asked.append(link) or page())
    pictures = FirstPictures({"start": ("some/grid",), "share_kv": ("some/grid",)})
    pictures.make_all("start")
    pictures.make("share_kv", "zh")
    assert asked == [("", "lang=en"), ("", "lang=zh"), ("share-kv", "lang=zh")]
    assert pictures.of("share_kv", "zh") == pictures.of("start", "zh")
    assert pictures.of("masks", "zh") is None, "a page that has none"


def test_who_comes_first_in_a_language_has_it_made_for_those_who_come_later(monkeypatch):
    begun = []

    class Timer:
        daemon = False

        def __init__(self, seconds, work, given):
            self.work, self.given = work, given

        def start(self):
            begun.append(self)

    monkeypatch.setattr(first_picture, "unseen_script", lambda *_: page())
    monkeypatch.setattr(first_picture.threading, "Timer", Timer)
    pictures = FirstPictures({"heads": ("some/grid",)})
    assert [pictures.of("heads", "zh") for _ in range(3)] == [None] * 3
    (only,) = begun
    assert only.daemon
    only.work(*only.given)
    assert pictures.of("heads", "zh") is not None


@pytest.fixture
def files(picture):
    pictures = FirstPictures({"start": (GRID,), "heads": (GRID,)})
    pictures.made = {("heads", "en"): picture, ("heads", "zh"): None, ("start", "en"): None, ("start", "zh"): None}
    return Files(Upstream(), pages=("start", "heads", "masks"), pictures=pictures)


@pytest.mark.parametrize(
    ("path", "query", "language", "is_there"),
    [
        ("/heads", b"", "en-GB,en", True), ("/heads", b"lang=en", "zh-CN", True), ("/heads", b"", "zh-CN", False),
        ("/heads", b"lang=zh", "en", False), ("/heads", b"text=cat", "en", False), ("/heads", b"lang=fr", "en", False),
        ("/heads", b"embed=1", "en", False), ("/heads", b"theme=dark", "en", False), ("/heads", b"text=", "en", False),
        ("/", b"", "en", False), ("/masks", b"", "en", False), ("/no/heads", b"", "en", True),
    ],
)  # fmt: skip
def test_only_who_asks_for_nothing_is_shown_it(files, path, query, language, is_there):
    """A page that answers below a path of the server's own is the same page."""
    sent = ask(files, path, query=query, accept_language=language)[2].decode()
    assert ('id="first"' in sent) == is_there
    assert (THEME in sent) == (style() in sent) == ("headlight.first/" in sent) == is_there


def test_its_script_is_a_file_for_a_year_and_asked_for_before_all_else(files, picture):
    sent = ask(files, "/heads")[2].decode()
    assert sent.index("headlight.first/") < sent.index("./static/js/")
    assert sent.index(picture.markup) < sent.index('<script type="module" async'), "it looks for its place at once"
    status, said, body = ask(files, f"/_stcore/bidi-components/{picture.address}")
    assert (status, body) == (200, picture.script) and "immutable" in said["cache-control"]
    assert said["content-type"].startswith("text/javascript")


def test_its_script_begins_itself():
    assert bundle.joined(bundle.CLIENT / "frame" / "first.js").count("export function first(") == 1


def test_every_colour_has_a_light_and_a_dark_one():
    for name, pair in COLOURS.items():
        for colour in pair:
            assert f"--st-{name}: {colour};" in style()
