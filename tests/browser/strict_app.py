"""The grid's page, served under a content policy that allows scripts from the server itself only."""

import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware

INDEX = (Path(st.__file__).parent / "static" / "index.html").read_text("utf8")
INLINE = re.findall(r"<script>(.*?)</script>", INDEX, re.DOTALL)  # Streamlit's own, allowed by their content
HASHES = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in INLINE)
POLICY = (
    f"default-src 'self'; script-src 'self' {HASHES}; style-src 'self' 'unsafe-inline'; font-src 'self' data:; "
    "img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; base-uri 'self'"
)
Message = MutableMapping[str, Any]


class Policy:
    """Sends the policy with every answer."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        async def strict(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", POLICY.encode())]
            await send(message)

        await self.app(scope, receive, strict if scope["type"] == "http" else send)


app = st.App(str(Path(__file__).with_name("grid_app.py")), middleware=[Middleware(Policy)])
