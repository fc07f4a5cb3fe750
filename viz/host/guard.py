"""Middleware before Streamlit that refuses foreign, oversized and internal requests."""

import asyncio
import hmac
import re
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz import limits
from viz.background import contained
from viz.frame.sidebar import path_of
from viz.host import descriptors, policy, session_cookie
from viz.host.address import address_of
from viz.host.message_filter import LATER, NOT_ALLOWED, MessageFilter
from viz.host.metrics import METRICS
from viz.host.page_head import PREVIEW
from viz.host.readiness import LOOP_ENDED, PATHS, Readiness
from viz.host.sockets import Sockets
from viz.host.uploads import PATH as UPLOAD
from viz.host.uploads import session_of
from viz.streamlit_internals.hosted import end_lost_sessions, session_owner
from viz.streamlit_internals.probe import loop_has_ended
from viz.text import LANGUAGES, translator

CORE = "/_stcore/"
OPEN = tuple(CORE + name for name in ("health", "host-config", "stream", "bidi-components/", "upload_file/"))
"""Streamlit's routes that a browser needs; metrics, agents, log-in and old components are hidden."""
HIDDEN = (CORE, "/auth/", "/oauth2callback", "/component/")
FILES = ("/static/", "/media/", CORE)
"""Below these Streamlit answers 404 for missing files; for other unknown paths it would answer with the page."""
AT_ROOT = {file.name for file in (Path(st.__file__).parent / "static").iterdir() if file.is_file()}
PLAIN = re.compile(r"[\w./~-]*", re.ASCII)
EARLY = 20
"""Tabs that may connect before the server is warm: they see the first page, or a notice. After a restart all open tabs
reconnect at once; the others keep their content and wait."""
TOO_SLOW = PlainTextResponse("Too slow.", 408, {"connection": "close"})


class Guard:
    """The first middleware for every request; connections wait for readiness when many come at once.

    ``pages`` are the names of the pages, the one that computes nothing first; without names no path is refused as
    unknown. ``proxies`` add to X-Forwarded-For, and ``hosts`` are the names this server answers to; any if empty.
    """

    def __init__(
        self,
        app: ASGIApp,
        sockets: Sockets,
        readiness: Readiness,
        pages: tuple[str, ...] = (),
        proxies: int = limits.PROXIES,
        hosts: tuple[str, ...] = limits.HOSTS,
    ) -> None:
        self.app, self.sockets, self.readiness = app, sockets, readiness
        base = "/".join(["", *filter(None, str(st.get_option("server.baseUrlPath")).split("/"))])
        self.files = tuple(base + name for name in FILES)
        self.paths = (
            {f"{base}/{name}" for name in (*map(path_of, pages), "", PREVIEW, *AT_ROOT)} | {base, *PATHS, METRICS}
            if pages
            else None
        )
        self.uploads = readiness.uploads
        self.proxies, self.hosts = proxies, hosts
        self.headers, self.embedded = policy.headers(), policy.headers(limits.EMBEDS)
        self.refusals = readiness.refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse a request."""
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, self._with_headers(scope, send))
        else:
            await self.app(scope, receive, send)

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        policy_headers = self.embedded if policy.is_embedded(scope) else self.headers
        cookie = session_cookie.cookie_of(Headers(scope=scope))

        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                raw = message.get("headers", [])
                kind = Headers(raw=raw).get("content-type", "")
                message["headers"] = [*raw, *policy.headers_of(kind, policy_headers)]
                if not cookie:
                    session_cookie.set_cookie(message, scope["path"])
            await send(message)

        return send_more

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        rules = {
            "head": lambda: too_large(scope),
            "ambiguous": lambda: ambiguous(headers),
            "parameters": lambda: too_many_parameters(scope),
            "host": lambda: self._refuse_host(scope, headers),
            "hidden": lambda: hide_internal_route(scope),
            "unknown": lambda: self._refuse_path(scope),
            "writing": lambda: reject_non_get(scope, headers),
            "another's session": lambda: reject_foreign_session(scope, headers),
            "full": lambda: self._refuse_when_full(scope, headers),
            "ended": lambda: self._refuse_health_after_end(scope),
        }
        for rule, look in rules.items():
            if refusal := look():
                self.refusals[rule] += 1
                await refusal(scope, receive, send)
                return
        if scope["method"] == "PUT":
            await self._upload(scope, receive, send, headers)
        else:
            await self.app(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        """Receive an upload, counted before its first byte, within a time limit."""
        session = session_of(scope["path"])
        if refusal := self.uploads.refusal(session, headers):
            self.refusals["upload"] += 1
            await refusal(scope, receive, send)
            return
        try:
            with self.uploads.coming(session, int(headers["content-length"])):
                async with asyncio.timeout(limits.BODY_SECONDS):
                    await self.app(scope, receive, send)
        except (TimeoutError, ClientDisconnect):
            self.refusals["slow upload"] += 1
            await TOO_SLOW(scope, receive, send)

    def _refuse_path(self, scope: Scope) -> Response | None:
        """Refuse unknown paths with 404; Streamlit would answer with the page."""
        path = scope["path"]
        is_route = self.paths is None or path.startswith(self.files) or CORE in path or path.rstrip("/") in self.paths
        return None if is_route or path == "/" else PlainTextResponse("Not found.", 404)

    def _refuse_host(self, scope: Scope, headers: Headers) -> Response | None:
        is_valid = not self.hosts or headers.get("host", "") in self.hosts or scope["path"] in (*PATHS, METRICS)
        return None if is_valid else PlainTextResponse("This server has another name.", 421)

    def _refuse_when_full(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse new users, and health checks of reconnecting browsers, when the server is full."""
        opens = "text/html" in headers.get("accept", "") or scope["path"].endswith(f"{CORE}health")
        if not opens or self.sockets.room(address_of(scope, headers, self.proxies)):
            return None
        sentences = "\n\n".join(translator(lang)("error.full") for lang in LANGUAGES)
        return PlainTextResponse(sentences, 503, {"retry-after": "60"})

    def _refuse_health_after_end(self, scope: Scope) -> Response | None:
        """Refuse Streamlit's health route once its loop has ended: it would still answer 200."""
        is_health = scope["path"].endswith(f"{CORE}health")
        return PlainTextResponse(LOOP_ENDED, 503) if is_health and loop_has_ended() else None

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if too_large(scope):
            self.refusals["head"] += 1
            await _refuse(receive, send, NOT_ALLOWED)
            return
        if foreign(scope, headers) or self._refuse_host(scope, headers):
            self.refusals["foreign socket"] += 1
            await _refuse(receive, send, NOT_ALLOWED)
            return
        socket = self.sockets.admit(address_of(scope, headers, self.proxies))
        if socket is None:
            self.refusals["full socket"] += 1
            await _refuse(receive, send, LATER)
            return
        inbox = MessageFilter(socket, receive)
        try:
            with contained("end of lost sessions"):
                end_lost_sessions(descriptors.most_lost(len(self.sockets)))
            if len(self.sockets) > EARLY:
                await self.readiness.can_open.wait()
            await self.app(session_cookie.with_owner(scope, headers), inbox, send)
        finally:
            self.sockets.forget(socket)
        if inbox.close_code is not None:
            self.refusals[f"message {inbox.close_code}"] += 1
            await send({"type": "websocket.close", "code": inbox.close_code})


