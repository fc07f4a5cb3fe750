"""The page a browser is sent first has the style in it; nothing else is touched."""

import asyncio

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient

from viz.host.first_paint import FRAME, FirstPaint, style

PAGE = "<html><head><title>x</title></head><body></head></body></html>"


async def app(scope, receive, send):
    seen = {name.decode(): value.decode() for name, value in scope["headers"]}
    if scope["path"] == "/":
        answer = Response(
            PAGE, media_type="text/html", headers={"etag": "1", "last-modified": "x", "x-seen": str(seen)}
        )
    else:
        answer = PlainTextResponse("</head>", headers={"etag": "1"})
    await answer(scope, receive, send)


@pytest.fixture
def client():
    return TestClient(FirstPaint(app))


def test_the_page_has_the_style_once_and_says_how_long_it_is(client):
    answer = client.get("/?lang=zh", headers={"accept": "text/html,*/*", "if-none-match": "1"})
    assert answer.text == PAGE.replace("</head>", style(embedded=False).decode() + "</head>", 1)
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert not {"etag", "last-modified"} & set(answer.headers), "of the page without"
    assert "gzip" not in answer.headers["x-seen"]
    assert "if-none-match" not in answer.headers["x-seen"]


def test_an_embedded_page_keeps_no_place_for_a_sidebar(client):
    answer = client.get("/?embed=true", headers={"accept": "text/html"})
    assert FRAME not in answer.text
    assert "st-key-grid_box" in answer.text


def test_other_answers_pass_as_they_are(client):
    for accept in ("*/*", "text/html"):
        answer = client.get("/file", headers={"accept": accept})
        assert (answer.text, answer.headers["etag"]) == ("</head>", "1")


def test_a_page_in_pieces_is_sent_whole():
    sent = []

    async def pieces(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        for piece, more in ((b"<head></he", True), (b"ad>", False)):
            await send({"type": "http.response.body", "body": piece, "more_body": more})

    async def keep(message):
        sent.append(message)

    scope = {"type": "http", "path": "/", "query_string": b"", "headers": [(b"accept", b"text/html")]}
    asyncio.run(FirstPaint(pieces)(scope, None, keep))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[1]["body"] == b"<head>" + style(embedded=False) + b"</head>"
