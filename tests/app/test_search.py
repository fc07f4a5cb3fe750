"""The search's index as a file: made once, compressed, and sent to a browser only if it has another one."""

import gzip

from starlette.requests import Request

from tests.coroutines import finish
from viz.app.search import send_index


def ask(**headers: str):
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return finish(send_index(Request({"type": "http", "method": "GET", "path": "/search.json", "headers": raw})))


def test_index_is_sent_once():
    """A browser that names the index it has gets no other; the compressed one and the plain one say the same."""
    plain, packed = ask(), ask(accept_encoding="gzip")
    assert (plain.status_code, packed.headers["content-encoding"]) == (200, "gzip")
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["cache-control"] == "no-cache" and packed.headers["vary"] == "accept-encoding"
    again = ask(accept_encoding="gzip", if_none_match=packed.headers["etag"])
    assert (again.status_code, again.body) == (304, b"")
