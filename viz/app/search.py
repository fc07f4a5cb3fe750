"""The index of the search as a file, made when a user searches for the first time."""

import asyncio
import json
from functools import lru_cache

from starlette.requests import Request
from starlette.responses import Response

from pages import EVERY
from viz.frame.connection import loading
from viz.host.files import ASK_AGAIN, Answer, encode_answer


async def send_index(request: Request) -> Response:
    """Send the index; nothing of it to a browser that has it already."""
    gzipped = "gzip" in request.headers.get("accept-encoding", "")
    raw, body = await asyncio.to_thread(_answer, gzipped=gzipped)
    headers = {name.decode(): value.decode() for name, value in raw}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers={name: headers[name] for name in ("etag", "cache-control")})
    return Response(body, headers=headers)


@lru_cache(maxsize=2)
def _answer(*, gzipped: bool) -> Answer:
    run = loading.module("viz.app.run")
    sections = {name: getattr(run.page_of(name), "sections", ()) for name in EVERY}
    entries = loading.module("viz.frame.search.index").index(sections)
    body = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    return encode_answer([(b"content-type", b"application/json")], body, gzipped, ASK_AGAIN)
