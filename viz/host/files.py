"""Middleware that serves static files compressed once, with cache headers, and each page with its own HTML."""

import asyncio
import gzip
import hashlib
import mimetypes
import re
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.components import bundle
from viz.components.view import LOADER, component_name
from viz.frame.sidebar import path_of
from viz.frame.view.assets import translator_script
from viz.host.first_paint import ALONE, FRAME, LESSON, StaticPaint, style
from viz.host.page_head import language_of, site_of, with_head
from viz.host.policy import is_embedded
from viz.streamlit_internals.static import STATIC, index_page, static_files
from viz.text import LANGUAGES

YEAR = "max-age=31536000, immutable"
"""Cache-Control of files whose names hold a hash of their content."""

ASK_AGAIN = "no-cache"
"""Cache-Control of all others: the browser revalidates them each time."""

OWN_LAYOUT = frozenset(("embed", "present", "notes", "print", "lesson", "own_lesson"))
"""Query parameters of views without title and navigation, which have no first paint and no room for a sidebar."""

COMPRESSES = re.compile(r"text/|application/(?:javascript|json|wasm)|image/svg")
FILES, VIEWS, MEDIA = "/static/", "/_stcore/bidi-components/", "/media/"
Answer = tuple[list[tuple[bytes, bytes]], bytes]


def styled_page(frame: str = FRAME) -> str:
    """Return Streamlit's page with the app's style in it, so that the layout does not shift, and its first script.

    Modules run in their order: a translator is followed before Streamlit's script renders anything it could translate.
    The style ``frame`` holds until the first run.
    """
    page = index_page().replace("<script", f'<script type="module">{translator_script()}</script>\n    <script', 1)
    return page.replace("<body>", f"<body>{style(frame)}", 1)


def addresses_of_view(view: str) -> tuple[str, str]:
    """Return the paths of a view's loader and its code, relative to Streamlit's component route."""
    return f"{component_name(view)}/{LOADER.name}", f"{component_name(view)}/{bundle.bundle(view)[0]}"


