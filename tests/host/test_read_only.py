"""A server on a wholly read-only system, without a folder for temporary files."""

import http.client
from pathlib import Path
from urllib.parse import urlparse
from uuid import uuid4

import pytest

from bench.load.tab import Tab, said_of
from bench.load.visitor import PATHS
from tests import SAFETY_NET
from tests.browser.drive import ROOT, Server, serve
from tests.coroutines import finish

LARGE = 1_900_000
"""Bytes of a file: below the limit of an upload, above what Starlette keeps in memory by itself."""


def upload(server: Server, tab: Tab) -> int:
    """Send a large file as a tab's browser does; return the status."""
    before = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n'
    body = before.encode() + b"a" * LARGE + b"\r\n--b--\r\n"
    headers = {
        "Content-Type": "multipart/form-data; boundary=b",
        "Cookie": said_of(tab.cookies),
        "X-Xsrftoken": tab.cookies["_streamlit_xsrf"],
    }
    connection = http.client.HTTPConnection(urlparse(server.url).netloc, timeout=SAFETY_NET)
    try:
        connection.request("PUT", f"/_stcore/upload_file/{tab.session}/{uuid4()}", body, headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.long
def test_read_only_system_serves_pages(tmp_path):
    """Every page is drawn, and a picture of nearly 2 MB is taken: nothing is written at any time."""
    folder = str(Path(__file__).with_name("read_only"))

    async def visit(server: Server) -> None:
        for path in PATHS:
            async with Tab(server.url) as tab:
                answer = await tab.open(path, lang="en")
                assert answer.titles and not answer.exceptions and not answer.boxes, (path, answer)
        async with Tab(server.url) as tab:
            await tab.open("convolution", section="picture", picture="upload")
            assert upload(server, tab) == 204

    with serve(ROOT / "serve.py", tmp_path / "log.txt", PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1") as server:
        finish(visit(server))
        assert "Traceback" not in server.read_log() and "Read-only" not in server.read_log()
