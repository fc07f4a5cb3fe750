"""Files as a browser should get them: compressed once, asked for early, and kept for as long as they cannot change."""

import asyncio
import gzip
import hashlib
import mimetypes
import re
from collections.abc import Callable, Iterable
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.components import bundle
from viz.components.mount import LOADER, component_name
from viz.frame.connection.old_links import is_old
from viz.frame.sidebar import path_of
from viz.host.first.markup import THEME
from viz.host.first.markup import style as style_of_first
from viz.host.first.picture import FirstPicture, FirstPictures
from viz.host.first_paint import CONNECT, style
from viz.host.page_head import language_of, site_of, with_head
from viz.host.policy import is_embedded
from viz.streamlit_internals.static import STATIC, element_modules, index_page, static_files
from viz.text import LANGUAGES

YEAR = "max-age=31536000, immutable"
"""For names that hold a hash of the content."""

ASK_AGAIN = "no-cache"
"""For all others: the browser keeps them, and asks each time whether they have changed."""

LONGEST_SENT_ON = 2_000
"""Bytes of a link in a header of an answer: proxies refuse one with 4 KB of them."""

EVERY_PAGE = ("frame/document",)
"""The views that every page opens with."""

ROOT_ELEMENT = '<div id="root"></div>'
"""What Streamlit draws in."""

COMPRESSES = re.compile(r"text/|application/(?:javascript|json|wasm)|image/svg")
FILES, VIEWS, MEDIA = "/static/", "/_stcore/bidi-components/", "/media/"
Answer = tuple[list[tuple[bytes, bytes]], bytes]


def page_with_modules(views: Iterable[str] = (), *, embedded: bool = False) -> bytes:
    """Streamlit's page, naming what it will need: a browser asks for all of it at once, not for one after the other.

    The app's style is in it too, so that nothing moves when the app comes, and where to connect to.

    Left to itself it asks for the code of text boxes when the first text box has arrived, and for that of a view when
    the code of views has.

    Args:
        views: those that this page opens with, as in "masks/growing"; those of every page need not be named.
        embedded: whether it stands in somebody else's page, and has no sidebar.
    """
    of_views = (address for view in (*EVERY_PAGE, *views) for address in addresses_of_view(view))
    paths = [*element_modules(), *(f".{VIEWS}{address}" for address in of_views)]
    links = "".join(f'    <link rel="modulepreload" crossorigin href="{path}">\n' for path in paths)
    before, end, after = index_page().partition("  </head>")
    after = after.replace("<body>", f"<body>{style(embedded=embedded)}", 1)
    return f"{before}{links}<script>{CONNECT}</script>{end}{after}".encode()


def addresses_of_view(view: str) -> tuple[str, str]:
    """Return where the loader of a view and its code are, below Streamlit's place for components."""
    return f"{component_name(view)}/{LOADER.name}", f"{component_name(view)}/{bundle.bundle(view)[0]}"


