"""Files for a browser, tested without a server: compression, caching and names."""

import gzip
import html

import pytest

from tests.coroutines import finish
from viz.components import bundle
from viz.components.view import LOADER
from viz.frame.view.assets import translator_script
from viz.host.files import Files, addresses_of_view
from viz.host.first_paint import FRAME, LESSON, ROOT_ELEMENT, StaticPaint, style
from viz.host.page_head import with_head
from viz.streamlit_internals.static import STATIC, index_page
from viz.text import translator

GRID = "head_grid/head_grid"
SCRIPT = "/" + next(path.relative_to(STATIC).as_posix() for path in STATIC.glob("static/js/protobuf.*.js"))
FONT = "/" + next(path.relative_to(STATIC).as_posix() for path in STATIC.glob("static/media/SourceSansVF-Up*.woff2"))
LOADER_OF_VIEW, VIEW = (f"/_stcore/bidi-components/{address}" for address in addresses_of_view(GRID))
GZIP = {"accept-encoding": "gzip, deflate, br"}
FOREVER = "public, max-age=31536000, immutable"


class Streamlit:
    """Answers as Streamlit does: its files for a year, its page for any name it does not know, and pictures."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def answer(self, path: str) -> tuple[dict[str, str], bytes]:
        year = {"cache-control": FOREVER, "etag": '"old"', "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
        if path.lstrip("/").startswith("static/") and (STATIC / path.lstrip("/")).is_file():
            kind = "font/woff2" if path.endswith(".woff2") else "application/javascript"
            return year | {"content-type": kind}, (STATIC / path.lstrip("/")).read_bytes()
        if path == "/favicon.png":
            return year | {"content-type": "image/png"}, b"icon"
        if path.startswith("/media/"):
            kind = {"png": "image/png", "html": "text/html; charset=utf-8"}.get(path.rpartition(".")[2], "text/csv")
            return {"content-type": kind}, b"made for one user"
        page = {"content-type": "text/html; charset=utf-8", "cache-control": "no-cache", "etag": '"old"'}
        return page, index_page().encode()

    async def __call__(self, scope, receive, send):
        self.requests.append(scope["path"])
        headers, body = self.answer(scope["path"])
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        await send({"type": "http.response.body", "body": body[:1000], "more_body": True})
        await send({"type": "http.response.body", "body": body[1000:]})


@pytest.fixture
def files():
    return Files(Streamlit(), pages=("heads", "masks"))


def ask(files, path, method="GET", query=b"", **headers):
    """Status, headers and body of an answer."""
    messages = []

    async def send(message):
        messages.append(message)

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    finish(files({"type": "http", "method": method, "path": path, "query_string": query, "headers": raw}, None, send))
    answer_headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return messages[0]["status"], answer_headers, b"".join(message["body"] for message in messages[1:])


@pytest.mark.parametrize(("path", "times"), [(SCRIPT, 3), (VIEW, 3), (LOADER_OF_VIEW, 1.5)])
def test_hashed_file_is_cached_compressed(files, path, times):
    views = {VIEW: bundle.bundle(GRID)[1], LOADER_OF_VIEW: LOADER.read_bytes()}
    plain = views.get(path) or (STATIC / path[1:]).read_bytes()
    for _ in range(2):
        status, answer_headers, body = ask(files, path, **GZIP)
        assert (status, answer_headers["content-encoding"], answer_headers["vary"]) == (200, "gzip", "accept-encoding")
        assert answer_headers["cache-control"] == FOREVER
        assert int(answer_headers["content-length"]) == len(body) < len(plain) / times
        assert gzip.decompress(body) == plain
    status, answer_headers, body = ask(files, path)
    assert status == 200 and "content-encoding" not in answer_headers and body == plain
    assert "javascript" in answer_headers["content-type"]
    assert not files.app.requests, "Streamlit sends it piece by piece"
    assert len(files.answers) == 2, "one for each way to send it"


def test_a_font_is_small_already(files):
    _, answer_headers, body = ask(files, FONT, **GZIP)
    assert "content-encoding" not in answer_headers and body == (STATIC / FONT[1:]).read_bytes()
    assert (answer_headers["cache-control"], answer_headers["content-type"]) == (FOREVER, "font/woff2")


@pytest.mark.parametrize(
    "path",
    [
        f"/static/./{SCRIPT.removeprefix('/static/')}", f"/static/../{SCRIPT}", "/static/js/nothing.js", "/x",
        VIEW.replace("headlight.head_grid", "headlight.maps"), VIEW.replace("headlight", "other"), f"{VIEW}.map",
    ],
)  # fmt: skip
def test_aliases_are_not_cached(files, path):
    ask(files, path, **GZIP)
    assert files.app.requests == ([] if "bidi-components" in path else [path]), "what is no view's is not looked for"
    assert not files.answers


def test_range_and_head_pass_through(files):
    ask(files, SCRIPT, **GZIP)
    ask(files, SCRIPT, range="bytes=0-99", **GZIP)
    ask(files, SCRIPT, "HEAD", **GZIP)
    assert files.app.requests == [SCRIPT] * 2


def test_unhashed_file_is_revalidated(files):
    assert ask(files, "/favicon.png")[1]["cache-control"] == "no-cache"
    assert ask(files, "/media/0123.png")[1]["cache-control"] == "private, max-age=31536000, immutable"
    assert "cache-control" not in ask(files, "/media/0123.csv")[1], "a user's numbers"
    assert ask(files, "/media/0123.html")[2] == b"made for one user", "a page that a user downloads"


@pytest.mark.parametrize("path", ["/", "/heads", "/masks", "/no/page"])
def test_page_unchanged_is_not_sent_again(files, path):
    status, answer_headers, body = ask(files, path, **GZIP)
    page = gzip.decompress(body).decode()
    assert (status, answer_headers["cache-control"], answer_headers["content-encoding"]) == (200, "no-cache", "gzip")
    assert page.count(style(FRAME)) == 1
    streamlit_page = index_page()
    if name := files.names.get(path[1:]):
        at = "" if path == "/heads" else path[1:]
        streamlit_page = with_head(streamlit_page, name=name, path=at, lang="en", site="http://")
    script = f'<script type="module">{translator_script()}</script>\n    '
    assert page.replace(style(FRAME), "").replace(script, "", 1) == streamlit_page, "no other script"
    status, again, body = ask(files, path, if_none_match=answer_headers["etag"], **GZIP)
    assert (status, body, again["etag"]) == (304, b"", answer_headers["etag"])
    assert "content-length" not in again
    assert not files.answers, "a page has any number of addresses"


@pytest.mark.parametrize(
    ("query", "there"),
    [
        (b"embed=1", "?embed=true"),
        (b"text=a+b&embed=1&theme=dark", "?text=a+b&embed=true&theme=dark"),
        (b"embed=0&embed=1", "?embed=0&embed=true"),
    ],
)
def test_page_with_embed_1_is_redirected(files, query, there):
    """Streamlit knows one word for a page inside another, and keeps that from the app."""
    status, answer_headers, body = ask(files, "/masks", query=query)
    assert (status, answer_headers["location"], body) == (307, there, b"")


@pytest.mark.parametrize("query", [b"embed=true", b"embed=1&embed=true", b"embed=yes", b"embed=11", b"notembed=1", b""])
def test_page_embedded_otherwise_is_sent(files, query):
    """Each word but that one means what it means to Streamlit."""
    assert ask(files, "/masks", query=query)[0] == 200


@pytest.mark.parametrize("path", ["/", "/masks"])
def test_embedded_page_has_style(files, path):
    page = ask(files, path, query=b"embed=true")[2].decode()
    assert style("") in page and FRAME not in page
    assert FRAME in ask(files, path, query=b"embed=false")[2].decode()


@pytest.mark.parametrize("query", [b"text=%E5%AD%97&embed=true", b"%ff=%zz&\xff&embed=true", b"&&=&embed=true;"])
def test_a_link_may_say_anything(files, query):
    status, _, body = ask(files, "/masks", query=query)
    assert status == 200 and body.startswith(b"<!")


PICTURE = "<i>picture</i>"


@pytest.mark.parametrize(
    ("path", "query", "language", "parts"),
    [
        ("/heads", b"", "en", {"title", "picture"}), ("/heads", b"lang=zh", "en", {"title", "picture"}),
        ("/heads", b"lang=", "en", {"title", "picture"}), ("/heads", b"", "zh-CN", {"title", "picture"}),
        ("/no/heads", b"", "en", {"title", "picture"}), ("/masks", b"", "en", {"title"}),
        ("/heads", b"text=cat", "en", {"title"}), ("/heads", b"text=", "en", {"title"}),
        ("/heads", b"lang=fr", "en", {"title"}), ("/heads", b"lesson=x&lang=en", "en", set()),
        ("/heads", b"own_lesson=x", "en", set()),
        ("/heads", b"embed=true", "en", set()), ("/heads", b"present=1", "en", set()),
        ("/heads", b"notes=1", "en", set()), ("/heads", b"print=1&lang=en", "en", set()),
        ("/nothing", b"", "en", set()),
    ],
)  # fmt: skip
def test_static_paint_follows_the_link(path, query, language, parts):
    """The default picture is for a link that asks for nothing else; views with a layout of their own have no paint."""
    paint = StaticPaint(navigation={"basics": ("start", "heads", "masks")}, pictures={"heads": lambda lang: PICTURE})
    files = Files(Streamlit(), pages=("start", "heads", "masks"), paint=paint)
    page = ask(files, path, query=query, accept_language=language)[2].decode()
    assert {"title": 'id="first-paint"' in page, "picture": PICTURE in page} == {
        part: part in parts for part in ("title", "picture")
    }
    assert (ROOT_ELEMENT in page) == (not parts), "it stands in Streamlit's own element"
    assert (FRAME in page) == (bool(parts) or path == "/nothing"), "no room is kept for a sidebar that does not come"
    assert (LESSON in page) == (b"lesson=" in query), "its page is hidden until its style comes"
    if parts:
        t = translator("zh" if query == b"lang=zh" or language == "zh-CN" else "en")
        assert f"<h1>{t('masks.title' if path == '/masks' else 'heads.title')}</h1>" in page


@pytest.mark.parametrize(("query", "accepts", "lang"), [
    (b"", "", "en"), (b"", "zh-CN,zh;q=0.9,en;q=0.8", "zh"), (b"lang=en", "zh-CN", "en"), (b"lang=zh", "en", "zh"),
    (b"lang=%3Cscript%3E", "de", "en"),
])  # fmt: skip
def test_page_head_describes_page(query, accepts, lang):
    files = Files(Streamlit(), pages=("heads", "step_by_step"))
    raw = {"accept_language": accepts, "host": "demo.example.org", "x_forwarded_proto": "https"}
    _, answer_headers, body = ask(files, "/step-by-step", query=query, **raw)
    page, t = body.decode(), translator(lang)
    assert f'<html lang="{lang}">' in page
    assert f"<title>{t('step_by_step.title')} · Headlight</title>" in page
    assert f'<meta name="description" content="{html.escape(t("step_by_step.lead"))}">' in page
    assert '<link rel="canonical" href="https://demo.example.org/step-by-step">' in page
    assert '<meta property="og:image" content="https://demo.example.org/preview.png">' in page
    assert "accept-language" in answer_headers["vary"].lower() and "<script>alert" not in page


def test_the_first_page_has_one_address():
    files = Files(Streamlit(), pages=("heads", "masks"))
    for path in ("/", "/heads"):
        assert '<link rel="canonical" href="http://a/">' in ask(files, path, host="a")[2].decode()
    assert "canonical" not in ask(files, "/nothing", host="a")[2].decode()
    assert '"><script' not in ask(files, "/masks", host='a"><script>x</script>')[2].decode()
