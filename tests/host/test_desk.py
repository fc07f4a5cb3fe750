"""The local server opens the browser."""

import asyncio

import pytest
from streamlit import config
from streamlit.web.server.server_util import get_url

from tests.coroutines import finish
from viz.host import desk as the_desk
from viz.host.desk import Desk


@pytest.mark.parametrize(("headless", "expected"), [(False, 1), (True, 0)])
def test_desk_opens_browser(monkeypatch, headless, expected):
    addresses = []
    monkeypatch.setattr(the_desk, "LISTENS", 0)
    monkeypatch.setattr(the_desk.webbrowser, "open", addresses.append)
    option = config.get_option
    monkeypatch.setattr(the_desk.st, "get_option", lambda key: headless if key == "server.headless" else option(key))

    async def serve():
        async with Desk().lifespan(None):
            assert not addresses, "the server does not listen yet"
            await asyncio.sleep(0.1)

    finish(serve())
    assert addresses == [f"{get_url(config.get_option('browser.serverAddress'))}/"] * expected