class Files:
    """Stands between the guard and Streamlit, and answers itself for what it has answered before.

    Args:
        app: what is asked for the rest.
        pages: the names of the pages, the one that opens at "/" first; without them a page says nothing of itself.
        before: the page that old links to "/" mean.
        pictures: the first pictures of pages, for whoever asks for nothing but a page.
        on_page: told the name of a page when somebody opens it.
    """

    def __init__(
        self,
        app: ASGIApp,
        pages: tuple[str, ...] = (),
        before: str = "",
        pictures: FirstPictures | None = None,
        on_page: Callable[[str], object] = lambda name: None,
    ) -> None:
        self.app, self.before, self.pictures, self.on_page = app, before, pictures or FirstPictures({}), on_page
        self.names = {path_of(name): name for name in pages} | ({"": pages[0]} if pages else {})
        both = (False, True)
        self.usual_pages = {embedded: page_with_modules(embedded=embedded) for embedded in both}
        self.pages = {
            (path, embedded): page_with_modules(self.pictures.views[name], embedded=embedded)
            for path, name in self.names.items()
            if name in self.pictures.views
            for embedded in both
        }
        self.views = {component_name(view): view for view in bundle.views()}
        self.drawing: dict[str, bytes] = {}
        self.static = static_files()
        self.answers: dict[tuple[str, bool], Answer] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or ask the app."""
        if scope["type"] != "http" or scope["method"] != "GET" or "range" in Headers(scope=scope):
            return await self.app(scope, receive, send)
        asked = Headers(scope=scope)
        path, gzipped = scope["path"], "gzip" in asked.get("accept-encoding", "")
        if self.before and path == "/" and _is_old(scope):
            there = b"./" + path_of(self.before).encode() + b"?" + scope["query_string"]
            return await _send(send, 307, [(b"location", there), (b"content-length", b"0")], b"")
        name = self.file(path)
        if not name:
            return await self.app(scope, receive, Outbox(self, scope, gzipped, send))
        if (name, gzipped) not in self.answers:  # whether or not Streamlit knows of a view yet
            self.answers[name, gzipped] = await asyncio.to_thread(self.answer, name, gzipped)
        return await _send(send, 200, *self.answers[name, gzipped])

    def file(self, path: str) -> str:
        """The name of a file that can be kept, "" if it is none: there are as many as files, whatever is asked for."""
        static, view = path[path.find(FILES) + 1 :], path.partition(VIEWS)[2]
        if static in self.static:
            return static
        return view if self.script(view) else ""

    def answer(self, name: str, gzipped: bool) -> Answer:
        """What all who ask for a file are sent: read in one go, where Streamlit would send it piece by piece."""
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        headers = [(b"content-type", kind.encode())]
        return made(headers, self.script(name) or (STATIC / name).read_bytes(), gzipped, f"public, {YEAR}")

    def script(self, address: str) -> bytes:
        """The code or the loader of a view, or a first picture, by its address below all views; empty if it is none."""
        view = self.views.get(address.partition("/")[0])
        if view and address in (addresses := addresses_of_view(view)):
            return LOADER.read_bytes() if address == addresses[0] else bundle.bundle(view)[1]
        return self.drawing.get(address, b"")

    def with_picture(self, page: str, picture: FirstPicture) -> str:
        """A page with its first picture; the browser asks for that before all else."""
        self.drawing.setdefault(picture.address, picture.script)
        script = f".{VIEWS}{picture.address}"
        links = [f'<link rel="modulepreload" crossorigin href="{path}">' for path in (script, *picture.needs)]
        page = page.replace("<head>", f"<head>{''.join(links)}", 1)
        page = page.replace("  </head>", f"{style_of_first()}<script>{THEME}</script>  </head>", 1)
        drawn = f'{picture.markup}<script type="module" async crossorigin src="{script}"></script>'
        return page.replace(ROOT_ELEMENT, ROOT_ELEMENT + drawn, 1)


def made(headers: list[tuple[bytes, bytes]], body: bytes, gzipped: bool, kept: str) -> Answer:
    """Headers and body as they are sent; compressed, if that makes it smaller."""
    changed = MutableHeaders(raw=[*headers])
    if COMPRESSES.match(changed.get("content-type", "")):
        changed.add_vary_header("accept-encoding")
        if gzipped:
            body = gzip.compress(body, 6, mtime=0)
            changed["content-encoding"] = "gzip"
    del changed["last-modified"]
    changed["cache-control"], changed["content-length"] = kept, str(len(body))
    changed["etag"] = f'"{hashlib.blake2b(body, digest_size=8).hexdigest()}"'
    return changed.raw, body


async def _send(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Outbox:
    """What Streamlit answers, on its way out: its page is ours."""

    def __init__(self, files: Files, scope: Scope, gzipped: bool, send: Send) -> None:
        self.files, self.scope, self.gzipped, self.send = files, scope, gzipped, send
        self.path, self.asked = scope["path"], Headers(scope=scope)
        self.embedded = is_embedded(scope)
        self.start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Hold back what is changed; let the rest pass."""
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            is_ours = _is_page(headers) and MEDIA not in self.path  # not one that a visitor takes away
            if message["status"] == 200 and is_ours:
                self.start = message
                return
            if MEDIA in self.path and headers.get("content-type", "").startswith("image/"):  # named by its content
                headers["cache-control"] = f"private, {YEAR}"
            elif "immutable" in headers.get("cache-control", ""):  # Streamlit's icon has a name without a hash
                headers["cache-control"] = ASK_AGAIN
            await self.send(message)
        elif self.start is None:
            await self.send(message)
        elif not message.get("more_body", False):
            await self._end(self.start["headers"])

    async def _end(self, headers: list[tuple[bytes, bytes]]) -> None:
        headers, body = await asyncio.to_thread(made, headers, self._page(), self.gzipped, ASK_AGAIN)
        MutableHeaders(raw=headers).add_vary_header("accept-language")
        changed = MutableHeaders(raw=headers)
        if changed["etag"] not in self.asked.get("if-none-match", ""):
            return await _send(self.send, 200, headers, body)
        del changed["content-length"]
        return await _send(self.send, 304, changed.raw, b"")

    def _page(self) -> bytes:
        base, _, path = self.scope["path"].rstrip("/").rpartition("/") if self.path != "/" else ("", "", "")
        page = self.files.pages.get((path, self.embedded), self.files.usual_pages[self.embedded])
        name = self.files.names.get(path)
        if name is None:
            return page
        self.files.on_page(name)
        lang = language_of(self.scope, self.asked)
        whole = with_head(
            page.decode(),
            name=name,
            path="" if name == self.files.names[""] else path,
            lang=lang,
            site=site_of(self.scope, self.asked) + base,
        )
        if self.embedded or not _asks_for_nothing(self.scope):
            return whole.encode()
        picture = self.files.pictures.of(name, lang)
        return (self.files.with_picture(whole, picture) if picture else whole).encode()


def _is_old(scope: Scope) -> bool:
    """Whether a link to "/" is one from when another page was there, and short; the page sees it a visit later."""
    query = scope.get("query_string", b"")
    asked = parse_qs(query.decode("latin-1"))
    return len(query) <= LONGEST_SENT_ON and is_old(asked, embedded=asked.get("embed", [""])[-1] == "true")


def _asks_for_nothing(scope: Scope) -> bool:
    """Whether a link names a page, and at most one of the app's languages: then everybody is shown the same."""
    asked = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return set(asked) <= {"lang"} and asked.get("lang", [""])[-1] in ("", *LANGUAGES)


def _is_page(headers: Headers) -> bool:
    return headers.get("content-type", "").startswith("text/html")
