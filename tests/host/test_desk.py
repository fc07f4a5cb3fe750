"""The server of whoever runs app.py: what it begins with, and what it imports for whom."""

import asyncio
from pathlib import Path

import pytest
from streamlit import config
from streamlit.web.server.app_discovery import discover_asgi_app
from streamlit.web.server.server_util import get_url

from pages import EVERY, FIRST, HEADS, NAVIGATION
from tests.coroutines import finish
from tests.host.test_files import Streamlit, ask
from viz import ROOT
from viz.host import desk as the_desk
from viz.host.desk import Desk
from viz.host.first_paint import StaticPaint


@pytest.fixture
def desk():
    return Desk(EVERY, StaticPaint(navigation=NAVIGATION, pictures={}), before=HEADS)


def test_app_py_is_served_by_it():
    found = discover_asgi_app(Path(ROOT) / "app.py")
    assert (found.is_asgi_app, found.import_string) == (True, "app:app")


@pytest.mark.parametrize(
    ("path", "imported"),
    [
        ("/", []), ("/start", []), ("/nothing", []), ("/favicon.png", []),
        ("/masks", [("viz.frame.page", "pages.masks.page")]),
        ("/step-by-step", [("viz.frame.page", "pages.step_by_step.page")]),
    ],
)  # fmt: skip
def test_what_a_page_computes_with_is_imported_while_its_code_comes(desk, monkeypatch, path, imported):
    begun = []
    monkeypatch.setattr(the_desk.loading, "begin_to_import", lambda *modules: begun.append(modules))
    (files,) = desk.middleware
    assert ask(files.cls(Streamlit(), *files.args, **files.kwargs), path, host="a")[0] == 200
    assert begun == imported


def test_old_links_to_the_first_page_open_the_one_they_mean(desk):
    (files,) = desk.middleware
    status, said, _ = ask(files.cls(Streamlit(), *files.args, **files.kwargs), "/", query=b"layer=5", host="a")
    assert (status, said["location"]) == (307, "./heads?layer=5")


@pytest.mark.parametrize(("headless", "opened"), [(False, 1), (True, 0)])
def test_it_opens_the_browser_of_who_wants_one_when_it_can_be_asked(desk, monkeypatch, headless, opened):
    shown, told = [], []
    monkeypatch.setattr(the_desk, "LISTENS", 0)
    monkeypatch.setattr(the_desk, "ignore_pages_folder", lambda: told.append("own pages"))
    monkeypatch.setattr(the_desk.webbrowser, "open", shown.append)
    option = config.get_option
    monkeypatch.setattr(the_desk.st, "get_option", lambda key: headless if key == "server.headless" else option(key))

    async def serve():
        async with desk.lifespan(None):
            assert not shown, "nobody could be answered"
            await asyncio.sleep(0.1)

    finish(serve())
    assert told == ["own pages"]
    assert shown == [f"{get_url(config.get_option('browser.serverAddress'))}/"] * opened


def test_the_first_page_is_the_one_without_computation():
    assert EVERY[0] == FIRST
