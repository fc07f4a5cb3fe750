"""The app's style in the page that a browser is sent first, so that nothing moves when the app comes into it.

Streamlit brings the style with the first run, and its sidebar after an empty page: both would push what is there aside.
"""

import re
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz import ASSETS

FRAME = """
@media (min-width: 768px) { .stApp:not(:has(.stSidebar)) .stAppViewContainer { padding-left: 300px; } }
.stSidebar:not(:has([data-testid="stSidebarNavItems"])) [data-testid="stSidebarUserContent"] { visibility: hidden; }
"""
"""The sidebar's place before it is there, and what stands below the pages hidden until they are."""

CONDITIONAL = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""What a browser asks for that the page with the style in it is no answer to."""


def style(*, embedded: bool) -> bytes:
    """The element; each rule counts more than Streamlit's own of the same kind, which are made after it."""
    rules = re.sub(r"/\*.*?\*/", "", (ASSETS / "style.css").read_text("utf8"), flags=re.DOTALL)
    return f"<style>.stApp {{ {rules} }}{'' if embedded else FRAME}</style>".encode()


class FirstPaint:
    """Puts the style into every page that is asked for; other answers pass."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.styles = {embedded: style(embedded=embedded) for embedded in (False, True)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve."""
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        plain = [(name, value) for name, value in scope["headers"] if name not in CONDITIONAL]
        embedded = parse_qs(scope.get("query_string", b"")).get(b"embed", [b""])[-1] == b"true"
        answer = _Answer(send, self.styles[embedded])
        await self.app({**scope, "headers": plain}, receive, answer)


class _Answer:
    """An answer on its way; a page is held back until it is whole."""

    def __init__(self, send: Send, added: bytes) -> None:
        self.send, self.added = send, added
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        is_start = message["type"] == "http.response.start"
        if is_start and MutableHeaders(scope=message).get("content-type", "").startswith("text/html"):
            self.start = message
        elif self.start is None:
            await self.send(message)
        else:
            self.body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self.start)

    async def _send_page(self, start: Message) -> None:
        page = self.body.replace(b"</head>", self.added + b"</head>", 1)
        headers = MutableHeaders(scope=start)
        for name in ("etag", "last-modified"):  # of the page as it is without
            del headers[name]
        if "content-length" in headers:
            headers["content-length"] = str(len(page))
        await self.send(start)
        await self.send({"type": "http.response.body", "body": page})