class Files:
    """Middleware between guard and Streamlit that serves files from memory.

    The page named first opens at "/"; without names pages get no metadata. ``paint`` is the static first paint of every
    page, and ``on_page`` is called with a page's name when a user opens it.
    """

    def __init__(
        self,
        app: ASGIApp,
        pages: tuple[str, ...] = (),
        paint: StaticPaint | None = None,
        on_page: Callable[[str], object] = lambda name: None,
    ) -> None:
        self.app, self.paint, self.on_page = app, paint, on_page
        self.names = {path_of(name): name for name in pages} | ({"": pages[0]} if pages else {})
        self.pages = {frame: styled_page(frame) for frame in ("", ALONE, FRAME, LESSON)}
        self.views = {component_name(view): view for view in bundle.views()}
        self.static = static_files()
        self.answers: dict[tuple[str, bool], Answer] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a file from memory, or pass the request on."""
        if scope["type"] != "http" or scope["method"] != "GET" or "range" in Headers(scope=scope):
            return await self.app(scope, receive, send)
        request_headers = Headers(scope=scope)
        path, gzipped = scope["path"], "gzip" in request_headers.get("accept-encoding", "")
        if location := _as_embedded(scope):
            return await _send(send, 307, [(b"location", location), (b"content-length", b"0")], b"")
        name = self.file(path)
        if not name and VIEWS in path:
            return await _send(send, 404, [(b"content-length", b"0")], b"")
        if not name:
            return await self.app(scope, receive, Outbox(self, scope, gzipped, send))
        # This also holds for a view that Streamlit has not registered yet.
        if (name, gzipped) not in self.answers:
            self.answers[name, gzipped] = await asyncio.to_thread(self.answer, name, gzipped)
        return await _send(send, 200, *self.answers[name, gzipped])

    def file(self, path: str) -> str:
        """Return the name of the cacheable file at a path, or "" if there is none."""
        static, view = path[path.find(FILES) + 1 :], path.partition(VIEWS)[2]
        if static in self.static:
            return static
        return view if self.script(view) else ""

    def answer(self, name: str, gzipped: bool) -> Answer:
        """Return the answer for a file in one piece; Streamlit would send it in several."""
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        headers = [(b"content-type", kind.encode())]
        return encode_answer(headers, self.script(name) or (STATIC / name).read_bytes(), gzipped, f"public, {YEAR}")

    def script(self, address: str) -> bytes:
        """Return the code or the loader of a view by its path below the component route; b"" if there is none."""
        view = self.views.get(address.partition("/")[0])
        loader, code = addresses_of_view(view) if view else ("", "")
        if not view or address not in (loader, code):
            return b""
        return LOADER.read_bytes() if address == loader else bundle.bundle(view)[1]


def encode_answer(headers: list[tuple[bytes, bytes]], body: bytes, gzipped: bool, cache_control: str) -> Answer:
    """Return headers and body of an answer, compressed if the browser accepts that and the type gains by it."""
    new_headers = MutableHeaders(raw=[*headers])
    if COMPRESSES.match(new_headers.get("content-type", "")):
        new_headers.add_vary_header("accept-encoding")
        if gzipped:
            body = gzip.compress(body, 6, mtime=0)
            new_headers["content-encoding"] = "gzip"
    del new_headers["last-modified"]
    new_headers["cache-control"], new_headers["content-length"] = cache_control, str(len(body))
    new_headers["etag"] = f'"{hashlib.blake2b(body, digest_size=8).hexdigest()}"'
    return new_headers.raw, body


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Outbox:
    """Filter of Streamlit's answers; replaces its page with ours."""

    def __init__(self, files: Files, scope: Scope, gzipped: bool, send: Send) -> None:
        self.files, self.scope, self.gzipped, self.send = files, scope, gzipped, send
        self.path, self.request_headers = scope["path"], Headers(scope=scope)
        self.embedded = is_embedded(scope)
        self.start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Replace Streamlit's page; pass other messages on."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            # A page that a user downloads is not one of ours.
            is_ours = headers.get("content-type", "").startswith("text/html") and MEDIA not in self.path
            if message["status"] == 200 and is_ours:
                self.start = message
                return
            # Streamlit names an image by its content.
            if MEDIA in self.path and headers.get("content-type", "").startswith("image/"):
                headers["cache-control"] = f"private, {YEAR}"
            elif "immutable" in headers.get("cache-control", ""):
                # Streamlit's icon has a name without a hash.
                headers["cache-control"] = ASK_AGAIN
            await self.send(message)
        elif self.start is None:
            await self.send(message)
        elif not message.get("more_body", False):
            await self._end(self.start["headers"])

    async def _end(self, headers: list[tuple[bytes, bytes]]) -> None:
        headers, body = await asyncio.to_thread(encode_answer, headers, self._page(), self.gzipped, ASK_AGAIN)
        MutableHeaders(raw=headers).add_vary_header("accept-language")
        new_headers = MutableHeaders(raw=headers)
        if new_headers["etag"] not in self.request_headers.get("if-none-match", ""):
            return await _send(self.send, 200, headers, body)
        del new_headers["content-length"]
        return await _send(self.send, 304, new_headers.raw, b"")

    def _page(self) -> bytes:
        base, _, path = self.scope["path"].rstrip("/").rpartition("/") if self.path != "/" else ("", "", "")
        parameters, name = _parameters(self.scope), self.files.names.get(path)
        own_layouts = OWN_LAYOUT.intersection(parameters)
        is_lesson = own_layouts in ({"lesson"}, {"own_lesson"})
        frame = LESSON if is_lesson else ALONE if own_layouts - {"embed"} else FRAME
        page = self.files.pages["" if self.embedded else frame]
        if name is None:
            return page.encode()
        self.files.on_page(name)
        lang = language_of(self.scope, self.request_headers)
        html = with_head(
            page,
            name=name,
            path="" if name == self.files.names[""] else path,
            lang=lang,
            site=site_of(self.scope, self.request_headers) + base,
        )
        if self.files.paint and not own_layouts:
            # A link that sets but one of the app's languages gives all users the same page.
            is_default = set(parameters) <= {"lang"} and parameters.get("lang", [""])[-1] in ("", *LANGUAGES)
            html = self.files.paint.add_to(html, name=name, lang=lang, is_default=is_default)
        return html.encode()


def _as_embedded(scope: Scope) -> bytes:
    """Return the redirect from ``embed=1`` to Streamlit's ``embed=true``; b"" if the link has no ``embed=1``."""
    parts: list[bytes] = scope.get("query_string", b"").split(b"&")
    if [part for part in parts if part.startswith(b"embed=")][-1:] != [b"embed=1"]:
        return b""
    return b"?" + b"&".join(b"embed=true" if part == b"embed=1" else part for part in parts)


def _parameters(scope: Scope) -> dict[str, list[str]]:
    return parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