async def _refuse(receive: Receive, send: Send, code: int) -> None:
    await receive()
    await send({"type": "websocket.close", "code": code})


def too_large(scope: Scope) -> Response | None:
    """Refuse a request head of too many bytes; h11 limits only heads that arrive in several pieces."""
    fields = sum(len(name) + len(value) for name, value in scope["headers"])
    size = len(scope.get("raw_path", b"")) + len(scope.get("query_string", b"")) + fields
    return PlainTextResponse("Too large.", 431, {"connection": "close"}) if size > limits.HEAD_BYTES else None


def ambiguous(headers: Headers) -> Response | None:
    """Refuse a request with two lengths: a proxy might read its rest as another request (request smuggling)."""
    if "content-length" in headers and "transfer-encoding" in headers:
        return PlainTextResponse("Content-Length or Transfer-Encoding, not both.", 400, {"connection": "close"})
    return None


def too_many_parameters(scope: Scope) -> Response | None:
    """Refuse a link with more parameters than any page has: it is parsed several times."""
    is_excessive = scope.get("query_string", b"").count(b"&") > limits.LINK_PARAMETERS
    return PlainTextResponse("Too many parameters.", 400) if is_excessive else None


def foreign(scope: Scope, headers: Headers) -> bool:
    """Return whether the request comes from another site's page. Without an Origin it is not from a browser.

    A page loaded without TLS may have been modified on the network, so it is another site than the one with TLS. The
    reverse is allowed: a proxy may terminate TLS without saying so.
    """
    origin = headers.get("origin")
    if origin is None:
        return False
    scheme, _, host = origin.partition("://")
    scheme_here = headers.get("x-forwarded-proto", scope.get("scheme", "http")).split(",")[0].strip()
    secure = scheme_here in ("https", "wss")
    return host != headers.get("host") or scheme not in ("https", "http")[: 1 if secure else 2]


def hide_internal_route(scope: Scope) -> Response | None:
    """Hide Streamlit's internal routes."""
    path = scope["path"]
    # A server may have a base path.
    inner = path[path.find(CORE) :] if CORE in path else path
    is_hidden = inner.startswith(HIDDEN) and not inner.startswith(OPEN)
    # Streamlit logs the names of missing files.
    is_unsafe = inner.startswith(CORE) and not PLAIN.fullmatch(inner)
    return PlainTextResponse("Not found.", 404) if is_hidden or is_unsafe else None


def reject_non_get(scope: Scope, headers: Headers) -> Response | None:
    """Refuse writes other than uploads from the page itself."""
    path, method = scope["path"], scope["method"]
    if method in ("GET", "HEAD"):
        return None
    if UPLOAD not in path:
        return PlainTextResponse("Nothing is sent here.", 405)
    return PlainTextResponse("From another site.", 403) if foreign(scope, headers) else None


def reject_foreign_session(scope: Scope, headers: Headers) -> Response | None:
    """Refuse uploads to another browser's session; a browser without cookies cannot upload."""
    if scope["method"] in ("GET", "HEAD"):
        return None
    mark = session_owner(session_of(scope["path"]))
    if mark is None or hmac.compare_digest(mark, session_cookie.mark_of(headers)):
        return None
    return PlainTextResponse("That is not your session.", 403)
